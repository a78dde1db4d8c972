package bsonval

import (
	"bytes"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Equal reports whether a and b are the same value of the same type: they
// would encode to the same bytes. Fields count in their order. It is the test
// for "nothing was modified", and stricter than Compare being 0, for which
// int32(1), int64(1) and 1.0 are one number.
func Equal(a, b any) bool {
	switch x := a.(type) {
	case nil:
		_, null := b.(bson.Null)
		return b == nil || null
	case bson.D:
		y, ok := b.(bson.D)
		return ok && equalDocuments(x, y)
	case bson.A:
		y, ok := b.(bson.A)
		return ok && equalArrays(x, y)
	case float64:
		y, ok := b.(float64)
		return ok && math.Float64bits(x) == math.Float64bits(y)
	case bson.Binary:
		y, ok := b.(bson.Binary)
		return ok && x.Subtype == y.Subtype && bytes.Equal(x.Data, y.Data)
	case bson.CodeWithScope:
		y, ok := b.(bson.CodeWithScope)
		return ok && x.Code == y.Code && Equal(x.Scope, y.Scope)
	}
	switch b.(type) {
	case bson.D, bson.A, bson.Binary, bson.CodeWithScope:
		return false
	}
	return a == b
}

func equalDocuments(a, b bson.D) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 || &a[0] == &b[0] {
		return true
	}
	for i := range a {
		if a[i].Key != b[i].Key || !Equal(a[i].Value, b[i].Value) {
			return false
		}
	}
	return true
}

func equalArrays(a, b bson.A) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 || &a[0] == &b[0] {
		return true
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}
