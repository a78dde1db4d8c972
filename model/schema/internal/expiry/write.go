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

// Until is the update that lets a document expire at a time, or never, and the conditions that this isn't done yet, and
// is done.
func (x *Expiry) Until(at time.Time) (update bson.D, other, done bson.E) {
	moment := bson.NewDateTimeFromTime(at)
	is := bson.E{Key: x.at, Value: moment}
	update, other, done = bson.D{{Key: "$set", Value: bson.D{is}}}, bson.E{
		Key: x.at, Value: bson.D{{Key: "$ne", Value: moment}},
	}, is
	if at.IsZero() {
		exists := func(yes bool) bson.E { return bson.E{Key: x.at, Value: bson.D{{Key: "$exists", Value: yes}}} }
		update, other, done = bson.D{{Key: "$unset", Value: bson.D{{Key: x.at, Value: ""}}}}, exists(true), exists(false)
	}
	if x.version != "" {
		update = append(update, bson.E{Key: "$inc", Value: bson.D{{Key: x.version, Value: int64(1)}}})
	}
	return update, other, done
}

// Touch completes a write that sets a document's own time, or takes it off. Where there is a version, that is counted
// up by what changes the time, and a write that is run again finds nothing to change: other is the condition that it
// isn't done yet.
func (x *Expiry) Touch(w model.Write, other, done bson.E) model.Write {
	if x.spec.After > 0 {
		return model.Refused(x.Name(),
			x.Refuse(x.at, nil, "must not be given: the spec has After, so documents expire some time after the field's time"))
	}
	if m, ok := w.Model.(*mongo.UpdateOneModel); ok && x.version != "" {
		id := m.Filter.(bson.D)
		m.Filter, w.Done, w.Idempotent = bsondoc.JoinFilters(id, bson.D{other}), bsondoc.JoinFilters(id, bson.D{done}), true
	}
	return w
}

// unchanged is the condition that a document is what was archived.
func (x *Expiry) unchanged(doc bson.Raw) bson.D {
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

// A state is what a restore decides from: the document, nil for none, and, only if there is none, its archived copy.
type state struct{ hot, cold bson.Raw }

// Restore brings an archived document back. w is a delete of the document, which checks and encodes the id.
func (x *Expiry) Restore(w model.Write, until time.Time) model.Change {
	err := w.Err
	switch {
	case err != nil:
	case x.cold == "":
		err = x.NoArchive()
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
		Decide: func(s state) (model.Plan, error) { return x.restored(s, id, until) },
	}.Change()
}

func (x *Expiry) restored(s state, id bson.D, until time.Time) (model.Plan, error) {
	if s.hot != nil {
		return model.Plan{Applied: true}, nil
	}
	if s.cold == nil {
		return model.Plan{}, model.ErrNotFound
	}
	doc, earlier, err := splitEarlier(bytes.Clone(s.cold))
	if err == nil {
		doc, err = x.anew(doc, earlier, until)
	}
	if err != nil {
		return model.Plan{}, err
	}
	return model.NewPlan(model.Write{
		Collection: x.Name(), Index: model.IDIndex, Model: &mongo.InsertOneModel{Document: doc},
		Reasons: []model.Reason{{If: id, Err: model.ErrStale}},
	}), nil
}

// anew is an archived document as it comes back: with its moment, and in a version that none of its copies has.
func (x *Expiry) anew(doc bson.Raw, earlier bson.A, until time.Time) (bson.Raw, error) {
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
	case x.spec.After > 0: // it has the time from which it is counted
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

// nextVersion is one that no archive can have read: what is to be deleted in a version was archived in it before.
func (x *Expiry) nextVersion(doc bson.Raw, earlier bson.A) (next int64, err error) {
	for _, e := range append(bson.A{bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}}, earlier...) {
		v, ok := e.(bson.RawValue)
		if !ok || v.Type != bson.TypeEmbeddedDocument {
			continue
		}
		held, inArray := core.ValueAt(v.Document(), x.version)
		n, ok := above(held)
		if !ok || inArray {
			return 0, x.Refuse(x.version, held, "can't be increased: correct the archived document")
		}
		next = max(next, n)
	}
	return next, nil
}

// above is the least whole number above a stored one; 1 for none.
func above(v bson.RawValue) (int64, bool) {
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

// Discard deletes the archived copy of a living document.
func (x *Expiry) Discard(pair Pair, op bson.ObjectID) model.Plan {
	refuse := func(field, reason string) model.Plan {
		return model.NewPlan(model.Refused(x.Name(), x.Refuse(field, nil, reason)))
	}
	switch {
	case x.cold == "":
		return model.NewPlan(model.Refused(x.Name(), x.NoArchive()))
	case op.IsZero():
		return refuse("token", "is the zero ObjectID: pass bson.NewObjectID() as the operation's token")
	case pair.Expired:
		return refuse("expired", "the document has expired: the next run of Archive finishes it")
	case pair.Cold.Validate() != nil || pair.ID.Type == 0 || !pair.Cold.Lookup("_id").Equal(pair.ID):
		return refuse("cold", "isn't a result of Both")
	}
	id := bson.E{Key: "_id", Value: mql.Eq(bsonval.Clone(pair.ID))}
	mark := bson.D{{Key: "$set", Value: bson.D{{Key: touchedField, Value: op}}}}
	if x.version != "" {
		mark = append(mark, bson.E{Key: "$inc", Value: bson.D{{Key: x.version, Value: int64(1)}}})
	}
	unmarked := bson.D{id, {Key: touchedField, Value: bson.D{{Key: "$ne", Value: op}}}}
	p := model.NewPlan(
		model.Write{
			Collection: x.Name(), Index: model.IDIndex, Expect: model.One,
			Done: bson.D{id, {Key: touchedField, Value: op}}, Idempotent: true,
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
