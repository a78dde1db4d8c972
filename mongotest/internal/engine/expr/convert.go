package expr

// This file converts values between types. The manual's table of $convert lists the conversions
// (https://www.mongodb.com/docs/manual/reference/operator/aggregation/convert/). A conversion that doesn't exist, and a
// value that can't be converted, are the error ConversionFailure, which the part onError of $convert catches.

import (
	"math"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/dates"
)

// conversions are operators that convert a value to another type, and operators that return or check a value's type.
//
//	{$toInt: "15"}                                        →   15
//	{$toString: 2.0}                                      →   "2"
//	{$toDate: "2020-01-02"}                               →   the date
//	{$convert: {input: "x", to: "int", onError: -1}}      →   -1
//	{$type: "$nope"}                                      →   "missing"
var conversions = table{
	"$toString":   convertTo(bson.TypeString),
	"$toInt":      convertTo(bson.TypeInt32),
	"$toLong":     convertTo(bson.TypeInt64),
	"$toDouble":   convertTo(bson.TypeDouble),
	"$toDecimal":  convertTo(bson.TypeDecimal128),
	"$toBool":     convertTo(bson.TypeBoolean),
	"$toDate":     convertTo(bson.TypeDateTime),
	"$toObjectId": convertTo(bson.TypeObjectID),
	"$convert":    parseConvert,
	"$type":       call(1, 1, func(a []any) (any, error) { return bsonval.TypeName(a[0]), nil }),
	"$isNumber":   call(1, 1, func(a []any) (any, error) { return bsonval.IsNumber(a[0]), nil }),
}

// convertTo returns the parser of an operator that converts to one type: {$toInt: value} is {$convert: {input: value,
// to: "int"}}.
func convertTo(t bson.Type) parser {
	return call(1, 1, func(args []any) (any, error) {
		if bsonval.IsNullish(args[0]) {
			return nil, nil
		}
		return convert(args[0], t)
	})
}

// parseConvert parses {$convert: {input: …, to: "int", onError: …, onNull: …}}.
func parseConvert(name string, arg any, s Scope) (Expr, error) {
	parts, err := parseParts(name, arg, s, convertErrors, "input!", "to!", "onError", "onNull")
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) { return convertInput(c, parts) }), nil
}

// convertInput evaluates $convert. A nullish input gives onNull, before the type is looked at. Errors in the arguments
// themselves, such as an unknown type, aren't caught by onError.
func convertInput(c *Context, parts map[string]Expr) (any, error) {
	to, err := parts["to"].Eval(c)
	if err != nil {
		return nil, err
	}
	v, err := parts["input"].Eval(c)
	if err != nil {
		return nil, err
	}
	if bsonval.IsNullish(v) {
		return evalPart(c, parts["onNull"], nil)
	}
	if bsonval.IsNullish(to) {
		return nil, nil
	}
	t, err := readType(to)
	if err != nil {
		return nil, err
	}
	out, err := convert(v, t)
	if err != nil && mongoerr.Convert(err).Code == mongoerr.ConversionFailure && parts["onError"] != nil {
		return parts["onError"].Eval(c)
	}
	return out, err
}

// readType reads the target type of $convert: a name such as "int", or BSON's number of the type, 16.
func readType(v any) (bson.Type, error) {
	if name, ok := v.(string); ok {
		if t, ok := bsonval.TypeByAlias(name); ok {
			return t, nil
		}
		return 0, mongoerr.New(mongoerr.BadValue, "Unknown type name: %s", name)
	}
	n, ok := bsonval.Int64(v)
	if !ok {
		return 0, mongoerr.New(mongoerr.FailedToParse,
			"$convert's 'to' argument must be a string or number, but is %s", bsonval.TypeName(v))
	}
	return bson.Type(n), nil
}

// newConversionError returns the error that onError catches. MongoDB ends its text in this way for $toInt and the like,
// too.
func newConversionError(format string, args ...any) error {
	e := mongoerr.New(mongoerr.ConversionFailure, format, args...)
	e.Message += " in $convert with no onError value"
	return e
}

// newUnsupportedError returns the error of a conversion that doesn't exist between these types.
func newUnsupportedError(v any, to bson.Type) error {
	return newConversionError("Unsupported conversion from %s to %s", bsonval.TypeName(v), bsonval.TypeAlias(to))
}

// convert converts a value that isn't nullish, or fails with the code ConversionFailure. A value that has the type
// already is returned. The other conversions:
//
//	to            from
//	bool          any value: the string "false" is true
//	string        bool, number, ObjectId, date
//	int           bool, number, string
//	long          bool, number, string, date
//	double        bool, number, string, date
//	decimal       bool, number, string, date
//	date          long, double, decimal, string, ObjectId
//	ObjectId      string of 24 hexadecimal digits
//
// MongoDB has more conversions, such as those of binary data. They are refused like a conversion that doesn't exist.
func convert(v any, to bson.Type) (any, error) {
	if bsonval.Type(v) == to {
		return v, nil
	}
	switch to {
	case bson.TypeBoolean:
		return bsonval.Truthy(v), nil
	case bson.TypeString:
		switch v.(type) {
		case bool, int32, int64, float64, bson.Decimal128, bson.ObjectID, bson.DateTime:
			return renderText(v), nil
		}
	case bson.TypeInt32, bson.TypeInt64:
		return toInteger(v, to)
	case bson.TypeDouble, bson.TypeDecimal128:
		return toFraction(v, to)
	case bson.TypeDateTime:
		return toDate(v)
	case bson.TypeObjectID:
		if s, ok := v.(string); ok {
			id, err := bson.ObjectIDFromHex(s)
			if err != nil {
				return nil, newConversionError("Failed to parse objectId '%s'", s)
			}
			return id, nil
		}
	}
	return nil, newUnsupportedError(v, to)
}

// renderText renders a number, bool, date or ObjectId as $toString does. Operators that take strings call it for other
// values too, and errors for numbers. It returns "" for any other type.
func renderText(v any) string {
	switch x := v.(type) {
	case bool:
		return strconv.FormatBool(x)
	case int32:
		return strconv.Itoa(int(x))
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		switch {
		case math.IsNaN(x):
			return "NaN"
		case math.IsInf(x, 0):
			// Go writes +Inf and -Inf, MongoDB Infinity and -Infinity.
			return strings.TrimPrefix(strconv.FormatFloat(x, 'g', -1, 64), "+") + "inity"
		}
		return strconv.FormatFloat(x, 'g', 16, 64) // up to 16 digits, as in MongoDB: 0.1 + 0.2 is "0.3"
	case bson.Decimal128:
		return x.String()
	case bson.ObjectID:
		return x.Hex()
	case bson.DateTime:
		return x.Time().UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return ""
}

// toInteger converts to an int or a long. A number loses its fraction. A string must be whole: "1.5" fails. A date is a
// long, the milliseconds since 1970, and can't be an int.
func toInteger(v any, to bson.Type) (any, error) {
	var n int64
	ok := true // n is in the range of a long
	switch x := v.(type) {
	case bool:
		if x {
			n = 1
		}
	case string:
		var err error
		n, err = strconv.ParseInt(x, 10, map[bson.Type]int{bson.TypeInt32: 32, bson.TypeInt64: 64}[to])
		if err != nil || strings.HasPrefix(x, "+") {
			return nil, newConversionError("Failed to parse number '%s'", x)
		}
	case bson.DateTime:
		if to == bson.TypeInt32 {
			return nil, newUnsupportedError(v, to)
		}
		n = int64(x)
	default:
		switch {
		case !bsonval.IsNumber(v):
			return nil, newUnsupportedError(v, to)
		case bsonval.IsNaN(v):
			return nil, newConversionError("Attempt to convert NaN value to integer type")
		}
		// A finite decimal can be as large as an infinite double. It has the same error.
		if n, ok = bsonval.TruncInt64(v); !ok && math.IsInf(toFloat(v), 0) {
			return nil, newConversionError("Attempt to convert infinity value to integer type")
		}
	}
	if to == bson.TypeInt32 {
		if !ok || n < math.MinInt32 || n > math.MaxInt32 {
			return nil, newConversionError("Conversion would overflow target type")
		}
		return int32(n), nil
	}
	if !ok {
		return nil, newConversionError("Conversion would overflow target type")
	}
	return n, nil
}

// toFraction converts to a double or a decimal. A date is the milliseconds since 1970.
func toFraction(v any, to bson.Type) (any, error) {
	switch x := v.(type) {
	case bool:
		v = int32(0)
		if x {
			v = int32(1)
		}
	case bson.DateTime:
		v = int64(x)
	case string:
		// Go reads hexadecimal numbers and underscores, MongoDB doesn't.
		if strings.ContainsAny(x, "_xXpP ") {
			return nil, newConversionError("Failed to parse number '%s'", x)
		}
		if to == bson.TypeDecimal128 {
			d, err := bson.ParseDecimal128(x)
			if err != nil {
				return nil, newConversionError("Failed to parse number '%s'", x)
			}
			return d, nil
		}
		f, err := strconv.ParseFloat(x, 64)
		if err != nil {
			return nil, newConversionError("Failed to parse number '%s'", x)
		}
		return f, nil
	}
	if !bsonval.IsNumber(v) {
		return nil, newUnsupportedError(v, to)
	}
	if to == bson.TypeDecimal128 {
		d, _ := bsonval.Decimal(v)
		return d, nil
	}
	f := toFloat(v)
	// A finite decimal that is too large for a double.
	if math.IsInf(f, 0) && bsonval.Compare(v, f) != 0 {
		return nil, newConversionError("Conversion would overflow target type")
	}
	return f, nil
}

// toDate converts to a date: an ObjectId by the time in it, a number as milliseconds since 1970, a string in one of the
// forms that package dates reads. An int can't be a date, as in MongoDB.
func toDate(v any) (any, error) {
	switch x := v.(type) {
	case bson.ObjectID:
		return bson.NewDateTimeFromTime(x.Timestamp()), nil
	case string:
		return dates.Parse(x, time.UTC)
	case int64, float64, bson.Decimal128:
		n, ok := bsonval.TruncInt64(x)
		if !ok {
			return nil, newConversionError("Conversion would overflow target type")
		}
		return bson.DateTime(n), nil
	}
	return nil, newUnsupportedError(v, bson.TypeDateTime)
}
