// Package stored reads and compares encoded values: what a document holds at a path, or will hold after a $set.
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

// EncodeDocument encodes a document that the caller hands in.
func EncodeDocument(docs *core.Docs, doc any) (bson.Raw, error) {
	raw, err := docs.Document(doc)
	if err != nil {
		return nil, docs.Refuse("document", nil, err.Error())
	}
	return raw, nil
}

// EncodeReadDocument encodes a document that the caller read, in bytes of its own. doc points at it, and it must have
// an _id.
func EncodeReadDocument(docs *core.Docs, doc any) (bson.Raw, error) {
	if _, err := docs.ID(doc); err != nil {
		return nil, err
	}
	if raw, ok := doc.(*bson.Raw); ok {
		return EncodeDocument(docs, slices.Clone(*raw))
	}
	return EncodeDocument(docs, reflect.ValueOf(doc).Elem().Interface())
}

// ValueAt returns what a document holds at a path; type 0 for nothing.
func ValueAt(docs *core.Docs, doc bson.Raw, path string) (bson.RawValue, error) {
	v, inArray := core.ValueAt(doc, path)
	if inArray {
		return v, docs.Refuse(path, nil, "is in an array in this document")
	}
	return v, nil
}

// ValuesAt returns what a document holds at several paths.
func ValuesAt(docs *core.Docs, doc bson.Raw, paths []string) (held map[string]bson.RawValue, err error) {
	held = make(map[string]bson.RawValue, len(paths))
	for _, path := range paths {
		if held[path], err = ValueAt(docs, doc, path); err != nil {
			return nil, err
		}
	}
	return held, nil
}

// ValueAfterSet returns what a path holds after set, which core.Docs.Set returned. It held old before.
func ValueAfterSet(docs *core.Docs, set bson.D, path string, old bson.RawValue) (bson.RawValue, error) {
	if v, given, err := ValueSetBy(docs, set, path); given {
		return v, err
	}
	return old, nil
}

// ValueSetBy returns what set, which core.Docs.Set returned, sets a path to, if it does.
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

// SetsAny reports whether fields are set at one of the paths, or above it.
func SetsAny(fields bson.D, paths ...string) bool {
	return slices.ContainsFunc(fields, func(e bson.E) bool {
		return slices.ContainsFunc(paths, func(path string) bool { return core.Overlap(e.Key, path) })
	})
}

// MatchValueAt is the condition that a path holds exactly this value. Type 0 means that the path is missing.
func MatchValueAt(path string, v bson.RawValue) bson.E {
	if v.Type == 0 {
		return bson.E{Key: path, Value: mql.Exists(false)}
	}
	return bson.E{Key: path, Value: mql.Eq(v)}
}

// MatchOther is the opposite of the condition of [HoldsAt], without the path.
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

// IsKey reports whether documents or elements can be found by a value: null, lists and regular expressions are no keys.
func IsKey(v bson.RawValue) bool {
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined, bson.TypeRegex, bson.TypeArray:
		return false
	}
	return true
}

// ElementAt returns what an element holds at a path. The path "" returns the element.
func ElementAt(v bson.RawValue, path string) bson.RawValue {
	if path == "" {
		return v
	}
	doc, _ := v.DocumentOK()
	return doc.Lookup(strings.Split(path, ".")...)
}

func Contains(list []bson.RawValue, v bson.RawValue) bool {
	return slices.ContainsFunc(list, func(x bson.RawValue) bool { return bsonval.EqualRaw(x, v) })
}

// SubtractValues returns the values of a that b doesn't hold.
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

// IsDocumentType reports whether a type's zero value, or an empty one where that is nil, is stored as a document. What
// can't be encoded is told when it is.
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

// NestFields builds a document of paths; leaf says what each path holds, and whether it is there. The field of a path
// follows those before it, and stands in one document with those that begin as it does.
func NestFields(paths []string, leaf func(path string) (any, bool)) bson.D {
	return nestFieldsBelow("", paths, leaf)
}

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

// NestValues is [Nested] for values that were read. A value of type 0 is missing.
func NestValues(paths []string, held map[string]bson.RawValue) bson.D {
	return NestFields(paths, func(path string) (any, bool) { return held[path], held[path].Type != 0 })
}

// NestPaths is [Nested] for expressions: each field is its path below a prefix.
func NestPaths(paths []string, prefix string) bson.D {
	return NestFields(paths, func(path string) (any, bool) { return prefix + path, true })
}

// DescribeKind says what a field holds.
func DescribeKind(f core.Field) string {
	if f.IsArray() {
		return "a list of " + f.Type.String()
	}
	return f.Type.String()
}

// CheckCopies checks the paths of fields that are copied under one document.
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

// MatchDocumentAt is the condition that a path holds the document that a check found there; nil for nothing.
func MatchDocumentAt(path string, doc bson.Raw) bson.E {
	if doc == nil {
		return mql.E(path, mql.Exists(false))
	}
	return mql.E(path, mql.Op("$eq", doc))
}

// MaxBytes leaves of MongoDB's 16 MiB room for an array and the other fields of its document.
const MaxBytes = 15 << 20
