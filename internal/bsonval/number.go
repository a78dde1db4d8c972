package bsonval

import (
	"cmp"
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// IsNumber reports whether v is an int, long, double or decimal.
func IsNumber(v any) bool {
	switch v.(type) {
	case int32, int64, float64, bson.Decimal128:
		return true
	}
	return false
}

// IsNaN reports whether v is a number that is not a number.
func IsNaN(v any) bool {
	switch v := v.(type) {
	case float64:
		return math.IsNaN(v)
	case bson.Decimal128:
		return v.IsNaN()
	}
	return false
}

// Int64 returns the number's value when it is integral and fits, else false.
func Int64(v any) (int64, bool) {
	switch v := v.(type) {
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case float64:
		if v != math.Trunc(v) || v < -1<<63 || v >= 1<<63 {
			return 0, false
		}
		return int64(v), true
	case bson.Decimal128:
		r, ok := decimalRat(v)
		if !ok || !r.IsInt() || !r.Num().IsInt64() {
			return 0, false
		}
		return r.Num().Int64(), true
	}
	return 0, false
}

// TruncInt64 returns the number without its fraction, false when it isn't a
// number or doesn't fit (NaN, infinite, too big).
func TruncInt64(v any) (int64, bool) {
	switch v := v.(type) {
	case float64:
		return Int64(math.Trunc(v))
	case bson.Decimal128:
		r, ok := decimalRat(v)
		if !ok {
			return 0, false
		}
		q := new(big.Int).Quo(r.Num(), r.Denom())
		return q.Int64(), q.IsInt64()
	}
	return Int64(v)
}

// Float returns the number as the nearest double, false when v is no number.
func Float(v any) (float64, bool) {
	switch v := v.(type) {
	case int32:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case bson.Decimal128:
		return decimalFloat(v), true
	}
	return 0, false
}

// Integer returns n as an int when it fits, else as a long.
func Integer(n int64) any {
	if n >= math.MinInt32 && n <= math.MaxInt32 {
		return int32(n)
	}
	return n
}

// Truthy reports whether an expression or a flag takes v for true: everything
// but false, null, undefined, missing and numbers equal to zero.
func Truthy(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case nil, missing, bson.Undefined, bson.Null:
		return false
	case int32:
		return v != 0
	case int64:
		return v != 0
	case float64:
		return v != 0
	case bson.Decimal128:
		return !isDecimalZero(v)
	}
	return true
}

// compareNumbers compares exactly, NaN before every other number.
func compareNumbers(a, b any) int {
	switch x := a.(type) {
	case int32:
		return compareInt(int64(x), b)
	case int64:
		return compareInt(x, b)
	case float64:
		switch y := b.(type) {
		case int32:
			return -compareIntFloat(int64(y), x)
		case int64:
			return -compareIntFloat(y, x)
		case float64:
			return cmp.Compare(x, y)
		}
	}
	return compareDecimals(a, b)
}

func compareInt(x int64, b any) int {
	switch y := b.(type) {
	case int32:
		return cmp.Compare(x, int64(y))
	case int64:
		return cmp.Compare(x, y)
	case float64:
		return compareIntFloat(x, y)
	}
	return compareDecimals(x, b)
}

// compareIntFloat compares without rounding the integer.
func compareIntFloat(x int64, y float64) int {
	switch {
	case math.IsNaN(y):
		return 1
	case y >= 1<<63:
		return -1
	case y < -1<<63:
		return 1
	}
	whole := math.Trunc(y)
	if c := cmp.Compare(x, int64(whole)); c != 0 {
		return c
	}
	return cmp.Compare(whole, y)
}

// compareDecimals compares two numbers of which one is a decimal.
func compareDecimals(a, b any) int {
	x, y := classOf(a), classOf(b)
	if c := cmp.Compare(x, y); c != 0 || x != finite {
		return c
	}
	r, s := ratOf(a), ratOf(b)
	return r.Cmp(s)
}

// The classes of numbers in their order.
const (
	nan = iota
	negativeInfinity
	finite
	positiveInfinity
)

func classOf(v any) int {
	switch v := v.(type) {
	case float64:
		switch {
		case math.IsNaN(v):
			return nan
		case math.IsInf(v, -1):
			return negativeInfinity
		case math.IsInf(v, 1):
			return positiveInfinity
		}
	case bson.Decimal128:
		switch {
		case v.IsNaN():
			return nan
		case v.IsInf() < 0:
			return negativeInfinity
		case v.IsInf() > 0:
			return positiveInfinity
		}
	}
	return finite
}

// ratOf returns a finite number exactly.
func ratOf(v any) *big.Rat {
	switch v := v.(type) {
	case int32:
		return new(big.Rat).SetInt64(int64(v))
	case int64:
		return new(big.Rat).SetInt64(v)
	case float64:
		return new(big.Rat).SetFloat64(v)
	case bson.Decimal128:
		r, _ := decimalRat(v)
		return r
	}
	return new(big.Rat)
}
