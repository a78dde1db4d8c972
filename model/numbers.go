package model

import (
	"bytes"
	"cmp"
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// CompareNumbers orders two numbers, int32, int64, double or Decimal128, by what they are, exactly, as MongoDB sorts them: NaN is
// equal to NaN and below all others, -0 is 0. Values that are no numbers are 0 here.
func CompareNumbers(a, b bson.RawValue) int {
	x, xDouble := a.DoubleOK()
	y, yDouble := b.DoubleOK()
	switch {
	case !wellFormed(a) || !wellFormed(b):
		return bytes.Compare(a.Value, b.Value)
	case a.Type == bson.TypeDecimal128 || b.Type == bson.TypeDecimal128:
		return compareDecimals(a, b)
	case xDouble && yDouble:
		return cmp.Compare(x, y)
	case xDouble:
		return -compareToDouble(wholeOf(b), x)
	case yDouble:
		return compareToDouble(wholeOf(a), y)
	}
	return cmp.Compare(wholeOf(a), wholeOf(b))
}

func wholeOf(v bson.RawValue) int64 {
	n, _ := v.AsInt64OK()
	return n
}

func compareToDouble(n int64, d float64) int {
	switch {
	case d >= 1<<63:
		return -1
	case !(d >= -1<<63): // NaN too
		return 1
	}
	whole := math.Trunc(d)
	return cmp.Or(cmp.Compare(n, int64(whole)), cmp.Compare(whole, d))
}

// compareDecimals compares two numbers of which one is a Decimal128.
func compareDecimals(a, b bson.RawValue) int {
	x, y := Rational(a), Rational(b)
	if x != nil && y != nil {
		return x.Cmp(y)
	}
	return cmp.Compare(notFinite(a), notFinite(b))
}

// notFinite orders what is no finite number around those that are: NaN, -Infinity, all others, Infinity.
func notFinite(v bson.RawValue) int {
	d, isDouble := v.DoubleOK()
	sign, isNaN := 0, isDouble && math.IsNaN(d)
	switch {
	case isDouble && math.IsInf(d, 0):
		sign = cmp.Compare(d, 0)
	case v.Type == bson.TypeDecimal128:
		sign, isNaN = v.Decimal128().IsInf(), v.Decimal128().IsNaN()
	}
	if isNaN {
		return -2
	}
	return sign
}

// Rational returns a finite number, exactly; nil for NaN and infinities. Values that are no numbers are 0.
func Rational(v bson.RawValue) *big.Rat {
	if !wellFormed(v) {
		return nil
	}
	switch v.Type {
	case bson.TypeDouble:
		return new(big.Rat).SetFloat64(v.Double())
	case bson.TypeDecimal128:
		digits, exponent, err := v.Decimal128().BigInt()
		if err != nil {
			return nil
		}
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil)
		if exponent < 0 {
			return new(big.Rat).SetFrac(digits, scale)
		}
		return new(big.Rat).SetInt(digits.Mul(digits, scale))
	}
	return new(big.Rat).SetInt64(wholeOf(v))
}
