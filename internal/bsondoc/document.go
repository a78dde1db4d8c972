// Package bsondoc reads filters, updates, pipelines and documents in all Go forms that
// programs give to the driver: bson.D, bson.M, bson.Raw, bson.RawValue and structs. Lists of
// stages are a mongo.Pipeline, a []bson.D or a bson.A.
//
// Package model uses it to look into commands before they are sent: scopes look for the
// tenant's fields, merges for the paths of operators, guarantees for an equality on _id.
// Package keyed rewrites conditions on _id with it.
//
// # What holds for all functions
//
//   - They decide nothing about scopes, techniques or plans.
//   - They copy what they change, because the values can be the caller's.
//   - A value of a form that they don't know gives false or nil, and no error. The caller
//     leaves such a value as it is: it is refused when the command is encoded.
//   - Values are compared by their bytes in BSON (SameValue), so int32(1) and int64(1)
//     differ, although a server finds them equal. A condition that is dropped as a
//     repetition must mean the same on every server and under every collation.
//   - A nil filter, document or list has no fields.
//   - A bson.Raw can have bytes that aren't well formed. Its fields are then read as far as
//     they are.
package bsondoc

import (
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Field returns the value of a field, and whether the document has the field.
func Field(d bson.D, key string) (any, bool) {
	i := slices.IndexFunc(d, func(e bson.E) bool { return e.Key == key })
	if i < 0 {
		return nil, false
	}
	return d[i].Value, true
}

// Pipeline returns a copy of a list of stages.
func Pipeline(v any) (mongo.Pipeline, bool) {
	// A nil pipeline is a list without stages.
	switch v := v.(type) {
	case mongo.Pipeline:
		return slices.Clone(v), true
	case []bson.D:
		return slices.Clone(mongo.Pipeline(v)), true
	case bson.A:
		out := make(mongo.Pipeline, len(v))
		for i, s := range v {
			d, ok := Document(s)
			if !ok {
				return nil, false
			}
			out[i] = d
		}
		return out, true
	case bson.RawValue:
		arr, ok := v.ArrayOK()
		if !ok {
			return nil, false
		}
		values, err := arr.Values()
		list := make(bson.A, len(values))
		for i, e := range values {
			list[i] = e
		}
		stages, ok := Pipeline(list)
		return stages, ok && err == nil
	}
	return nil, false
}

// Value returns the value of a field, or nil.
func Value(d bson.D, key string) any {
	for _, e := range d {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

// SetField returns a copy of a document with another value of a field that it has.
func SetField(d bson.D, key string, v any) bson.D {
	out := slices.Clone(d)
	for i := range out {
		if out[i].Key == key {
			out[i].Value = v
		}
	}
	return out
}

// Encode encodes a value. The bytes of the result are well formed.
func Encode(v any) (bson.RawValue, error) {
	raw, ok := v.(bson.RawValue)
	if !ok {
		// The driver encodes documents only, so the value is a field of one.
		doc, err := (*core.Codec)(nil).Document(bson.D{{Key: "v", Value: v}})
		if err != nil {
			return raw, err
		}
		raw = doc.Lookup("v")
	}
	return raw, raw.Validate()
}

// Operators returns an update by operators, with each operator's fields as a bson.D. It
// returns false for another kind of update.
func Operators(update any) (bson.D, bool) {
	raw, ok := update.(bson.Raw)
	if !ok {
		d, ok := update.(bson.D)
		return d, ok
	}
	d, ok := Document(raw)
	// An operator whose value isn't a document stays as it is, for the server to refuse.
	for i := range d {
		if fields, isDocument := Document(d[i].Value); isDocument {
			d[i].Value = fields
		}
	}
	return d, ok
}

// Document returns the fields of a document of any Go type.
func Document(v any) (bson.D, bool) {
	var doc bson.Raw
	switch v := v.(type) {
	case bson.D:
		return v, true
	case bson.Raw:
		doc = v
	case bson.RawValue:
		var ok bool
		if doc, ok = v.DocumentOK(); !ok {
			return nil, false
		}
	default:
		raw, err := (*core.Codec)(nil).Document(bson.D{{Key: "v", Value: v}})
		if err != nil {
			return nil, false
		}
		return Document(raw.Lookup("v"))
	}
	elems, err := doc.Elements()
	out := make(bson.D, len(elems))
	for i, e := range elems {
		out[i] = bson.E{Key: e.Key(), Value: e.Value()}
	}
	return out, err == nil
}

// String returns a text that is a string or a bson.RawValue.
func String(v any) (string, bool) {
	if raw, ok := v.(bson.RawValue); ok {
		return raw.StringValueOK()
	}
	s, ok := v.(string)
	return s, ok
}

// IDOf returns the _id that a filter requires, if it requires exactly one.
func IDOf(filter bson.D) (id any, ok bool) {
	if i := IndexOfID(filter); i >= 0 && PinsID(filter) {
		return filter[i].Value, true
	}
	return nil, false
}

// IndexOfID returns the position of the condition on _id in a filter, or -1.
func IndexOfID(filter bson.D) int {
	for i, e := range filter {
		if e.Key == "_id" {
			return i
		}
	}
	return -1
}

// EqualDocuments reports whether two documents are stored as the same bytes.
func EqualDocuments(a, b bson.D) bool {
	return slices.EqualFunc(a, b, func(x, y bson.E) bool { return x.Key == y.Key && SameValue(x.Value, y.Value) })
}

// Elements returns the fields of a document, as far as its bytes are well formed.
func Elements(doc bson.Raw) []bson.RawElement {
	out, _ := doc.Elements()
	return out
}

// PinsID reports whether the filter has an equality on _id.
func PinsID(filter bson.D) bool {
	for _, e := range filter {
		if e.Key == "_id" {
			return IsEquality(e.Value)
		}
	}
	return false
}

// IsZero reports whether a projection's value excludes its field.
func IsZero(v any) bool {
	switch v := v.(type) {
	case bool:
		return !v
	case int:
		return v == 0
	case int32:
		return v == 0
	case int64:
		return v == 0
	case float64:
		return v == 0
	}
	return false
}
