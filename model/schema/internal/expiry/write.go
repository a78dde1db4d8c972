package expiry

import (
	"bytes"
	"context"
	"math"
	"time"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/rawdoc"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// SetExpiry returns the update that makes a document expire at a time. For a zero time it never expires: the field is
// removed. other is the condition that the update isn't done yet, done that it is done. The shell makes a write for one
// document of it, and passes the write to CompleteSetExpiry.
func (x *Expiry) SetExpiry(at time.Time) (update bson.D, other, done bson.E) {
	moment := bson.NewDateTimeFromTime(at)
	is := bson.E{Key: x.at, Value: moment}
	update, other, done = bson.D{{Key: "$set", Value: bson.D{is}}}, bson.E{
		Key: x.at, Value: bson.D{{Key: "$ne", Value: moment}},
	}, is
	if at.IsZero() {
		exists := func(yes bool) bson.E { return bson.E{Key: x.at, Value: bson.D{{Key: "$exists", Value: yes}}} }
		update, other, done = bson.D{{Key: "$unset", Value: bson.D{{Key: x.at,
			Value: ""}}}}, exists(true), exists(false)
	}
	if x.version != "" {
		update = append(update, bson.E{Key: "$inc", Value: bson.D{{Key: x.version, Value: int64(1)}}})
	}
	return update, other, done
}

// CompleteSetExpiry makes the write of SetExpiry safe to run again. Without a version the update is idempotent by
// itself. With a version it also increments, so its filter must have other, and done tells an earlier run. A spec with
// After is refused: the field has the time from which the lifetime is counted.
func (x *Expiry) CompleteSetExpiry(w model.Write, other, done bson.E) model.Write {
	if x.spec.After > 0 {
		return model.Refused(x.Name(), x.Refuse(x.at, nil,
			"must not be given: the spec has After, so documents expire some time after the field's time"))
	}
	if m, ok := w.Model.(*mongo.UpdateOneModel); ok && x.version != "" {
		id := m.Filter.(bson.D)
		m.Filter = bsondoc.JoinFilters(id, bson.D{other})
		w.Done, w.Idempotent = bsondoc.JoinFilters(id, bson.D{done}), true
	}
	return w
}

// matchUnchanged matches a document that is still as it was archived: by its version, or else by all fields.
func (x *Expiry) matchUnchanged(doc bson.Raw) bson.D {
	if x.version == "" {
		return core.AsRead(doc)
	}
	v, _ := core.ValueAt(doc, x.version)
	var read any = v
	if v.Type == 0 {
		read = nil
	}
	return bson.D{{Key: "_id", Value: mql.Eq(doc.Lookup("_id"))}, {Key: x.version, Value: mql.Eq(read)}}
}

// A state is what Restore reads. cold is read only if there is no document.
type state struct{ hot, cold bson.Raw }

// Restore returns the change that inserts an archived document again. w is a delete of the document that the shell made
// of the caller's _id: only its filter is used, which has the encoded _id.
func (x *Expiry) Restore(w model.Write, until time.Time) model.Change {
	err := w.Err
	switch {
	case err != nil:
	case x.cold == "":
		err = x.RefuseWithoutArchive()
	case x.spec.After > 0 && !until.IsZero():
		err = x.Refuse(x.at, until,
			"must not be given: the spec has After, so documents expire some time after the field's time")
	}
	if err != nil {
		return commands.RefuseChange(x.Name(), err)
	}
	id := w.Model.(*mongo.DeleteOneModel).Filter.(bson.D)
	return model.ChangeOf[state]{
		Name: "expiry " + x.Name(),
		Read: func(ctx context.Context, db model.DB) (s state, err error) {
			if s.hot, err = readOne(ctx, db, x.Name(), id); err == nil && s.hot == nil {
				s.cold, err = readOne(ctx, db, x.cold, id)
			}
			return s, err
		},
		Decide: func(s state) (model.Plan, error) { return x.planRestore(s, id, until) },
	}.Change()
}

// planRestore inserts the document, if there is none. If somebody else inserts a document with this _id meanwhile, the
// plan is stale, and the change reads again.
func (x *Expiry) planRestore(s state, id bson.D, until time.Time) (model.Plan, error) {
	if s.hot != nil { // it lives, perhaps by an earlier run of this change
		return model.Plan{Applied: true}, nil
	}
	if s.cold == nil {
		return model.Plan{}, model.ErrNotFound
	}
	doc, earlier, err := splitEarlier(bytes.Clone(s.cold))
	if err == nil {
		doc, err = x.makeRestored(doc, earlier, until)
	}
	if err != nil {
		return model.Plan{}, err
	}
	return model.NewPlan(model.Write{
		Collection: x.Name(), Index: model.IDIndex, Model: &mongo.InsertOneModel{Document: doc},
		Reasons: []model.Reason{{If: id, Err: model.ErrStale}},
	}), nil
}

// makeRestored returns the document that Restore inserts for the copy doc. until is its time; with a zero until it gets
// none. With After, it keeps its time, from which its lifetime is counted.
func (x *Expiry) makeRestored(doc bson.Raw, earlier bson.A, until time.Time) (bson.Raw, error) {
	var set bson.D
	if x.version != "" {
		next, err := x.nextVersion(doc, earlier)
		if err != nil {
			return nil, err
		}
		set = append(set, bson.E{Key: x.version, Value: next})
	}
	held, _ := core.ValueAt(doc, x.at)
	switch {
	case x.spec.After > 0:
	case !until.IsZero():
		set = append(set, bson.E{Key: x.at, Value: bson.NewDateTimeFromTime(until)})
	case held.Type != 0 && held.Type != bson.TypeNull:
		var err error
		if doc, err = rawdoc.RemoveFields(doc, x.at); err != nil {
			return nil, err
		}
	}
	if set == nil {
		return doc, nil
	}
	return core.SetFields(doc, set)
}

// nextVersion returns a version above the version of every copy in the archive. An archive job stores its copy before
// it deletes the document by its version. So no job that has read an earlier document can delete the document with this
// version.
func (x *Expiry) nextVersion(doc bson.Raw, earlier bson.A) (next int64, err error) {
	for _, e := range append(bson.A{bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}}, earlier...) {
		v, ok := e.(bson.RawValue)
		if !ok || v.Type != bson.TypeEmbeddedDocument {
			continue
		}
		held, inArray := core.ValueAt(v.Document(), x.version)
		n, ok := incrementVersion(held)
		if !ok || inArray {
			return 0, x.Refuse(x.version, held, "can't be increased: correct the archived document")
		}
		next = max(next, n)
	}
	return next, nil
}

// incrementVersion returns the lowest integer above a stored version, 1 for a missing version. It is false if there is
// none, or if the value isn't a number.
func incrementVersion(v bson.RawValue) (int64, bool) {
	switch v.Type {
	case 0, bson.TypeNull:
		return 1, true
	case bson.TypeInt32, bson.TypeInt64:
		n := v.AsInt64()
		return n + 1, n < math.MaxInt64
	case bson.TypeDouble:
		f := math.Floor(v.Double())
		return int64(f) + 1, math.Abs(f) < 1<<53
	}
	return 0, false
}

// Discard returns the plan that deletes the archived copy of a pair whose document lives. op is the token of this
// operation, which the document stores: running the plan again finds it there. The plan refuses a pair that FindPairs
// didn't return.
func (x *Expiry) Discard(pair Pair, op bson.ObjectID) model.Plan {
	refuse := func(field, reason string) model.Plan {
		return model.NewPlan(model.Refused(x.Name(), x.Refuse(field, nil, reason)))
	}
	switch {
	case x.cold == "":
		return model.NewPlan(model.Refused(x.Name(), x.RefuseWithoutArchive()))
	case op.IsZero():
		return refuse("token", "is the zero ObjectID: pass bson.NewObjectID() as the operation's token")
	case pair.Expired:
		return refuse("expired", "the document has expired: the next run of Archive finishes it")
	case pair.Cold.Validate() != nil || pair.ID.Type == 0 || !pair.Cold.Lookup("_id").Equal(pair.ID):
		return refuse("cold", "isn't a result of Both")
	}
	id := bson.E{Key: "_id", Value: mql.Eq(bsonval.Clone(pair.ID))}
	mark := bson.D{{Key: "$set", Value: bson.D{{Key: discardField, Value: op}}}}
	if x.version != "" {
		mark = append(mark, bson.E{Key: "$inc", Value: bson.D{{Key: x.version, Value: int64(1)}}})
	}
	unmarked := bson.D{id, {Key: discardField, Value: bson.D{{Key: "$ne", Value: op}}}}
	p := model.NewPlan(
		model.Write{
			Collection: x.Name(), Index: model.IDIndex, Expect: model.One,
			Done: bson.D{id, {Key: discardField, Value: op}}, Idempotent: true,
			Model: &mongo.UpdateOneModel{Filter: unmarked, Update: mark},
		},
		model.Write{
			Collection: x.cold, Index: model.IDIndex, Final: true,
			Model: &mongo.DeleteOneModel{Filter: core.AsRead(pair.Cold)},
		},
	)
	p.Leaves = "a document that is marked as live, and its copy"
	return p
}
