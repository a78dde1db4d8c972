package migrate

import (
	"bytes"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func (e Embedding) elements(owner bson.Raw) []bson.RawValue {
	return listed(valueAt(owner, e.path))
}

// ids are the references that an owner holds.
func (e Embedding) ids(owner bson.Raw) []bson.RawValue {
	if e.refs == "" {
		return nil
	}
	return listed(valueAt(owner, e.refs))
}

// listed are the elements of an array, a single value as one, and none for nothing or null.
func listed(v bson.RawValue) []bson.RawValue {
	if v.Type == bson.TypeArray {
		return core.Elements(v)
	}
	if !isID(v) {
		return nil
	}
	return []bson.RawValue{v}
}

// stored is a list as it is stored: an array, or for a single one the value; of type 0 for no single one.
func (e Embedding) stored(list []bson.RawValue) bson.RawValue {
	switch {
	case !e.single:
		return arrayOf(list)
	case len(list) > 0:
		return list[0]
	}
	return bson.RawValue{}
}

// setOrUnset is the update that stores a value, or nothing.
func setOrUnset(path string, v bson.RawValue) bson.D {
	if v.Type == 0 {
		return stmt.Unset(path)
	}
	return stmt.Set(path, v)
}

// body are the fields of a document other than those that the migration keeps there.
func (e Embedding) body(doc bson.Raw) map[string]bson.RawValue {
	out := map[string]bson.RawValue{}
	elems, _ := doc.Elements()
	for _, f := range elems {
		switch f.Key() {
		case "_id", e.parent, e.order, e.mark:
		default:
			out[f.Key()] = f.Value()
		}
	}
	return out
}

// elementBody is body of an element.
func (e Embedding) elementBody(v bson.RawValue) map[string]bson.RawValue {
	out := map[string]bson.RawValue{}
	doc, _ := v.DocumentOK()
	elems, _ := doc.Elements()
	for _, f := range elems {
		if f.Key() != e.Key {
			out[f.Key()] = f.Value()
		}
	}
	return out
}

func sameBody(a, b map[string]bson.RawValue) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		w, ok := b[k]
		if !ok || v.Type != w.Type || !bytes.Equal(v.Value, w.Value) {
			return false
		}
	}
	return true
}

// keyOf is the id of an element, of type 0 when it has none.
func (e Embedding) keyOf(element bson.RawValue) bson.RawValue {
	doc, ok := element.DocumentOK()
	if !ok || e.Key == "" {
		return bson.RawValue{}
	}
	v, err := doc.LookupErr(e.Key)
	if err != nil {
		return bson.RawValue{}
	}
	return v
}

// docsOf reads the documents that belong to owners, whole and in order, by the key of the owner, for the parent form.
func (e Embedding) docsOf(b *batchReader, owners []bson.Raw) (map[string][]bson.Raw, error) {
	return b.by(e.docs, e.parent, idsOf(owners, "_id"), nil, e.docsOrder())
}
