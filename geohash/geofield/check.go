package geofield

import (
	"bytes"
	"context"
	"iter"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Misplaced is a document whose key isn't that of its point.
type Misplaced struct {
	ID         bson.RawValue // of the document
	Point, Key bson.RawValue // as they are stored; of type 0 where there is none
	Want       any           // the key that belongs to the point; nil for none
	Reason     string        // what is wrong
}

// Check is the search for documents whose key isn't that of their point. It does nothing until Each or All runs it. [Field.Check]
// makes it.
type Check struct {
	Find model.Find[bson.Raw] // what is sent

	f *field
}

// Check returns the search for documents whose key isn't that of their point: missing, of another point or type, left over where
// there is no point, or with a point that is none. Documents that have neither are right. With conditions, only such documents are
// looked at.
//
// Keys are compared here, bit for bit; no server computes them.
//
// Cost: one command, and one for each further batch; it reads every document, and of each the _id, point and key.
func (f *Field[D, K]) Check(where ...bson.D) Check {
	q := f.owners.Find(model.And(where...))
	q.Projection = f.f.projection()
	return Check{model.Find[bson.Raw](q), &f.f}
}

func (f *field) projection() bson.D {
	return bson.D{{Key: f.point, Value: 1}, {Key: f.key, Value: 1}}
}

// Each runs the check and yields what it finds. An error ends the sequence.
func (c Check) Each(ctx context.Context, db *mongo.Database) iter.Seq2[Misplaced, error] {
	return func(yield func(Misplaced, error) bool) {
		for raw, err := range c.Find.Each(ctx, db) {
			if err != nil {
				yield(Misplaced{}, err)
				return
			}
			if m, bad := c.f.misplaced(raw); bad && !yield(m, nil) {
				return
			}
		}
	}
}

// All runs the check and returns all that it finds.
func (c Check) All(ctx context.Context, db *mongo.Database) ([]Misplaced, error) {
	var all []Misplaced
	for m, err := range c.Each(ctx, db) {
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// Repair returns the plan that gives the documents that a check found the keys of their points, and takes away keys without a valid
// point. Points aren't touched: one that is none stays, and every check finds it again. A document that was changed since the check is
// left alone.
//
// Cost: one command for each 25,000 documents, each found by _id. It can be run again from any cut.
func (f *Field[D, K]) Repair(found []Misplaced) model.Plan { return f.f.repair(found) }

// Rebuild returns the job that does what [Field.Check] and [Field.Repair] do, batch by batch: to introduce the field in a collection
// that has points, and to mend one whose keys went astray. Run it after the program that writes keys is deployed, then create the
// indexes, or before: what is inserted meanwhile has its key.
//
// Cost: two commands for each 500 documents, and two to find the end; written are those that were wrong. Cut, it leaves some of them to
// the next run; a run when all is right writes nothing.
func (f *Field[D, K]) Rebuild() model.Job { return f.f.rebuild() }

func (f *field) rebuild() model.Job {
	return model.Job{
		Name: "rebuild " + f.key + " of " + f.collection, Collection: f.collection, Projection: f.projection(),
		Plan: func(docs []bson.Raw) (model.Plan, error) {
			var found []Misplaced
			for _, raw := range docs {
				if m, bad := f.misplaced(raw); bad {
					found = append(found, m)
				}
			}
			return f.repair(found), nil
		},
	}
}

func (f *field) repair(found []Misplaced) model.Plan {
	var p model.Plan
	for _, m := range found {
		if m.ID.Type == 0 {
			return model.RefusedPlan(f.collection, &model.ValueError{Collection: f.collection, Field: "_id", Reason: "the id is empty"})
		}
		update := bson.D{{Key: "$set", Value: bson.D{{Key: f.key, Value: m.Want}}}}
		switch m.Want.(type) {
		case nil:
			if m.Key.Type == 0 {
				continue // a point that is none, without a key
			}
			update = bson.D{{Key: "$unset", Value: bson.D{{Key: f.key, Value: ""}}}}
		case int64, string:
		default:
			return model.RefusedPlan(f.collection, &model.ValueError{Collection: f.collection, Field: f.key, Reason: "a wanted key is neither an int64 nor a string"})
		}
		p.Steps = append(p.Steps, model.Write{
			Collection: f.collection, Index: model.IDIndex, Once: true,
			Model: &mongo.UpdateOneModel{
				Filter: bson.D{{Key: "_id", Value: same(m.ID)}, {Key: f.point, Value: same(m.Point)}, {Key: f.key, Value: same(m.Key)}},
				Update: update,
			},
		})
	}
	p.Leaves = "some documents still with wrong keys, which the next check finds"
	return p
}

// same asks for what was read: a value, or none.
func same(v bson.RawValue) any {
	if v.Type == 0 {
		return bson.D{{Key: "$exists", Value: false}}
	}
	return model.Eq(bson.RawValue{Type: v.Type, Value: bytes.Clone(v.Value)})
}

// state is what a document stores of a place, judged.
type state struct {
	point, key bson.RawValue
	want       any  // the key; nil for none
	flaw       flaw // of the point
	right      bool
}

// look judges a document.
func (f *field) look(raw bson.Raw) (s state) {
	var inArray bool
	if s.point, inArray = model.ValueAt(raw, f.point); inArray {
		s.flaw.reason = "lies in an array: a document has one place"
		return s
	}
	s.key, _ = model.ValueAt(raw, f.key)
	if s.point.Type == 0 || s.point.Type == bson.TypeNull {
		s.right = s.key.Type == 0 || s.key.Type == bson.TypeNull
		return s
	}
	p, x := pointOf(s.point)
	if x.reason == "" {
		x = f.checkPoint(p)
	}
	if s.flaw = x; x.reason == "" {
		s.want = f.keyOf(p)
		s.right = f.isKey(s.key, s.want)
	}
	return s
}

// isKey reports whether a stored value is a key.
func (f *field) isKey(v bson.RawValue, want any) bool {
	switch want := want.(type) {
	case string:
		got, ok := v.StringValueOK()
		return ok && got == want
	case int64:
		return v.Type == bson.TypeInt64 && v.Int64() == want
	}
	return false
}

// misplaced is what a check says of a document.
func (f *field) misplaced(raw bson.Raw) (m Misplaced, bad bool) {
	s := f.look(raw)
	if s.right {
		return m, false
	}
	m = Misplaced{ID: raw.Lookup("_id"), Point: s.point, Key: s.key, Want: s.want}
	switch {
	case s.flaw.reason != "":
		m.Reason = s.flaw.err(f.collection, f.point).Error()
	case s.want == nil:
		m.Reason = "a key without a point"
	case s.key.Type == 0:
		m.Reason = "no key"
	default:
		m.Reason = "not the key of the point"
	}
	return m, true
}
