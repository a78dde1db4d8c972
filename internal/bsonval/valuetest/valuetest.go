// Package valuetest writes BSON values for tests in a short notation, and prints them. The tests of the engine and of
// package bsonval call it. It imports bsonval, so tests that are inside package bsonval are in package bsonval_test.
//
//	valuetest.Doc("{a: 1, b: ['x', 2.5, {$numberLong: '3'}]}")     bson.D
//	valuetest.Array("[1, {$oid: '0102030405060708090a0b0c'}]")     bson.A
//	valuetest.Value("null")                                        any value
//	valuetest.Value("missing")                                     bsonval.Missing
//	valuetest.Text(v)                                              the value in a test's message
//
// # The notation
//
// It is MongoDB's extended JSON (https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/), with these
// additions:
//
//   - The name of a field needs no quotes. It may contain dots, digits, $ and brackets: {a.0.$[x]: 1}.
//   - A string may be in single quotes, without escapes.
//
// Whole numbers are ints, or longs if they don't fit. A number with a point is a double. Other types are written as
// {$numberLong: '3'}, {$numberDecimal: '1.50'}, {$date: …} and so on.
//
// The results have bsonval's canonical form. A mistake in the text panics, because it is a mistake in the test.
package valuetest

import (
	"fmt"
	"regexp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Doc returns the document that the text describes.
func Doc(text string) bson.D {
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(quote(text)), false, &d); err != nil {
		panic(fmt.Sprintf("valuetest: %v in %s", err, text))
	}
	// The driver's values, such as int64 and bson.DateTime, become canonical by way of their bytes.
	b, err := bson.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("valuetest: %v in %s", err, text))
	}
	d, err = bsonval.Decode(b)
	if err != nil {
		panic(fmt.Sprintf("valuetest: %v in %s", err, text))
	}
	return d
}

// Value returns the value that the text describes: "1", "'x'", "[1, null]", "{a: 1}"; "missing" is bsonval.Missing.
func Value(text string) any {
	if text == "missing" {
		return bsonval.Missing
	}
	return Doc("{v: " + text + "}")[0].Value
}

// Array returns the array that the text describes.
func Array(text string) bson.A { return Value(text).(bson.A) }

// Text returns a value in relaxed extended JSON. The int 1, the long 1 and the double 1.0 look alike there, so tests
// of types compare with bsonval.Equal.
func Text(v any) string {
	if bsonval.IsMissing(v) {
		return "missing"
	}
	b, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: v}}, false, false)
	if err != nil {
		return fmt.Sprintf("%#v", v)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(b), `{"v":`), "}")
}

// token matches a string in double quotes, a string in single quotes, or a name without quotes and its colon.
var token = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'|[\p{L}_$][\p{L}\d_.$\[\]]*\s*:|\d[\d.\w]*\s*:`)

// quote converts the notation to JSON.
func quote(text string) string { return token.ReplaceAllStringFunc(text, quoteToken) }

// quoteToken converts what token matches. A string in double quotes is JSON already. It is matched so that its contents
// aren't taken for names.
func quoteToken(t string) string {
	switch t[0] {
	case '"':
		return t
	case '\'':
		return `"` + strings.ReplaceAll(t[1:len(t)-1], `"`, `\"`) + `"`
	}
	name := strings.TrimRight(t[:len(t)-1], " ")
	return `"` + name + `":`
}
