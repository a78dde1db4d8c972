package model

import (
	"maps"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func idOfInsert(m mongo.WriteModel) bson.RawValue {
	return m.(*mongo.InsertOneModel).Document.(bson.Raw).Lookup("_id")
}

// If an insert meets a document with its _id, an interrupted earlier run may have
// inserted it. This is the case if the stored document equals the inserted document,
// except for fields that later steps of the same plan write, or that change by themselves.

// changing returns the fields of an inserted document that a later run can find changed: for
// example the updatedAt of a scope.
func (w Write) changing() map[string]bool {
	out := w.stamped()
	if len(out) == 0 {
		return w.transient
	}
	maps.Copy(out, w.transient)
	return out
}

// touched describes what steps write to a collection: the first names of the paths that
// their operators update.
type touched struct {
	fields map[string]bool
	opaque bool            // a delete, replacement, pipeline or $merge: anything can change
	gone   map[string]bool // _ids of documents that are deleted by _id
}

// touchedAfter returns what the steps write to a collection.
func touchedAfter(steps []Step, collection string) touched {
	t := touched{fields: map[string]bool{}, gone: map[string]bool{}}
	for _, s := range steps {
		w, ok := s.(Write)
		if ok && w.Collection != collection || !ok && !mergesInto(s, collection) {
			continue
		}
		if m, one := w.Model.(*mongo.DeleteOneModel); one {
			if key := keyOf(m.Filter); key != "" {
				t.gone[key] = true
				continue
			}
		}
		t.add(s)
	}
	return t
}

// keyOf returns the bsonval.Key of the _id that a filter selects, or "".
func keyOf(filter any) string {
	d, _ := filter.(bson.D)
	id, pinned := bsondoc.IDOf(d)
	doc, err := (*core.Codec)(nil).Document(bson.D{{Key: "_id", Value: bsondoc.EqualTo(id)}})
	if !pinned || err != nil {
		return ""
	}
	return bsonval.Key(doc.Lookup("_id"))
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
	ops, ok := bsondoc.Operators(update)
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
			if to, isString := bsondoc.String(f.Value); op.Key == "$rename" && isString {
				t.field(to)
			}
		}
	}
}

// and returns t with further fields.
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

// same reports whether the stored document equals the inserted document, except for
// touched fields. The order of fields is ignored, because the server moves _id to the
// front and a Go map has no order.
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

// equalUnordered compares values and ignores the order of fields.
func equalUnordered(a, b bson.RawValue) bool {
	if a.Equal(b) {
		return true
	}
	if a.Type != b.Type || len(a.Value) != len(b.Value) ||
		a.Type != bson.TypeEmbeddedDocument && a.Type != bson.TypeArray {
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

// fieldsOf returns the first names of the paths in a filter, sorted, except _id.
func fieldsOf(filter any) []string {
	out := map[string]bool{}
	if raw, err := (*core.Codec)(nil).Document(filter); err == nil {
		collectFields(raw, out)
	}
	return slices.Sorted(maps.Keys(out))
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

// isNewIn reports that no run has inserted the document, because a duplicate key error names
// another index than that of _id. An inserted document violates the index of _id first.
func (w Write) isNewIn(err error) bool {
	_, insert := w.Model.(*mongo.InsertOneModel)
	keys := violated(err)
	return insert && w.Done == nil && len(keys) > 0 && !slices.Equal(keys, []string{"_id"})
}
