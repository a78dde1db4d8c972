package bsonval

import (
	"bytes"
	"cmp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Compare returns -1, 0 or +1 in MongoDB's comparison order, which is total:
// first by the rank of the types, then by value. Numbers compare exactly
// across their types, NaN before all of them. Missing and undefined come
// before null; a sort, which takes a missing field for null, has to say so.
func Compare(a, b any) int {
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
		return strings.Compare(text(a), text(b))
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

func compareRare(a, b any) int {
	switch x := a.(type) {
	case bson.Binary:
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

// compareDocuments compares field by field: type, then name, then value.
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

func compareArrays(a, b bson.A) int {
	for i := range min(len(a), len(b)) {
		if c := Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func text(v any) string {
	if s, ok := v.(bson.Symbol); ok {
		return string(s)
	}
	s, _ := v.(string)
	return s
}
