package expr

import (
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// trigonometry are operators on angles, in radians unless they say degrees. The results are doubles, or decimals for a
// decimal. Package bsonval computes, this file checks the arguments.
//
//	{$acos: 1}                 →   0.0
//	{$atan2: [1, -1]}          →   2.356194490192345
//	{$degreesToRadians: 7}     →   0.12217304763960307
var trigonometry = table{
	"$sin":   parseAngle("$sin", everywhere),
	"$cos":   parseAngle("$cos", everywhere),
	"$tan":   parseAngle("$tan", everywhere),
	"$asin":  parseAngle("$asin", aroundZero),
	"$acos":  parseAngle("$acos", aroundZero),
	"$atan":  parseAngle("$atan", nil),
	"$sinh":  parseAngle("$sinh", nil),
	"$cosh":  parseAngle("$cosh", nil),
	"$tanh":  parseAngle("$tanh", nil),
	"$asinh": parseAngle("$asinh", nil),
	"$acosh": parseAngle("$acosh", fromOne),
	"$atanh": parseAngle("$atanh", aroundZero),
	"$atan2": call(2, 2, atan2),
	"$degreesToRadians": call(1, 1,
		takeNumber("$degreesToRadians", func(v any) (any, error) { return bsonval.Radians(v), nil })),
	"$radiansToDegrees": call(1, 1,
		takeNumber("$radiansToDegrees", func(v any) (any, error) { return bsonval.Degrees(v), nil })),
}

// domain is the interval in which a function has values. NaN is in every domain: its result is NaN.
type domain struct {
	text     string // for the error, as MongoDB writes the interval
	contains func(v any) bool
}

// The domains of the operators. An operator without a domain accepts infinity too.
var (
	everywhere = &domain{"(-inf,inf)", func(v any) bool { return !isInfinite(v) }}
	aroundZero = &domain{
		text: "[-1,1]",
		contains: func(v any) bool {
			return bsonval.Compare(v, int32(-1)) >= 0 && bsonval.Compare(v, int32(1)) <= 0
		},
	}
	fromOne = &domain{"[1,inf]", func(v any) bool { return bsonval.Compare(v, int32(1)) >= 0 }}
)

// parseAngle returns the parser of an operator. in is nil for a function that has values everywhere, also at infinity.
func parseAngle(name string, in *domain) parser {
	compute := func(v any) (any, error) {
		if in != nil && !bsonval.IsNaN(v) && !in.contains(v) {
			return nil, mongoerr.New(50989,
				"cannot apply %s to %s, value must be in %s", name, showOutside(v), in.text)
		}
		result, ok := bsonval.Trigonometric(strings.TrimPrefix(name, "$"), v)
		if !ok {
			return nil, mongoerr.New(mongoerr.NotImplemented,
				"%s of a decimal as large as %s isn't implemented by the embedded engine", name, renderText(v))
		}
		return result, nil
	}
	return call(1, 1, takeNumber(name, compute))
}

// showOutside renders a number that is outside of the domain. MongoDB writes an infinite double as inf here.
func showOutside(v any) string {
	if f, ok := v.(float64); ok && isInfinite(v) {
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))
	}
	return renderText(v)
}

// atan2 is {$atan2: [y, x]}. The codes are 51044 for y and 51045 for x.
func atan2(args []any) (any, error) {
	for i, v := range args {
		switch {
		case bsonval.IsNullish(v):
			return nil, nil
		case !bsonval.IsNumber(v):
			return nil, mongoerr.New(int32(51044+i), "$atan2 only supports numeric types, not %s", bsonval.TypeName(v))
		}
	}
	return bsonval.Atan2(args[0], args[1]), nil
}
