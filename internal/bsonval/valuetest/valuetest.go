// Package valuetest writes values for tests in a short notation: extended JSON
// whose names need no quotes and whose strings may stand in single quotes,
//
//	valuetest.Doc("{a: 1, b: ['x', 2.5, {$numberLong: '3'}]}")
//
// Whole numbers are ints, or longs when they don't fit.
package valuetest

import (
	"fmt"
	"regexp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Doc returns the document that the text describes. It panics on a mistake in the text.
func Doc(text string) bson.D {
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(quote(text)), false, &d); err != nil {
		panic(fmt.Sprintf("valuetest: %v in %s", err, text))
	}
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

// Text returns a value in relaxed extended JSON, in which int, long and double may look alike.
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

var token = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'|[\p{L}_$][\p{L}\d_.$\[\]]*\s*:|\d[\d.\w]*\s*:`)

func quote(text string) string {
	return token.ReplaceAllStringFunc(text, func(t string) string {
		switch t[0] {
		case '"':
			return t
		case '\'':
			return `"` + strings.ReplaceAll(t[1:len(t)-1], `"`, `\"`) + `"`
		}
		name := strings.TrimRight(t[:len(t)-1], " ")
		return `"` + name + `":`
	})
}
