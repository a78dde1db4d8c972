// Package mongosh writes values as expressions of MongoDB's shell, with their exact types. Who pastes an expression
// into mongosh stores the same BSON (https://www.mongodb.com/docs/mongodb-shell/reference/data-types/).
//
// Package model writes plans and queries by it (model/shell.go), package modeltest the commands in its reports, and
// package mongotest recorded commands and differences of documents.
//
//	int32, int64               5, Long('5')
//	double                     2.5, Double(5), NaN, Infinity
//	string                     'it\'s'
//	document, array            {a: 1, 'b.c': 2}, [1, 2]
//	ObjectId, date             ObjectId('…'), ISODate('2024-05-03T00:00:00.000Z')
//	decimal, binary, UUID      Decimal128('5'), BinData(0, 'AA=='), UUID('…')
//	regular expression         RegExp('^a', 'i'), or BSONRegExp if JavaScript would change it
//	other types                Timestamp({t: 1, i: 1}), MinKey(), MaxKey(), undefined, BSONSymbol('a'), Code('…')
//
// # Rules
//
//   - The output has one line, and never fails: bytes that aren't a valid value become a comment, /* … */, and so does
//     a value that is nested too deeply.
//   - A name is written without quotes if JavaScript allows it.
//   - The texts aren't part of the API: golden files of this module compare them, programs must not.
package mongosh

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Text returns a value as an expression.
func Text(v bson.RawValue) string { return string(appendValue(nil, v, 0)) }

// Document returns a document as an expression.
func Document(doc bson.Raw) string {
	return Text(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc})
}

// Quote returns a string as an expression.
func Quote(s string) string { return string(appendString(nil, s)) }

// Shorten cuts an expression after n bytes, and marks the cut by an ellipsis. The result is for people, not for
// mongosh.
func Shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// appendValue appends a value to b. depth is how many documents and arrays are around it.
func appendValue(b []byte, v bson.RawValue, depth int) []byte {
	switch {
	case depth > bsonval.MaxLevels:
		return fmt.Appendf(b, "/* nested deeper than %d levels */", bsonval.MaxLevels)
	case !bsonval.WellFormed(v):
		return fmt.Appendf(b, "/* invalid bytes of a %s */", v.Type)
	}
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		return appendDocument(b, bson.Raw(v.Value), depth)
	case bson.TypeArray:
		return appendArray(b, bson.RawArray(v.Value), depth)
	case bson.TypeString:
		return appendString(b, v.StringValue())
	case bson.TypeInt32:
		return strconv.AppendInt(b, int64(v.Int32()), 10)
	case bson.TypeInt64:
		return append(strconv.AppendInt(append(b, "Long('"...), v.Int64(), 10), "')"...)
	case bson.TypeDouble:
		return appendDouble(b, v.Double())
	case bson.TypeBoolean:
		return strconv.AppendBool(b, v.Boolean())
	case bson.TypeNull:
		return append(b, "null"...)
	case bson.TypeObjectID:
		return append(append(append(b, "ObjectId('"...), v.ObjectID().Hex()...), "')"...)
	case bson.TypeDateTime:
		return appendDate(b, v.DateTime())
	}
	return append(b, describeRare(v, depth)...)
}

// appendDocument appends a document, {name: value, …}.
func appendDocument(b []byte, doc bson.Raw, depth int) []byte {
	elems, err := doc.Elements()
	if err != nil {
		return fmt.Appendf(b, "/* %v */", err)
	}
	b = append(b, '{')
	for i, e := range elems {
		if i > 0 {
			b = append(b, ", "...)
		}
		switch key := e.Key(); {
		case key == "__proto__": // a plain key with this name sets the object's prototype
			b = append(b, "['__proto__']"...)
		case IsIdentifier(key):
			b = append(b, key...)
		default:
			b = appendString(b, key)
		}
		b = appendValue(append(b, ": "...), e.Value(), depth+1)
	}
	return append(b, '}')
}

// appendArray appends an array.
func appendArray(b []byte, arr bson.RawArray, depth int) []byte {
	values, err := arr.Values()
	if err != nil {
		return fmt.Appendf(b, "/* %v */", err)
	}
	b = append(b, '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendValue(b, v, depth+1)
	}
	return append(b, ']')
}

// appendString appends a string in single quotes. It escapes quotes, backslashes, control characters, and the two line
// separators that end a line of JavaScript.
func appendString(b []byte, s string) []byte {
	b = append(b, '\'')
	plain := 0 // s[plain:i] needs no escape
	for i, r := range s {
		if r >= ' ' && r != '\'' && r != '\\' && r != 0x7f && r != 0x2028 && r != 0x2029 && r != utf8.RuneError {
			continue
		}
		b = append(b, s[plain:i]...)
		_, size := utf8.DecodeRuneInString(s[i:])
		plain = i + size
		switch r {
		case '\'', '\\':
			b = append(b, '\\', byte(r))
		case '\n':
			b = append(b, '\\', 'n')
		case utf8.RuneError:
			b = utf8.AppendRune(b, r)
		default:
			b = fmt.Appendf(b, "\\u%04x", r)
		}
	}
	return append(append(b, s[plain:]...), '\'')
}

// appendDouble writes whole numbers as Double(5), because mongosh stores a plain 5 as an int.
func appendDouble(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	case f == math.Trunc(f):
		return append(strconv.AppendFloat(append(b, "Double("...), f, 'g', -1, 64), ')')
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

// appendDate appends a date, given in milliseconds since 1970. ISODate only takes years of four digits.
func appendDate(b []byte, ms int64) []byte {
	t := time.UnixMilli(ms).UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return append(strconv.AppendInt(append(b, "new Date("...), ms, 10), ')')
	}
	return append(t.AppendFormat(append(b, "ISODate('"...), "2006-01-02T15:04:05.000Z"), "')"...)
}

// describeRare returns a value of a type that documents seldom have.
func describeRare(v bson.RawValue, depth int) string {
	switch v.Type {
	case bson.TypeDecimal128:
		return "Decimal128('" + v.Decimal128().String() + "')"
	case bson.TypeBinary:
		subtype, data := v.Binary()
		if subtype == bson.TypeBinaryUUID && len(data) == 16 {
			h := hex.EncodeToString(data)
			return "UUID('" + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:] + "')"
		}
		return fmt.Sprintf("BinData(%d, '%s')", subtype, base64.StdEncoding.EncodeToString(data))
	case bson.TypeRegex:
		pattern, flags := v.Regex()
		name := "RegExp"
		if pattern == "" || strings.Contains(pattern, "(?") || strings.Trim(flags, "ims") != "" {
			name = "BSONRegExp" // JavaScript's RegExp would change or refuse it
		}
		if flags == "" {
			return name + "(" + string(appendString(nil, pattern)) + ")"
		}
		return name + "(" + string(appendString(nil, pattern)) + ", " + string(appendString(nil, flags)) + ")"
	case bson.TypeTimestamp:
		t, i := v.Timestamp()
		return fmt.Sprintf("Timestamp({t: %d, i: %d})", t, i)
	case bson.TypeMinKey:
		return "MinKey()"
	case bson.TypeMaxKey:
		return "MaxKey()"
	case bson.TypeUndefined:
		return "undefined"
	case bson.TypeSymbol:
		return "BSONSymbol(" + string(appendString(nil, v.Symbol())) + ")"
	case bson.TypeJavaScript:
		return "Code(" + string(appendString(nil, v.JavaScript())) + ")"
	case bson.TypeCodeWithScope:
		code, scope := v.CodeWithScope()
		return "Code(" + string(appendString(nil, code)) + ", " + string(appendDocument(nil, scope, depth+1)) + ")"
	}
	return v.String()
}

// IsIdentifier reports whether a field or collection of this name needs no quotes.
func IsIdentifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || r == '$' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
