// Numbers: conversions between their types, and their order.

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

// IsNaN reports whether v is the double or the decimal NaN.
func IsNaN(v any) bool {
	switch v := v.(type) {
	case float64:
		return math.IsNaN(v)
	case bson.Decimal128:
		return v.IsNaN()
	}
	return false
}

// Int64 returns the value of a number that is whole and fits into 64 bits. It reports false for all other values. For a
// number with a fraction see [TruncInt64].
func Int64(v any) (int64, bool) {
	switch v := v.(type) {
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case float64:
		if v != math.Trunc(v) || v < -1<<63 || v >= 1<<63 { // 1<<63 is a double, the greatest int64 isn't
			return 0, false
		}
		return int64(v), true
	case bson.Decimal128:
		// 1E+2 and 100.0 are whole, so the value counts and not the exponent.
		r, ok := decimalRat(v)
		if !ok || !r.IsInt() || !r.Num().IsInt64() {
			return 0, false
		}
		return r.Num().Int64(), true
	}
	return 0, false
}

// TruncInt64 returns the number without its fraction. It reports false for a value that isn't a number or doesn't fit:
// NaN, an infinity, a number that is too large.
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

// Float returns the double that is nearest to the number. It reports false if v isn't a number.
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

// Integer returns n as an int if it fits, and as a long if it doesn't. Counts in answers and results of expressions
// have this form.
func Integer(n int64) any {
	if n >= math.MinInt32 && n <= math.MaxInt32 {
		return int32(n)
	}
	return n
}

// Truthy reports whether an expression or an option takes v for true. All values are true but false, null, undefined,
// Missing and the numbers equal to 0.
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

// compareNumbers compares two numbers of any types exactly. NaN is before every other number.
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
			return cmp.Compare(x, y) // has NaN first
		}
	}
	return compareDecimals(a, b)
}

// compareInt compares an int or a long with a number of any type.
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

// compareIntFloat compares without rounding the integer: a double has 53 bits, so 1<<53 + 1 would become 1<<53.
func compareIntFloat(x int64, y float64) int {
	switch {
	case math.IsNaN(y):
		return 1
	case y >= 1<<63:
		return -1
	case y < -1<<63:
		return 1
	}
	// y is in the range of int64, so its whole part is an int64. If it equals x, the fraction of y decides.
	whole := math.Trunc(y)
	if c := cmp.Compare(x, int64(whole)); c != 0 {
		return c
	}
	return cmp.Compare(whole, y)
}

// compareDecimals compares two numbers of which one is a decimal. Fractions are slow but exact, and decimals are rare.
func compareDecimals(a, b any) int {
	x, y := numberClass(a), numberClass(b)
	if c := cmp.Compare(x, y); c != 0 || x != finite {
		return c
	}
	r, s := toRat(a), toRat(b)
	return r.Cmp(s)
}

// The kinds of numbers, in their order. numberClass returns them. They have nothing to do with [Class].
const (
	nan = iota
	negativeInfinity
	finite
	positiveInfinity
)

// numberClass returns the kind of a number: nan, negativeInfinity, finite or positiveInfinity.
func numberClass(v any) int {
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

// toRat returns a finite number as a fraction, without rounding.
func toRat(v any) *big.Rat {
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
