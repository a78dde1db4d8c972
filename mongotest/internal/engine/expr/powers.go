package expr

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// powers are operators for powers, roots and logarithms. The results are doubles, or decimals if an argument is a
// decimal. Only $pow of integers can be an integer. Package bsonval computes, this file checks the arguments.
//
//	{$pow: [2, 31]}    →   the long 2147483648
//	{$pow: [2, -1]}    →   0.5
//	{$sqrt: 9}         →   3.0
//	{$log: [100, 10]}  →   2.0
var powers = table{
	"$pow":  call(2, 2, pow),
	"$exp":  call(1, 1, takeNumber("$exp", func(v any) (any, error) { return bsonval.Exp(v), nil })),
	"$sqrt": call(1, 1, takeNumber("$sqrt", sqrt)),
	"$ln": call(1, 1,
		takeNumber("$ln", takePositive(28766, "$ln's argument must be a positive number, but is %s", bsonval.Ln))),
	"$log10": call(1, 1,
		takeNumber("$log10",
			takePositive(28761, "$log10's argument must be a positive number, but is %s", bsonval.Log10))),
	"$log": call(2, 2, logarithm),
}

// showAsDouble renders a number in an error of these operators. MongoDB shows it as a double.
func showAsDouble(v any) string { return renderText(toFloat(v)) }

// isPositive reports whether a number is above 0, or NaN.
func isPositive(v any) bool { return bsonval.IsNaN(v) || bsonval.Compare(v, int32(0)) > 0 }

// replaceNaN returns the double NaN for a decimal NaN, as MongoDB's logarithms do, else v.
func replaceNaN(v any) any {
	if bsonval.IsNaN(v) {
		return math.NaN()
	}
	return v
}

// takePositive returns a function for takeNumber that refuses numbers which aren't positive.
func takePositive(code int32, format string, f func(v any) any) func(v any) (any, error) {
	return func(v any) (any, error) {
		if !isPositive(v) {
			return nil, mongoerr.New(code, format, showAsDouble(v))
		}
		return f(replaceNaN(v)), nil
	}
}

// sqrt is {$sqrt: number}.
func sqrt(v any) (any, error) {
	if !bsonval.IsNaN(v) && bsonval.Compare(v, int32(0)) < 0 {
		return nil, mongoerr.New(28714, "$sqrt's argument must be greater than or equal to 0")
	}
	return bsonval.Sqrt(v), nil
}

// logarithm is {$log: [number, base]}.
func logarithm(args []any) (any, error) {
	v, base := args[0], args[1]
	switch {
	case bsonval.IsNullish(v) || bsonval.IsNullish(base):
		return nil, nil
	case !bsonval.IsNumber(v):
		return nil, mongoerr.New(28756, "$log's argument must be numeric, not %s", bsonval.TypeName(v))
	case !bsonval.IsNumber(base):
		return nil, mongoerr.New(28757, "$log's base must be numeric, not %s", bsonval.TypeName(base))
	case !isPositive(v):
		return nil, mongoerr.New(28758, "$log's argument must be a positive number, but is %s", showAsDouble(v))
	case !isPositive(base) || bsonval.Compare(base, int32(1)) == 0:
		return nil, mongoerr.New(28759,
			"$log's base must be a positive number not equal to 1, but is %s", showAsDouble(base))
	case bsonval.IsNaN(v) || bsonval.IsNaN(base):
		return math.NaN(), nil
	}
	return bsonval.Log(v, base), nil
}

// pow is {$pow: [base, exponent]}. Of two ints the power is an int, or a long if it doesn't fit. With a long it is a
// long. A power that isn't whole or doesn't fit a long is a double.
func pow(args []any) (any, error) {
	base, exponent := args[0], args[1]
	switch {
	case bsonval.IsNullish(base) || bsonval.IsNullish(exponent):
		return nil, nil
	case !bsonval.IsNumber(base):
		return nil, mongoerr.New(28762, "$pow's base must be numeric, not %s", bsonval.TypeName(base))
	case !bsonval.IsNumber(exponent):
		return nil, mongoerr.New(28763, "$pow's exponent must be numeric, not %s", bsonval.TypeName(exponent))
	case bsonval.Compare(base, int32(0)) == 0 && !bsonval.IsNaN(exponent) && bsonval.Compare(exponent, int32(0)) < 0:
		return nil, mongoerr.New(28764, "$pow cannot take a base of 0 and a negative exponent")
	}
	if isInteger(base) && isInteger(exponent) {
		x, _ := bsonval.Int64(base)
		n, _ := bsonval.Int64(exponent)
		if p, ok := wholePower(x, n); ok {
			if bsonval.Type(base) == bson.TypeInt32 && bsonval.Type(exponent) == bson.TypeInt32 {
				return bsonval.Integer(p), nil
			}
			return p, nil
		}
	}
	return bsonval.Pow(base, exponent), nil
}

// isInteger reports whether a value is an int or a long. The double 2.0 isn't.
func isInteger(v any) bool {
	switch v.(type) {
	case int32, int64:
		return true
	}
	return false
}

// wholePower returns x to the power of n, false if it isn't a whole number that fits a long.
func wholePower(x, n int64) (int64, bool) {
	switch {
	case x == 1 || n == 0:
		return 1, true
	case x == -1:
		return 1 - 2*(n&1), true // -1 for an odd n
	case n < 0:
		return 0, false
	case x == 0:
		return 0, true
	case n > 63:
		return 0, false // beyond a long for any x from 2 on; and the loop below is short
	}
	p := any(int64(1))
	for range n {
		var ok bool
		if p, ok = bsonval.Mul(p, x); !ok {
			return 0, false
		}
	}
	return p.(int64), true
}
