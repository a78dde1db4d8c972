package geofield

import (
	"context"
	"iter"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (f *Field[D, K]) checks() []model.Check {
	return f.f.checks(func(filter bson.D) *model.Find[bson.Raw] {
		q := f.owners.Find(filter)
		q.Projection = f.f.projection()
		return &model.Find[bson.Raw]{Query: q.Query}
	})
}

func (f *field) checks(find func(filter bson.D) *model.Find[bson.Raw]) []model.Check {
	name := f.Name() + "." + f.key + ": wrong keys"
	return []model.Check{{
		Name: name, Collection: f.Name(), Rule: f.key + " is the key of " + f.point + ", or both are missing",
		Read: func(ctx context.Context, db model.DB, filter bson.D) iter.Seq2[model.Finding, error] {
			return func(yield func(model.Finding, error) bool) {
				for raw, err := range find(filter).Each(ctx, db) {
					if err != nil {
						yield(model.Finding{}, err)
						return
					}
					m, bad := f.misplaced(raw)
					if bad &&
						!yield(model.Finding{
							Check: name, Collection: f.Name(), ID: m.id, Problem: m.reason, Detail: raw,
						}, nil) {
						return
					}
				}
			}
		},
		Mend: found.MendRows(name, f.Name(), f.repair),
	}}
}

// misplaced is a document with a key other than its point's.
type misplaced struct {
	id         bson.RawValue
	point, key bson.RawValue // as stored; type 0 if missing
	want       any           // the point's key, or nil
	reason     string
}

func (f *field) projection() bson.D {
	return bson.D{{Key: f.point, Value: 1}, {Key: f.key, Value: 1}}
}

// Rebuild returns the job that writes missing keys and corrects wrong keys. See also
// [Field].Checks. Before you add keys to stored documents, deploy the program that
// writes keys. After a crash, run the job again.
//
// Cost: two commands per 500 documents, and two commands at the end.
func (f *Field[D, K]) Rebuild() model.Job { return f.f.rebuild() }

func (f *field) rebuild() model.Job {
	return model.Job{Name: "rebuild " + f.key + " of " + f.Name(), Stages: []model.Stage{{
		Collection: f.Name(), Projection: f.projection(),
		Plan: func(docs []bson.Raw) (model.Plan, error) { return f.repair(docs), nil },
	}}}
}

// repair returns the plan that gives documents the keys of their points, as they were
// read.
func (f *field) repair(docs []bson.Raw) model.Plan {
	var p model.Plan
	for _, raw := range docs {
		m, bad := f.misplaced(raw)
		switch {
		case !bad || m.want == nil && m.key.Type == 0:
			continue // an invalid point without a key
		case m.id.Type == 0:
			return model.NewPlan(model.Refused(f.Name(), f.Refuse("_id", nil, "the id is empty")))
		}
		update := bson.D{{Key: "$set", Value: bson.D{{Key: f.key, Value: m.want}}}}
		if m.want == nil {
			update = bson.D{{Key: "$unset", Value: bson.D{{Key: f.key, Value: ""}}}}
		}
		p.Steps = append(p.Steps, model.Write{
			Collection: f.Name(), Index: model.IDIndex, Idempotent: true,
			Model: &mongo.UpdateOneModel{
				Filter: bson.D{
					{Key: "_id", Value: same(m.id)}, {Key: f.point, Value: same(m.point)},
					{Key: f.key, Value: same(m.key)},
				},
				Update: update,
			},
		})
	}
	p.Leaves = "some documents repaired; the others still have wrong keys, which the next check finds"
	return p
}

// same returns the condition that a field is as it was read.
func same(v bson.RawValue) any {
	if v.Type == 0 {
		return bson.D{{Key: "$exists", Value: false}}
	}
	return mql.Eq(bsonval.Clone(v))
}

// state is a document's place, and what is wrong with it.
type state struct {
	point, key bson.RawValue
	want       any  // the key, or nil
	flaw       flaw // of the point
	right      bool
}

func (f *field) look(raw bson.Raw) (s state) {
	var inArray bool
	if s.point, inArray = core.ValueAt(raw, f.point); inArray {
		s.flaw.reason = "is in an array: a document has one point"
		return s
	}
	s.key, _ = core.ValueAt(raw, f.key)
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

func (f *field) misplaced(raw bson.Raw) (m misplaced, bad bool) {
	s := f.look(raw)
	if s.right {
		return m, false
	}
	m = misplaced{id: raw.Lookup("_id"), point: s.point, key: s.key, want: s.want}
	switch {
	case s.flaw.reason != "":
		m.reason = s.flaw.err(f.Docs, f.point).Error()
	case s.want == nil:
		m.reason = "there is a key, but no point"
	case s.key.Type == 0:
		m.reason = "the key is missing"
	default:
		m.reason = "the key isn't the key of the point"
	}
	return m, true
}
