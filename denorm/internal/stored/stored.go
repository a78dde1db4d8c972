// Package stored reads, compares and matches the values that documents hold at paths. The
// techniques of denorm call it.
//
// # Stored form
//
// The package stores nothing of its own. A path, such as "author.name", leads through
// documents and never through an array:
//
//	{_id: 7, author: {name: "Ann", born: 1970}, tags: ["a", "b"]}
//
//	author.name   the string "Ann"
//	author.died   missing: a bson.RawValue of type 0, everywhere in this package
//	tags          the whole array
//	tags.x        an error of ValueAt: the path is in an array
//
// A missing value and null are different values. ValueAt tells them apart, and so do the
// filters of MatchValueAt and MatchOther.
//
// # Protocol of a write that depends on a read
//
//  1. A core reads a document, and takes its values with ValueAt or ValuesAt.
//  2. It computes the new values. ValueAfterSet says what a path will hold after a $set.
//  3. The filter of its write has MatchValueAt, or MatchDocumentAt, for each value of state 1.
//     So the write changes nothing if another client has changed the document since.
//
// # What a crash leaves
//
// Nothing: the package sends no command. SkipUnfinished (actions.go) is for checks that
// look at documents which a crashed action of a store has left half done: it skips them,
// because the store's own repair finishes them.
package stored

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// EncodeDocument encodes a document that the caller passed.
func EncodeDocument(docs *core.Docs, doc any) (bson.Raw, error) {
	raw, err := docs.Document(doc)
	if err != nil {
		return nil, docs.Refuse("document", nil, err.Error())
	}
	return raw, nil
}

// EncodeReadDocument encodes a document that the caller read, so it must have an _id. doc
// is a pointer. The result shares no bytes with it.
func EncodeReadDocument(docs *core.Docs, doc any) (bson.Raw, error) {
	if _, err := docs.ID(doc); err != nil {
		return nil, err
	}
	if raw, ok := doc.(*bson.Raw); ok {
		return EncodeDocument(docs, slices.Clone(*raw))
	}
	return EncodeDocument(docs, reflect.ValueOf(doc).Elem().Interface())
}

// ValueAt returns the value at a path of a document. A missing value has type 0. A path
// that leads into an array is an error: it has several values.
func ValueAt(docs *core.Docs, doc bson.Raw, path string) (bson.RawValue, error) {
	v, inArray := core.ValueAt(doc, path)
	if inArray {
		return v, docs.Refuse(path, nil, "is in an array in this document")
	}
	return v, nil
}

// ValuesAt returns the values at several paths, by path.
func ValuesAt(docs *core.Docs, doc bson.Raw, paths []string) (held map[string]bson.RawValue, err error) {
	held = make(map[string]bson.RawValue, len(paths))
	for _, path := range paths {
		if held[path], err = ValueAt(docs, doc, path); err != nil {
			return nil, err
		}
	}
	return held, nil
}

// ValueAfterSet returns the value at a path after set, which core.Docs.Set returned. old
// is the value before.
func ValueAfterSet(docs *core.Docs, set bson.D, path string, old bson.RawValue) (bson.RawValue, error) {
	if v, given, err := ValueSetBy(docs, set, path); given {
		return v, err
	}
	return old, nil
}

// ValueSetBy returns the value that set, which core.Docs.Set returned, gives a path.
// given is false if set doesn't change the path.
func ValueSetBy(docs *core.Docs, set bson.D, path string) (v bson.RawValue, given bool, err error) {
	for _, e := range set {
		v := e.Value.(bson.RawValue)
		if e.Key == path {
			return v, true, nil
		}
		if below, ok := strings.CutPrefix(path, e.Key+"."); ok {
			inner, isDoc := v.DocumentOK()
			if !isDoc {
				return bson.RawValue{}, true, nil
			}
			v, err := ValueAt(docs, inner, below)
			return v, true, err
		}
	}
	return v, false, nil
}

// SetsAny reports whether a field is set at one of the paths, above it or below it.
func SetsAny(fields bson.D, paths ...string) bool {
	return slices.ContainsFunc(fields, func(e bson.E) bool {
		return slices.ContainsFunc(paths, func(path string) bool { return core.Overlap(e.Key, path) })
	})
}

// MatchValueAt is the condition that a path has exactly this value. Type 0 matches a
// missing path, but not null.
func MatchValueAt(path string, v bson.RawValue) bson.E {
	if v.Type == 0 {
		return bson.E{Key: path, Value: mql.Exists(false)}
	}
	return bson.E{Key: path, Value: mql.Eq(v)}
}

// MatchOther is the opposite of the condition of [MatchValueAt], without the path. Null
// and regular expressions need $not: {$ne: null} wouldn't match a missing field, and the
// server refuses a pattern in $ne.
func MatchOther(v bson.RawValue) bson.D {
	switch v.Type {
	case 0:
		return mql.Exists(true)
	case bson.TypeNull:
		return mql.Op("$not", mql.Op("$type", "null"))
	case bson.TypeRegex:
		return mql.Op("$not", mql.Op("$eq", v))
	}
	return mql.Op("$ne", v)
}

// IsKey reports whether a value can identify a document or an element. Null matches
// missing fields too, a list matches its elements, and a regular expression is a pattern.
func IsKey(v bson.RawValue) bool {
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined, bson.TypeRegex, bson.TypeArray:
		return false
	}
	return true
}

// ElementAt returns the value at a path of an element. The path "" returns the element.
func ElementAt(v bson.RawValue, path string) bson.RawValue {
	if path == "" {
		return v
	}
	doc, _ := v.DocumentOK()
	return doc.Lookup(strings.Split(path, ".")...)
}

// Contains reports whether a list has a value that a server considers equal: numbers are
// compared by value, whatever their types.
func Contains(list []bson.RawValue, v bson.RawValue) bool {
	return slices.ContainsFunc(list, func(x bson.RawValue) bool { return bsonval.EqualRaw(x, v) })
}

// SubtractValues returns the values of a that aren't in b, in the order of a.
func SubtractValues(a, b []bson.RawValue) (out []bson.RawValue) {
	const few = 8 // for which comparing is faster than a map
	if len(a) <= few && len(b) <= few {
		for _, v := range a {
			if !Contains(b, v) {
				out = append(out, v)
			}
		}
		return out
	}
	held := make(map[string]bool, len(b))
	for _, v := range b {
		held[bsonval.Key(v)] = true
	}
	for _, v := range a {
		if !held[bsonval.Key(v)] {
			out = append(out, v)
		}
	}
	return out
}

// IsNumberType reports whether values of a type are stored as numbers.
func IsNumberType(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	}
	return false
}

// IsDocumentType reports whether an empty value of a type is stored as a document. A type
// that can't be encoded passes: the error comes when a value is encoded, and names its
// place.
func IsDocumentType(t reflect.Type) bool {
	v := reflect.Zero(t)
	switch t.Kind() {
	case reflect.Slice:
		v = reflect.MakeSlice(t, 0, 0)
	case reflect.Map:
		v = reflect.MakeMap(t)
	}
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: v.Interface()}})
	return err != nil || bson.Raw(raw).Lookup("v").Type == bson.TypeEmbeddedDocument
}

// NestFields builds a document from paths. leaf returns the value at a path, and whether
// the field exists. Fields are in the order of paths, but paths that begin with the same
// name share one inner document, at the place of the first.
func NestFields(paths []string, leaf func(path string) (any, bool)) bson.D {
	return nestFieldsBelow("", paths, leaf)
}

// nestFieldsBelow is [NestFields] for paths that begin with the prefix.
func nestFieldsBelow(prefix string, paths []string, leaf func(path string) (any, bool)) bson.D {
	d := bson.D{}
	if len(paths) == 0 {
		return d
	}
	seen := map[string]bool{}
	for _, path := range paths {
		name, _, deeper := strings.Cut(path[len(prefix):], ".")
		if seen[name] {
			continue
		}
		seen[name] = true
		if deeper {
			below := prefix + name + "."
			inner := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !strings.HasPrefix(p, below) })
			d = append(d, bson.E{Key: name, Value: nestFieldsBelow(below, inner, leaf)})
		} else if v, ok := leaf(path); ok {
			d = append(d, bson.E{Key: name, Value: v})
		}
	}
	return d
}

// NestValues is [NestFields] for values that were read. A value of type 0 is left out.
func NestValues(paths []string, held map[string]bson.RawValue) bson.D {
	return NestFields(paths, func(path string) (any, bool) { return held[path], held[path].Type != 0 })
}

// NestPaths is [NestFields] for expressions: each field is its own path after a prefix,
// such as "$src.".
func NestPaths(paths []string, prefix string) bson.D {
	return NestFields(paths, func(path string) (any, bool) { return prefix + path, true })
}

// DescribeKind names the type of a field for an error of a declaration.
func DescribeKind(f core.Field) string {
	if f.IsArray() {
		return "a list of " + f.Type.String()
	}
	return f.Type.String()
}

// CheckCopies checks the paths of fields that are copied into one document. Paths that
// overlap would be written twice in one update, which the server refuses.
func CheckCopies(place core.Place, docs *core.Docs, paths []string) {
	for i, p := range paths {
		if f := docs.MustField(p); f.Array != "" && f.Array != p {
			place.Fail(fmt.Sprintf("the copied path %q is in an array", p), "copy the whole array")
		}
		for _, other := range paths[:i] {
			if core.Overlap(p, other) {
				place.Fail(fmt.Sprintf("the copied paths %q and %q overlap", other, p), "copy each field once")
			}
		}
	}
}

// MatchDocumentAt is the condition that a path has the document that a check found there;
// nil for a missing one.
func MatchDocumentAt(path string, doc bson.Raw) bson.E {
	if doc == nil {
		return mql.E(path, mql.Exists(false))
	}
	return mql.E(path, mql.Op("$eq", doc))
}

// MaxBytes is the limit for an array. It leaves room in MongoDB's 16 MiB for the other
// fields of the document.
const MaxBytes = 15 << 20
