package model

import (
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func fieldOf(d bson.D, key string) (any, bool) {
	i := slices.IndexFunc(d, func(e bson.E) bool { return e.Key == key })
	if i < 0 {
		return nil, false
	}
	return d[i].Value, true
}

// asPipeline returns a copy of a list of stages.
func asPipeline(v any) (mongo.Pipeline, bool) {
	switch v := v.(type) {
	case mongo.Pipeline:
		return slices.Clone(v), true
	case []bson.D:
		return slices.Clone(mongo.Pipeline(v)), true
	case bson.A:
		out := make(mongo.Pipeline, len(v))
		for i, s := range v {
			d, ok := asDocument(s)
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
		stages, ok := asPipeline(list)
		return stages, ok && err == nil
	}
	return nil, false
}

func valueOf(d bson.D, key string) any {
	for _, e := range d {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

// withValue returns a copy of a document with another value of a field that it has.
func withValue(d bson.D, key string, v any) bson.D {
	out := slices.Clone(d)
	for i := range out {
		if out[i].Key == key {
			out[i].Value = v
		}
	}
	return out
}

// encodedValue encodes a value. The bytes of the result are well formed.
func encodedValue(v any) (bson.RawValue, error) {
	raw, ok := v.(bson.RawValue)
	if !ok {
		doc, err := (*core.Codec)(nil).Document(bson.D{{Key: "v", Value: v}})
		if err != nil {
			return raw, err
		}
		raw = doc.Lookup("v")
	}
	return raw, raw.Validate()
}

// operators returns an update by operators, with each operator's fields as a bson.D. It
// returns false for another kind of update.
func operators(update any) (bson.D, bool) {
	raw, ok := update.(bson.Raw)
	if !ok {
		d, ok := update.(bson.D)
		return d, ok
	}
	d, ok := asDocument(raw)
	for i := range d {
		if fields, isDocument := asDocument(d[i].Value); isDocument {
			d[i].Value = fields
		}
	}
	return d, ok
}

// asDocument returns the fields of a document of any Go type.
func asDocument(v any) (bson.D, bool) {
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
		return asDocument(raw.Lookup("v"))
	}
	elems, err := doc.Elements()
	out := make(bson.D, len(elems))
	for i, e := range elems {
		out[i] = bson.E{Key: e.Key(), Value: e.Value()}
	}
	return out, err == nil
}

func asString(v any) (string, bool) {
	if raw, ok := v.(bson.RawValue); ok {
		return raw.StringValueOK()
	}
	s, ok := v.(string)
	return s, ok
}

// idOf returns the _id that a filter requires, if it requires exactly one.
func idOf(filter bson.D) (id any, ok bool) {
	if i := indexOfID(filter); i >= 0 && pinsID(filter) {
		return filter[i].Value, true
	}
	return nil, false
}

func indexOfID(filter bson.D) int {
	for i, e := range filter {
		if e.Key == "_id" {
			return i
		}
	}
	return -1
}

func sameD(a, b bson.D) bool {
	return slices.EqualFunc(a, b, func(x, y bson.E) bool { return x.Key == y.Key && sameValue(x.Value, y.Value) })
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func elementsOf(doc bson.Raw) []bson.RawElement {
	out, _ := doc.Elements()
	return out
}

func pick[T any](cond bool, a, b T) T {
	if cond {
		return a
	}
	return b
}

func orEmpty(d bson.D) bson.D {
	if d == nil {
		return bson.D{}
	}
	return d
}

// pinsID reports whether the filter has an equality on _id.
func pinsID(filter bson.D) bool {
	for _, e := range filter {
		if e.Key == "_id" {
			return isEquality(e.Value)
		}
	}
	return false
}

// isZero reports whether a projection's value excludes its field.
func isZero(v any) bool {
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
