package schema

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

func (x *expiry) restore(w model.Write, until time.Time) model.Change[ExpiryState] {
	err := w.Err
	switch {
	case err != nil:
	case x.cold == "":
		err = x.noArchive()
	case x.spec.After > 0 && !until.IsZero():
		err = x.refused(x.at, until, "is no moment of expiry: documents expire a time after it")
	}
	if err != nil {
		refuse := func(ExpiryState) (model.Plan, error) { return model.RefusedPlan(x.docs, err), nil }
		return model.Change[ExpiryState]{Err: err, Decide: refuse}
	}
	id := w.Model.(*mongo.DeleteOneModel).Filter.(bson.D)
	return model.Change[ExpiryState]{
		Read: func(ctx context.Context, db *mongo.Database) (s ExpiryState, err error) {
			if s.Hot, err = readOne(ctx, db, x.docs, id); err == nil && s.Hot == nil {
				s.Cold, err = readOne(ctx, db, x.cold, id)
			}
			return s, err
		},
		Decide: func(s ExpiryState) (model.Plan, error) { return x.restored(s, id, until) },
	}
}

func (x *expiry) restored(s ExpiryState, id bson.D, until time.Time) (model.Plan, error) {
	if s.Hot != nil {
		return model.Plan{Applied: true}, nil
	}
	if s.Cold == nil {
		return model.Plan{}, model.ErrNotFound
	}
	doc, earlier, err := splitEarlier(bytes.Clone(s.Cold))
	if err == nil {
		doc, err = x.anew(doc, earlier, until)
	}
	if err != nil {
		return model.Plan{}, err
	}
	return model.NewPlan(model.Write{
		Collection: x.docs, Index: model.IDIndex, Model: &mongo.InsertOneModel{Document: doc},
		Reasons: []model.Reason{{If: id, Err: model.ErrStale}},
	}), nil
}

// anew is an archived document as it comes back: with its moment, and in a version that none of its copies has.
func (x *expiry) anew(doc bson.Raw, earlier bson.A, until time.Time) (bson.Raw, error) {
	var set bson.D
	if x.version != "" {
		next, err := x.nextVersion(doc, earlier)
		if err != nil {
			return nil, err
		}
		set = append(set, bson.E{Key: x.version, Value: next})
	}
	held, _ := model.ValueAt(doc, x.at)
	switch {
	case x.spec.After > 0: // it has the time from which it is counted
	case !until.IsZero():
		set = append(set, bson.E{Key: x.at, Value: bson.NewDateTimeFromTime(until)})
	case held.Type != 0 && held.Type != bson.TypeNull:
		var err error
		if doc, err = without(doc, x.at); err != nil {
			return nil, err
		}
	}
	if set == nil {
		return doc, nil
	}
	return model.SetFields(doc, set)
}

// nextVersion is one that no archive can have read: what is to be deleted in a version was archived in it before.
func (x *expiry) nextVersion(doc bson.Raw, earlier bson.A) (next int64, err error) {
	for _, e := range append(bson.A{bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}}, earlier...) {
		v, ok := e.(bson.RawValue)
		if !ok || v.Type != bson.TypeEmbeddedDocument {
			continue
		}
		held, inArray := model.ValueAt(v.Document(), x.version)
		n, ok := above(held)
		if !ok || inArray {
			return 0, x.refused(x.version, held, "can't be counted up: mend the archived document")
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

// without is a document without what it holds at some paths.
func without(doc bson.Raw, paths ...string) (bson.Raw, error) {
	var d bson.D
	if err := bson.Unmarshal(doc, &d); err != nil {
		return nil, err
	}
	for _, path := range paths {
		d = unset(d, strings.Split(path, "."))
	}
	return bson.Marshal(d)
}

func unset(d bson.D, path []string) bson.D {
	i := slices.IndexFunc(d, func(e bson.E) bool { return e.Key == path[0] })
	if i < 0 {
		return d
	}
	if len(path) == 1 {
		return slices.Delete(d, i, i+1)
	}
	if inner, ok := d[i].Value.(bson.D); ok {
		d[i].Value = unset(inner, path[1:])
	}
	return d
}

func readOne(ctx context.Context, db *mongo.Database, collection string, filter bson.D) (bson.Raw, error) {
	doc, err := model.Find[bson.Raw]{Query: model.Query{
		Collection: collection, Filter: filter, Options: model.ReadOptions{ReadPreference: readpref.Primary()},
	}}.One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return nil, nil
	}
	return doc, err
}

func (x *expiry) discard(pair ExpiryPair, op bson.ObjectID) model.Plan {
	refuse := func(field, reason string) model.Plan { return model.RefusedPlan(x.docs, x.refused(field, nil, reason)) }
	switch {
	case x.cold == "":
		return model.RefusedPlan(x.docs, x.noArchive())
	case op.IsZero():
		return refuse("op", "the operation's token is empty: pass bson.NewObjectID()")
	case pair.Expired:
		return refuse("expired", "the document has expired: the next run of Archive finishes it")
	case pair.Cold.Validate() != nil || pair.ID.Type == 0 || !pair.Cold.Lookup("_id").Equal(pair.ID):
		return refuse("cold", "is no pair that Both returned")
	}
	id := bson.E{Key: "_id", Value: model.Eq(bson.RawValue{Type: pair.ID.Type, Value: bytes.Clone(pair.ID.Value)})}
	mark := bson.D{{Key: "$set", Value: bson.D{{Key: touchedField, Value: op}}}}
	if x.version != "" {
		mark = append(mark, bson.E{Key: "$inc", Value: bson.D{{Key: x.version, Value: int64(1)}}})
	}
	unmarked := bson.D{id, {Key: touchedField, Value: bson.D{{Key: "$ne", Value: op}}}}
	p := model.NewPlan(
		model.Write{
			Collection: x.docs, Index: model.IDIndex, Expect: model.One, Done: bson.D{id, {Key: touchedField, Value: op}}, Once: true,
			Model: &mongo.UpdateOneModel{Filter: unmarked, Update: mark},
		},
		model.Write{Collection: x.cold, Index: model.IDIndex, Final: true, Model: &mongo.DeleteOneModel{Filter: model.AsRead(pair.Cold)}},
	)
	p.Leaves = "a document marked as living, and its copy"
	return p
}
