package idref

// Ids that were read: they can have any type.

import (
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Stored is an id as a document stores it. It is the Detail of findings.
type Stored struct {
	Doc  bson.RawValue `bson:"doc"`  // the _id of the document
	Path string        `bson:"path"` // where
	ID   bson.RawValue `bson:"id"`   // of whatever type
}

// ReadValuesAt returns what a document stores at a dotted path. Arrays on the way and at
// its end are taken apart, as a filter on the path does.
func ReadValuesAt(doc bson.Raw, path string) []bson.RawValue {
	head, rest, nested := strings.Cut(path, ".")
	v, err := doc.LookupErr(head)
	if err != nil {
		return nil
	}
	values := []bson.RawValue{v}
	if v.Type == bson.TypeArray {
		values = core.Elements(v)
	}
	if !nested {
		return values
	}
	var out []bson.RawValue
	for _, v := range values {
		if inner, ok := v.DocumentOK(); ok {
			out = append(out, ReadValuesAt(inner, rest)...)
		}
	}
	return out
}

// RemoveID returns the elements of a list that don't have an id: at the path key, or as
// the element if key is "".
func RemoveID(list bson.RawValue, key string, id bson.RawValue) bson.A {
	kept := bson.A{}
	for _, e := range core.Elements(list) {
		v := e
		if inner, ok := e.DocumentOK(); key != "" {
			if v = (bson.RawValue{}); ok {
				v = inner.Lookup(strings.Split(key, ".")...)
			}
		}
		if !bsonval.EqualRaw(v, id) {
			kept = append(kept, e)
		}
	}
	return kept
}

// CanBeID reports whether an _id can have the value. In a filter, a regular expression
// would be a pattern, and a document whose names begin with a dollar sign would be
// operators.
func CanBeID(v bson.RawValue) bool {
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined, bson.TypeArray, bson.TypeRegex:
		return false
	case bson.TypeEmbeddedDocument:
		doc, ok := v.DocumentOK()
		if !ok || len(doc) < 5 {
			return false
		}
		first, err := doc.IndexErr(0)
		return err != nil || !strings.HasPrefix(first.Key(), "$") || first.Key() == "$ref" // a DBRef is a value
	}
	return true
}

// The most that one command holds.
const (
	MaxIDs     = 10_000  // ids
	MaxIDBytes = 4 << 20 // bytes of ids, roughly
)

// CutChunks cuts copies of ids into parts of at most n ids, each for one command.
// overhead is the size of an array element beside its value.
func CutChunks(ids []bson.RawValue, n int) []bson.A {
	const overhead = 12
	var out []bson.A
	chunk, bytes := bson.A{}, 0
	for _, id := range ids {
		size := len(id.Value) + overhead
		if len(chunk) > 0 && (len(chunk) == n || bytes+size > MaxIDBytes) {
			out = append(out, chunk)
			chunk, bytes = bson.A{}, 0
		}
		chunk = append(chunk, bsonval.Clone(id))
		bytes += size
	}
	if len(chunk) > 0 {
		out = append(out, chunk)
	}
	return out
}

// CopyIDs returns copies of ids as an array.
func CopyIDs(ids []bson.RawValue) bson.A {
	out := make(bson.A, len(ids))
	for i, id := range ids {
		out[i] = bsonval.Clone(id)
	}
	return out
}

// Key returns the same text for two encoded ids exactly if a server takes them for the
// same.
func Key(id any) string {
	t, data, err := bson.MarshalValue(id)
	if err != nil {
		return model.Shell(id) // an id that was encoded by hand: running the command tells
	}
	return bsonval.Key(bson.RawValue{Type: t, Value: data})
}

// IsValue reports whether a value exists and isn't null.
func IsValue(v bson.RawValue) bool { return v.Type != 0 && v.Type != bson.TypeNull }

// ShowFirst shows the first ids, for errors.
func ShowFirst(ids bson.A) string {
	const most = 5
	s := model.Shell(ids[:min(len(ids), most)])
	if len(ids) > most {
		s += " …"
	}
	return s
}
