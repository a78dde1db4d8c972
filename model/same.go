package model

import (
	"context"
	"maps"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// skipOwn decides whether the document in the way of an insert is the one that this write made, and how many of the
// inserts after it were made before too: a cut command leaves its first documents. It looks at some thousand at once. In
// a transaction nothing can be asked, for the error has aborted it.
func (r *runner) skipOwn(ctx context.Context, b batch, at int, dup error) (skipped int, _ error) {
	step := b.first + at
	w := r.plan.Steps[step].(Write)
	if runctx.InTransaction(ctx) {
		return 0, &StepError{Step: step, Err: dup}
	}
	if b.kind != insertKind || w.Done != nil {
		return 1, r.judge(ctx, step, w, dup)
	}
	models := b.models[at:min(at+1000, len(b.models))]
	ids := make(bson.A, 0, len(models))
	for i, m := range models {
		if shell(r.plan.Steps[step+i].(Write).tenant) != shell(w.tenant) {
			models = models[:i]
			break
		}
		if id := idOfInsert(m); id.Type != 0 {
			ids = append(ids, id)
		}
	}
	stored := map[string]bson.Raw{}
	find := &Find[bson.Raw]{Query{
		Collection: w.Collection, Filter: And(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}, w.tenant),
		Options: ReadOptions{ReadPreference: readpref.Primary()},
	}}
	for doc, err := range find.Each(ctx, unobserved(r.db)) {
		if err != nil {
			return 0, &StepError{Step: step, Err: err}
		}
		stored[bsonval.Key(doc.Lookup("_id"))] = doc
	}
	later := touchedAfter(r.plan.Steps[b.first+len(b.models):], w.Collection) // the batch itself only inserts
	for i, m := range models {
		doc, ok := stored[bsonval.Key(idOfInsert(m))]
		if i > 0 && !ok {
			return i, nil
		}
		mine := later.and(r.plan.Steps[step+i].(Write).stamped()) // an updatedAt of the first run
		if !mine.same(doc, m.(*mongo.InsertOneModel).Document.(bson.Raw)) {
			if i > 0 {
				return i, nil // sent again, it meets its duplicate there
			}
			return 1, r.judge(ctx, step, w, dup)
		}
		r.result.Steps[step+i].Status = Already
	}
	return len(models), nil
}

func idOfInsert(m mongo.WriteModel) bson.RawValue {
	return m.(*mongo.InsertOneModel).Document.(bson.Raw).Lookup("_id")
}

// An insert that meets a document under its own _id may have been applied before, by a run that was cut. It was, when the
// stored document equals the inserted one but for what later steps of the same plan write to it.

// touched is what steps write to documents of a collection: the first names of the paths that their operators update.
type touched struct {
	fields map[string]bool
	opaque bool            // a delete, a replacement, a pipeline, a $merge: anything
	gone   map[string]bool // the _ids of documents that are deleted, each by itself
}

// touchedAfter collects what the steps after one write to the documents of its collection.
func touchedAfter(steps []Step, collection string) touched {
	t := touched{fields: map[string]bool{}, gone: map[string]bool{}}
	for _, s := range steps {
		w, ok := s.(Write)
		if ok && w.Collection != collection {
			continue
		}
		if m, one := w.Model.(*mongo.DeleteOneModel); one {
			if filter, ok := m.Filter.(bson.D); ok {
				id, pinned := idOf(filter)
				if doc, err := (*core.Codec)(nil).Document(bson.D{{Key: "_id", Value: equalTo(id)}}); pinned && err == nil {
					t.gone[bsonval.Key(doc.Lookup("_id"))] = true
					continue
				}
			}
		}
		t.add(s)
	}
	return t
}

func (t *touched) add(s Step) {
	w, ok := s.(Write)
	if !ok {
		t.opaque = true
		return
	}
	var update any
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		return
	case *mongo.UpdateOneModel:
		update = m.Update
	case *mongo.UpdateManyModel:
		update = m.Update
	}
	ops, ok := operators(update)
	if !ok {
		t.opaque = true
		return
	}
	for _, op := range ops {
		fields, ok := op.Value.(bson.D)
		if !ok {
			t.opaque = true
			return
		}
		for _, f := range fields {
			t.field(f.Key)
			if to, isString := asString(f.Value); op.Key == "$rename" && isString {
				t.field(to)
			}
		}
	}
}

// and is the same with further fields.
func (t touched) and(fields map[string]bool) touched {
	if len(fields) == 0 {
		return t
	}
	t.fields = maps.Clone(t.fields)
	maps.Copy(t.fields, fields)
	return t
}

func (t *touched) field(path string) {
	name, _, _ := strings.Cut(path, ".")
	t.fields[name] = true
}

// same reports whether the stored document is the inserted one, but for touched fields. The order of fields doesn't count:
// the server moves _id to the front, and a Go map has none.
func (t touched) same(stored, inserted bson.Raw) bool {
	a, errA := stored.Elements()
	b, errB := inserted.Elements()
	if stored == nil || errA != nil || errB != nil || t.opaque || t.gone[bsonval.Key(inserted.Lookup("_id"))] {
		return false
	}
	n := 0
	for _, e := range b {
		if t.fields[e.Key()] {
			continue
		}
		n++
		if v, err := stored.LookupErr(e.Key()); err != nil || !equalUnordered(v, e.Value()) {
			return false
		}
	}
	for _, e := range a {
		if !t.fields[e.Key()] {
			n--
		}
	}
	return n == 0
}

// equalUnordered compares values, documents within them without the order of their fields.
func equalUnordered(a, b bson.RawValue) bool {
	if a.Equal(b) {
		return true
	}
	if a.Type != b.Type || len(a.Value) != len(b.Value) || a.Type != bson.TypeEmbeddedDocument && a.Type != bson.TypeArray {
		return false
	}
	x, errX := bson.Raw(a.Value).Elements()
	y, errY := bson.Raw(b.Value).Elements()
	if errX != nil || errY != nil || len(x) != len(y) {
		return false
	}
	for _, e := range x {
		v, err := bson.Raw(b.Value).LookupErr(e.Key())
		if err != nil || !equalUnordered(e.Value(), v) {
			return false
		}
	}
	return true
}

// insertsRepeat reports whether each insert of the plan can be told from a foreign document with its _id when the plan is
// run again: by its Done, if no later step deletes in its collection, or because none writes to it in a way that can't be foreseen.
func insertsRepeat(steps []Step) bool {
	opaque, deletes := map[string]bool{}, map[string]bool{}
	everywhere := false // a $merge may write anywhere
	for i := len(steps) - 1; i >= 0; i-- {
		w, ok := steps[i].(Write)
		if !ok {
			everywhere = true
			continue
		}
		w.Model = w.unscoped()
		switch w.Model.(type) {
		case *mongo.InsertOneModel:
			if everywhere || deletes[w.Collection] || w.Done == nil && opaque[w.Collection] {
				return false
			}
			continue
		case *mongo.DeleteOneModel, *mongo.DeleteManyModel:
			deletes[w.Collection] = true
		}
		t := touched{fields: map[string]bool{}}
		if t.add(w); t.opaque {
			opaque[w.Collection] = true
		}
	}
	return true
}

// filtersRepeat reports whether no step's filter asks for a field that a later step of the plan writes: the second run would
// find other documents than the first. It looks at writes of many documents; one that is pinned by its _id is guarded by what
// its filter says, and so may one be that is marked Once.
func filtersRepeat(steps []Step) bool {
	for i, s := range steps {
		w, ok := s.(Write)
		if !ok || w.Once || writesOne(s) {
			continue
		}
		w.Model = w.unscoped()
		asked := fieldsOf(w.filter())
		for _, other := range steps[i+1:] {
			o, ok := other.(Write)
			if ok && o.Collection != w.Collection {
				continue
			}
			if ok {
				o.Model = o.unscoped()
				other = o
			}
			t := touched{fields: map[string]bool{}}
			if t.add(other); t.opaque && ok {
				continue // a delete or replacement: what is gone is found by nobody
			}
			for name := range asked {
				if t.fields[name] || t.opaque {
					return false
				}
			}
		}
	}
	return true
}

// fieldsOf collects the first names of the paths of a filter, less _id.
func fieldsOf(filter any) map[string]bool {
	out := map[string]bool{}
	raw, err := (*core.Codec)(nil).Document(filter)
	if err != nil {
		return out
	}
	collectFields(raw, out)
	return out
}

func collectFields(doc bson.Raw, out map[string]bool) {
	elems, err := doc.Elements()
	if err != nil {
		return
	}
	for _, e := range elems {
		if !strings.HasPrefix(e.Key(), "$") {
			if name, _, _ := strings.Cut(e.Key(), "."); name != "_id" {
				out[name] = true
			}
			continue
		}
		if list, ok := e.Value().ArrayOK(); ok { // $and, $or, $nor
			values, _ := list.Values()
			for _, v := range values {
				if inner, ok := v.DocumentOK(); ok {
					collectFields(inner, out)
				}
			}
		}
	}
}
