package expr

import (
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// trigonometry is of angles in radians.
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

// domain is where a function has values.
type domain struct {
	text  string
	holds func(v any) bool
}

var (
	everywhere = &domain{"(-inf,inf)", func(v any) bool { return !isInfinite(v) }}
	aroundZero = &domain{
		text:  "[-1,1]",
		holds: func(v any) bool { return bsonval.Compare(v, int32(-1)) >= 0 && bsonval.Compare(v, int32(1)) <= 0 },
	}
	fromOne = &domain{"[1,inf]", func(v any) bool { return bsonval.Compare(v, int32(1)) >= 0 }}
)

func parseAngle(name string, in *domain) parser {
	return call(1, 1, takeNumber(name, func(v any) (any, error) {
		if in != nil && !bsonval.IsNaN(v) && !in.holds(v) {
			return nil, mongoerr.New(50989, "cannot apply %s to %s, value must be in %s", name, showInDomain(v), in.text)
		}
		result, ok := bsonval.Trigonometric(strings.TrimPrefix(name, "$"), v)
		if !ok {
			return nil, mongoerr.New(mongoerr.NotImplemented,
				"%s of a decimal as large as %s isn't implemented by the embedded engine", name, renderText(v))
		}
		return result, nil
	}))
}

// showInDomain renders a number that is in no domain.
func showInDomain(v any) string {
	if f, ok := v.(float64); ok && isInfinite(v) {
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))
	}
	return renderText(v)
}

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
