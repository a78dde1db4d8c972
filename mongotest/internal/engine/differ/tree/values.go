package tree

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Walk calls f for each field of v, at any depth.
func Walk(v any, f func(key string, value any)) {
	switch v := v.(type) {
	case bson.D:
		for _, e := range v {
			f(e.Key, e.Value)
			Walk(e.Value, f)
		}
	case bson.A:
		for _, x := range v {
			Walk(x, f)
		}
	case []bson.D:
		for _, x := range v {
			Walk(x, f)
		}
	}
}

// WalkValues calls f for each value in v, at any depth, v included.
func WalkValues(v any, f func(any)) {
	f(v)
	switch v := v.(type) {
	case bson.D:
		for _, e := range v {
			WalkValues(e.Value, f)
		}
	case bson.A:
		for _, x := range v {
			WalkValues(x, f)
		}
	case []bson.D:
		for _, x := range v {
			WalkValues(x, f)
		}
	}
}

// Map returns v with f applied to each of its values, the inner ones first and v itself last. It makes new documents
// and arrays, so f may change those that it is given.
func Map(v any, f func(any) any) any {
	switch v := v.(type) {
	case bson.D:
		out := make(bson.D, len(v))
		for i, e := range v {
			out[i] = bson.E{Key: e.Key, Value: Map(e.Value, f)}
		}
		return f(out)
	case bson.A:
		out := make(bson.A, len(v))
		for i, x := range v {
			out[i] = Map(x, f)
		}
		return f(out)
	}
	return f(v)
}

// Lookup returns a field of a document, nil if there is none or v is no document.
func Lookup(v any, key string) any {
	doc, _ := v.(bson.D)
	for _, e := range doc {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

// HasField reports whether a document has the field, null or not.
func HasField(doc bson.D, key string) bool {
	return slices.ContainsFunc(doc, func(e bson.E) bool { return e.Key == key })
}

// Encode is the BSON of a value inside a document.
func Encode(v any) []byte {
	b, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

// ParseDecimal returns the decimal of a text, which must be one.
func ParseDecimal(s string) bson.Decimal128 {
	v, err := bson.ParseDecimal128(s)
	if err != nil {
		panic(err)
	}
	return v
}

// IsEmptyArray reports whether v is an array without elements.
func IsEmptyArray(v any) bool {
	list, ok := v.(bson.A)
	return ok && len(list) == 0
}

// IsArray reports whether v is an array.
func IsArray(v any) bool { _, ok := v.(bson.A); return ok }

// D makes a document of alternating keys and values.
func D(pairs ...any) bson.D {
	doc := make(bson.D, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		v := pairs[i+1]
		if n, ok := v.(int); ok {
			v = int32(n)
		}
		doc = append(doc, bson.E{Key: pairs[i].(string), Value: v})
	}
	return doc
}
