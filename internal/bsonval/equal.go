// Identity of values, by which an update knows that it changes nothing.

package bsonval

import (
	"bytes"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Equal reports whether a and b are the same value of the same type: whether their encodings have the same bytes. The
// order of fields counts. An update for which it holds modifies nothing. It is stricter than a [Compare] of 0, which
// holds for int32(1), int64(1) and 1.0.
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
	case float64: // by bits: NaN equals itself, and 0 isn't -0
		y, ok := b.(float64)
		return ok && math.Float64bits(x) == math.Float64bits(y)
	case bson.Binary:
		y, ok := b.(bson.Binary)
		return ok && x.Subtype == y.Subtype && bytes.Equal(x.Data, y.Data)
	case bson.CodeWithScope:
		y, ok := b.(bson.CodeWithScope)
		return ok && x.Code == y.Code && Equal(x.Scope, y.Scope)
	}
	// == panics for two values of a type that can't be compared, such as two slices.
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
	// An update shares what it doesn't change, so a part is often the very same slice.
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
