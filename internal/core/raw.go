package core

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ValueAt returns the value at a dotted path of an encoded document, without a copy. A
// missing value has type 0. If the path goes into an array, ValueAt returns the array and
// true: what the rest of the path means then depends on the caller.
func ValueAt(doc bson.Raw, path string) (v bson.RawValue, inArray bool) {
	if strings.IndexByte(path, '.') < 0 {
		return doc.Lookup(path), false
	}
	v = bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}
	for part := range strings.SplitSeq(path, ".") {
		switch v.Type {
		case bson.TypeEmbeddedDocument:
			v = bson.Raw(v.Value).Lookup(part)
		case bson.TypeArray:
			return v, true
		default:
			return bson.RawValue{}, false
		}
	}
	return v, false
}

// Elements returns the elements of an array, without a copy. It is nil for other values.
func Elements(v bson.RawValue) []bson.RawValue {
	list, ok := v.ArrayOK()
	if !ok {
		return nil
	}
	out, _ := list.Values()
	return out
}

// SetFields applies $set to an encoded document, for paths that cross no array. New
// values replace old ones, or are appended. The result has the fields in the order in which a
// server stores them, if set is in the server's order (sortAsServer).
func SetFields(doc bson.Raw, set bson.D) (bson.Raw, error) {
	var d bson.D
	if isRawDeeper(doc, bsonval.MaxLevels) {
		return nil, errTooDeep()
	}
	if err := bson.Unmarshal(doc, &d); err != nil {
		return nil, err
	}
	if err := CheckDepth(set); err != nil {
		return nil, err
	}
	for _, e := range set {
		d = setAt(d, strings.Split(e.Key, "."), e.Value)
	}
	return bson.Marshal(d)
}

// setAt sets the value at a path, whose names are in path, and returns the document. A value on
// the way that isn't a document is replaced, where a server would refuse the update.
func setAt(d bson.D, path []string, v any) bson.D {
	i := slices.IndexFunc(d, func(e bson.E) bool { return e.Key == path[0] })
	if i < 0 {
		i = len(d)
		d = append(d, bson.E{Key: path[0]})
	}
	if len(path) == 1 {
		d[i].Value = v
		return d
	}
	inner, _ := d[i].Value.(bson.D)
	d[i].Value = setAt(inner, path[1:], v)
	return d
}
