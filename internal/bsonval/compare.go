// MongoDB's comparison order for decoded values. The order of numbers is in number.go, that of encoded values in
// raw.go.

package bsonval

import (
	"bytes"
	"cmp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Compare returns -1, 0 or +1 in MongoDB's comparison order, which has a place for every value. The classes of the
// types decide first ([Rank]), then the values. Numbers are compared exactly across their types, and NaN is before all
// of them.
//
// Missing and undefined come before null. A sort takes a missing field for null, so package order replaces it.
func Compare(a, b any) int {
	// The frequent pairs, without a look at the classes.
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y)
		}
	case int32:
		if y, ok := b.(int32); ok {
			return cmp.Compare(x, y)
		}
	case bson.ObjectID:
		if y, ok := b.(bson.ObjectID); ok {
			return bytes.Compare(x[:], y[:])
		}
	}
	if c := cmp.Compare(Rank(a), Rank(b)); c != 0 {
		return c
	}
	switch x := a.(type) {
	case int32, int64, float64, bson.Decimal128:
		return compareNumbers(a, b)
	case string, bson.Symbol:
		return strings.Compare(stringOf(a), stringOf(b))
	case bson.D:
		return compareDocuments(x, b.(bson.D))
	case bson.A:
		return compareArrays(x, b.(bson.A))
	case bool:
		return compareBools(x, b.(bool))
	case bson.DateTime:
		return cmp.Compare(x, b.(bson.DateTime))
	}
	return compareRare(a, b)
}

// compareRare compares two values of the same class. A class here has one type.
func compareRare(a, b any) int {
	switch x := a.(type) {
	case bson.Binary: // a shorter one is before a longer one
		y := b.(bson.Binary)
		return cmp.Or(cmp.Compare(len(x.Data), len(y.Data)), cmp.Compare(x.Subtype, y.Subtype),
			bytes.Compare(x.Data, y.Data))
	case bson.ObjectID:
		y := b.(bson.ObjectID)
		return bytes.Compare(x[:], y[:])
	case bson.Timestamp:
		y := b.(bson.Timestamp)
		return cmp.Or(cmp.Compare(x.T, y.T), cmp.Compare(x.I, y.I))
	case bson.Regex:
		y := b.(bson.Regex)
		return cmp.Or(strings.Compare(x.Pattern, y.Pattern), strings.Compare(x.Options, y.Options))
	case bson.DBPointer:
		y := b.(bson.DBPointer)
		return cmp.Or(cmp.Compare(len(x.DB), len(y.DB)), strings.Compare(x.DB, y.DB),
			bytes.Compare(x.Pointer[:], y.Pointer[:]))
	case bson.JavaScript:
		return strings.Compare(string(x), string(b.(bson.JavaScript)))
	case bson.CodeWithScope:
		y := b.(bson.CodeWithScope)
		xs, _ := x.Scope.(bson.D)
		ys, _ := y.Scope.(bson.D)
		return cmp.Or(strings.Compare(string(x.Code), string(y.Code)), compareDocuments(xs, ys))
	}
	return 0 // missing and undefined, null, minKey, maxKey
}

// compareDocuments compares field by field, in their order: the class of the type, then the name, then the value. So
// {b: 1} is before {a: "x"}. If all fields are equal, the document with fewer fields is first.
func compareDocuments(a, b bson.D) int {
	for i := range min(len(a), len(b)) {
		x, y := &a[i], &b[i]
		if c := cmp.Compare(Rank(x.Value), Rank(y.Value)); c != 0 {
			return c
		}
		if c := strings.Compare(x.Key, y.Key); c != 0 {
			return c
		}
		if c := Compare(x.Value, y.Value); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// compareArrays compares element by element. If all are equal, the shorter array is first.
func compareArrays(a, b bson.A) int {
	for i := range min(len(a), len(b)) {
		if c := Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// compareBools has false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// stringOf returns the text of a string or a symbol.
func stringOf(v any) string {
	if s, ok := v.(bson.Symbol); ok {
		return string(s)
	}
	s, _ := v.(string)
	return s
}
