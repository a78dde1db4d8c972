// Values in the notation of MongoDB's own messages.

package bsonval

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Text writes a value as MongoDB's messages do: { a: 1, b: "x" }. The engine uses it where drivers and tests compare
// the text of a message, such as that of a duplicate key.
func Text(v any) string {
	var b strings.Builder
	writeText(&b, v)
	return b.String()
}

// writeText writes a value without regard to types that look alike: an int and a long are both 1.
func writeText(b *strings.Builder, v any) {
	switch v := v.(type) {
	case bson.D:
		writeDocument(b, v)
	case bson.A:
		writeArray(b, v)
	case nil:
		b.WriteString("null")
	case string:
		b.WriteString(strconv.Quote(v))
	case float64:
		b.WriteString(formatDouble(v))
	case bson.ObjectID:
		fmt.Fprintf(b, "ObjectId('%s')", v.Hex())
	case bson.DateTime:
		fmt.Fprintf(b, "new Date(%d)", int64(v))
	case bson.Timestamp:
		fmt.Fprintf(b, "Timestamp(%d, %d)", v.T, v.I)
	case bson.Binary: // in hexadecimal digits, where the shell has base64
		fmt.Fprintf(b, "BinData(%d, %s)", v.Subtype, strings.ToUpper(hex.EncodeToString(v.Data)))
	case bson.Regex:
		fmt.Fprintf(b, "/%s/%s", v.Pattern, v.Options)
	case bson.MinKey:
		b.WriteString("MinKey")
	case bson.MaxKey:
		b.WriteString("MaxKey")
	case bson.Undefined:
		b.WriteString("undefined")
	case bson.Decimal128:
		fmt.Fprintf(b, "Decimal128('%s')", v)
	default:
		fmt.Fprint(b, v)
	}
}

// writeDocument writes names without quotes, whatever characters they have.
func writeDocument(b *strings.Builder, d bson.D) {
	if len(d) == 0 {
		b.WriteString("{}")
		return
	}
	b.WriteString("{ ")
	for i, e := range d {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(e.Key)
		b.WriteString(": ")
		writeText(b, e.Value)
	}
	b.WriteString(" }")
}

func writeArray(b *strings.Builder, a bson.A) {
	if len(a) == 0 {
		b.WriteString("[]")
		return
	}
	b.WriteString("[ ")
	for i, v := range a {
		if i > 0 {
			b.WriteString(", ")
		}
		writeText(b, v)
	}
	b.WriteString(" ]")
}

// formatDouble writes a double as MongoDB's messages do: 1.0 for a whole number, nan.0 and inf.0.
func formatDouble(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan.0"
	case math.IsInf(f, 1):
		return "inf.0"
	case math.IsInf(f, -1):
		return "-inf.0"
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
