// Package bsonval has BSON values in one Go form, and decodes, encodes, compares and computes with them as MongoDB
// does.
//
// Three parts of the library must agree on what a value is, and so call it:
//
//   - The engine under mongotest decodes each request, evaluates queries, expressions and updates, and encodes the
//     answer.
//   - Package model and the techniques compare stored values that they have read, such as the value of a copy with its
//     source. They group documents by the key of an _id.
//   - Package model checks resume tokens, hashed shard keys and the nesting of filters.
//
// # The canonical form
//
// A decoded value has one of these Go types, and no other:
//
//	bson.D      a document        float64, int32, int64, bson.Decimal128       numbers
//	bson.A      an array          string, bool, nil (null), bson.ObjectID, bson.DateTime, bson.Binary, bson.Regex,
//	                              bson.Timestamp, bson.JavaScript, bson.CodeWithScope, bson.Symbol, bson.DBPointer,
//	                              bson.Undefined, bson.MinKey, bson.MaxKey
//
// A field that isn't there is [Missing]. A Go value of another type, such as an int, is a mistake of the caller: [Type]
// returns 0 for it, and [Append] refuses it.
//
// An encoded value is a bson.RawValue. The functions for encoded values have Raw in their names, or say so. They are
// for code outside the engine, which has documents as the driver returns them.
//
// # Files
//
//   - value.go, types.go and path.go: documents, types and dotted paths. frame.go and token.go: limits and resume
//     tokens.
//   - decode.go and append.go: from bytes to values, and back.
//   - compare.go and number.go: the order of values. equal.go: identity. key.go and hash.go: keys of maps, and
//     MongoDB's hash. raw.go: the same for encoded values.
//   - arith.go: sums and products. elementary.go and trigonometry.go: functions of numbers. They stand on decimal.go
//     and decimal_math.go for decimals, and on calculator.go for numbers with more digits.
//   - text.go and show.go: values in messages. regex.go: regular expressions.
//   - Package order sorts documents, package valuetest writes values for tests.
//
// # Three kinds of equality
//
//	Equal(int32(1), 1.0)         false   the same type and bytes: "the update changes nothing"
//	Compare(int32(1), 1.0) == 0  true    the same place in the order: queries and indexes
//	AppendKey, Key               the same bytes exactly if Compare is 0: maps
//
// # Invariants
//
//   - Values are immutable: nobody changes a bson.D, a bson.A or the bytes of a bson.Binary in place. A change copies
//     the documents on the way to it, and shares the rest.
//   - Compare, CompareRaw, AppendKey, Key and Class agree. A change of one is a change of all, and the tests compare
//     them.
//   - Numbers are compared exactly, also across types: no comparison rounds a long to a double.
//
// The manual decides: the page on comparison and sort order for [Compare]
// (https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/), and the page on BSON types for the
// names of types (https://www.mongodb.com/docs/manual/reference/bson-types/). Collations aren't here: package
// collation of the engine converts strings before it compares.
package bsonval

import "go.mongodb.org/mongo-driver/v2/bson"

// MaxDepth is the deepest nesting of documents and arrays that [Decode] accepts. It is MongoDB's own limit for the
// BSON that a server receives. For values that the library encodes see [MaxLevels].
const MaxDepth = 200

// missing has one value. A type of its own can't be mistaken for a value of a user.
type missing struct{}

// Missing stands for a field that isn't there. It can't be encoded: expressions and updates take it as an answer, and
// their callers leave out the field.
var Missing any = missing{}

// IsMissing reports whether v stands for a field that isn't there.
func IsMissing(v any) bool {
	_, ok := v.(missing)
	return ok
}

// IsNullish reports whether v is null, undefined or missing. Most expressions return null if an argument is nullish.
func IsNullish(v any) bool {
	switch v.(type) {
	case nil, missing, bson.Undefined, bson.Null:
		return true
	}
	return false
}

// Get returns the value of the document's first field of that name, or Missing and false. BSON allows a name twice, and
// MongoDB looks at the first field too.
func Get(d bson.D, key string) (any, bool) {
	for i := range d {
		if d[i].Key == key {
			return d[i].Value, true
		}
	}
	return Missing, false
}

// Index returns the position of the document's first field of that name, or -1. A caller that changes a field needs the
// position.
func Index(d bson.D, key string) int {
	for i := range d {
		if d[i].Key == key {
			return i
		}
	}
	return -1
}

// SetField returns a copy of d in which the field has the value. The field keeps its place, and a new field is the
// last one.
func SetField(d bson.D, key string, v any) bson.D {
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

// RemoveField returns d without the field: a copy, or d itself if the field isn't there.
func RemoveField(d bson.D, key string) bson.D {
	i := Index(d, key)
	if i < 0 {
		return d
	}
	next := make(bson.D, 0, len(d)-1)
	next = append(next, d[:i]...)
	return append(next, d[i+1:]...)
}

// Depth returns how deeply documents and arrays nest in v: 0 for a scalar, 2 for {a: []}.
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
