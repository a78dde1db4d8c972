// Package bsonval holds BSON values in one canonical Go form, and decodes,
// encodes, compares and computes with them as MongoDB does.
//
// A document is a bson.D, an array a bson.A, and a scalar one of float64,
// string, bool, nil (null), int32, int64, bson.ObjectID, bson.DateTime,
// bson.Decimal128, bson.Binary, bson.Regex, bson.Timestamp, bson.MinKey,
// bson.MaxKey, bson.JavaScript, bson.CodeWithScope, bson.Symbol,
// bson.DBPointer or bson.Undefined. A field that isn't there is [Missing].
//
// Values are immutable: nobody modifies a bson.D, a bson.A or the bytes of a
// bson.Binary in place. A change copies the path that leads to it and shares
// the rest.
//
// The manual's page on comparison and sort order decides [Compare]
// (https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/),
// and the page on BSON types decides the names of the types
// (https://www.mongodb.com/docs/manual/reference/bson-types/).
package bsonval

import "go.mongodb.org/mongo-driver/v2/bson"

// MaxDepth is the deepest nesting of documents and arrays that is accepted.
const MaxDepth = 200

type missing struct{}

// Missing stands for a field that isn't there. It is not storable.
var Missing any = missing{}

// IsMissing reports whether v stands for a field that isn't there.
func IsMissing(v any) bool {
	_, ok := v.(missing)
	return ok
}

// IsNullish reports whether v is null, undefined or missing.
func IsNullish(v any) bool {
	switch v.(type) {
	case nil, missing, bson.Undefined, bson.Null:
		return true
	}
	return false
}

// Get returns the value of the document's first field of that name, or Missing and false.
func Get(d bson.D, key string) (any, bool) {
	for i := range d {
		if d[i].Key == key {
			return d[i].Value, true
		}
	}
	return Missing, false
}

// Index returns the position of the document's first field of that name, or -1.
func Index(d bson.D, key string) int {
	for i := range d {
		if d[i].Key == key {
			return i
		}
	}
	return -1
}

// With returns a copy of d in which the field has the value: in its place when
// it is there, else at the end.
func With(d bson.D, key string, v any) bson.D {
	i := Index(d, key)
	if i < 0 {
		next := make(bson.D, len(d), len(d)+1)
		copy(next, d)
		return append(next, bson.E{Key: key, Value: v})
	}
	next := make(bson.D, len(d))
	copy(next, d)
	next[i].Value = v
	return next
}

// Without returns d without the field, copied when the field is there.
func Without(d bson.D, key string) bson.D {
	i := Index(d, key)
	if i < 0 {
		return d
	}
	next := make(bson.D, 0, len(d)-1)
	next = append(next, d[:i]...)
	return append(next, d[i+1:]...)
}

// Depth returns how deeply documents and arrays nest in v: 0 for a scalar.
func Depth(v any) int {
	deepest := 0
	switch v := v.(type) {
	case bson.D:
		for _, e := range v {
			deepest = max(deepest, Depth(e.Value))
		}
	case bson.A:
		for _, x := range v {
			deepest = max(deepest, Depth(x))
		}
	default:
		return 0
	}
	return deepest + 1
}
