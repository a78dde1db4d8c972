package expr

// This file reads numbers for operators, and for other packages whose operators have the same errors.

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// toFloat returns a number as the nearest double, 0 for a value that isn't a number.
func toFloat(v any) float64 {
	f, _ := bsonval.Float(v)
	return f
}

// isInfinite reports whether a number is an infinity.
func isInfinite(v any) bool {
	switch v := v.(type) {
	case float64:
		return math.IsInf(v, 0)
	case bson.Decimal128:
		return v.IsInf() != 0
	}
	return false
}

// toInt32 returns a number that is whole and fits into 32 bits, else false. It returns an int64 because callers go on
// computing with it.
func toInt32(v any) (int64, bool) {
	n, ok := bsonval.Int64(v)
	return n, ok && n >= math.MinInt32 && n <= math.MaxInt32
}

// Whole reads a whole number, or returns the text of the error that names the field. Package query calls it for
// operators without a field, such as $alwaysTrue.
func Whole(name string, v any) (n int64, problem string) {
	n, ok := bsonval.Int64(v)
	switch {
	case !bsonval.IsNumber(v):
		return 0, "Expected a number in: " + name + ": " + bsonval.Show(v)
	case !ok:
		return 0, "Expected an integer: " + name + ": " + bsonval.Show(v)
	}
	return n, ""
}

// NonNegative reads a whole number that isn't negative, or returns the text of the error that names the field. Package
// pipeline calls it for $limit and $skip, and package query for $size.
func NonNegative(name string, v any) (n int64, problem string) {
	n, ok := bsonval.Int64(v)
	switch {
	case !bsonval.IsNumber(v):
		problem = "Expected a number in: "
	case !ok:
		problem = "Expected an integer: "
	case n < 0:
		problem = "Expected a non-negative number in: "
	default:
		return n, ""
	}
	return 0, problem + name + ": " + bsonval.Show(v)
}
