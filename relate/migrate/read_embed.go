package migrate

// Reading elements and documents, and comparing their content.

import (
	"bytes"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// readElements returns an owner's elements.
func (e embedding) readElements(owner bson.Raw) []bson.RawValue {
	return listValues(readValue(owner, e.path))
}

// readRefs returns an owner's references.
func (e embedding) readRefs(owner bson.Raw) []bson.RawValue {
	if e.refs == "" {
		return nil
	}
	return listValues(readValue(owner, e.refs))
}

// listValues returns the elements of an array, a single value as one, and none for null.
func listValues(v bson.RawValue) []bson.RawValue {
	if v.Type == bson.TypeArray {
		return core.Elements(v)
	}
	if !isID(v) {
		return nil
	}
	return []bson.RawValue{v}
}

// encodeList returns a list as it is stored: an array, or the value of a subdocument.
// Type 0 means that there is none.
func (e embedding) encodeList(list []bson.RawValue) bson.RawValue {
	switch {
	case !e.single:
		return encodeArray(list)
	case len(list) > 0:
		return list[0]
	}
	return bson.RawValue{}
}

// setOrUnset is the update that stores a value, or removes the field.
func setOrUnset(path string, v bson.RawValue) bson.D {
	if v.Type == 0 {
		return stmt.UnsetFields(path)
	}
	return stmt.SetField(path, v)
}

// readBody returns a document's fields, without those that the migration adds.
func (e embedding) readBody(doc bson.Raw) map[string]bson.RawValue {
	out := map[string]bson.RawValue{}
	elems, _ := doc.Elements()
	for _, f := range elems {
		switch f.Key() {
		// These fields are the migration's.
		case "_id", e.parent, e.order, e.mark:
		default:
			out[f.Key()] = f.Value()
		}
	}
	return out
}

// readElementBody returns an element's fields, without its key.
func (e embedding) readElementBody(v bson.RawValue) map[string]bson.RawValue {
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

// isSameBody compares fields byte by byte, in any order.
func isSameBody(a, b map[string]bson.RawValue) bool {
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

// readKey returns the id of an element; type 0 if it has none.
func (e embedding) readKey(element bson.RawValue) bson.RawValue {
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

// readDocs reads the documents of some owners, whole and in order, by the owner's key.
func (e embedding) readDocs(b *batchReader, owners []bson.Raw) (map[string][]bson.Raw, error) {
	return b.readGrouped(e.docs, e.parent, readIDs(owners, "_id"), nil, e.sortDocs())
}
