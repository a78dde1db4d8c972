package bsonval

import (
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The functions here take any number. The result is a decimal of a decimal, else a double; either
// is rounded rightly, as the C library of MongoDB does in all but a few cases, and Go's math in two
// of three.

// Exp returns e to the power of a number.
func Exp(v any) any {
	if d, ok := v.(bson.Decimal128); ok {
		return decimalExp(d)
	}
	f, _ := Float(v)
	return forDoubles.rounded(math.Exp(f), func(c calculator) *big.Float { return c.exp(c.zero().SetFloat64(f)) })
}

// Ln returns the natural logarithm of a number above 0, or of NaN.
func Ln(v any) any {
	if d, ok := v.(bson.Decimal128); ok {
		return decimalLn(d)
	}
	f, _ := Float(v)
	return forDoubles.rounded(math.Log(f), func(c calculator) *big.Float { return c.ln(c.zero().SetFloat64(f)) })
}

// Log10 returns the logarithm to the base 10 of a number above 0, or of NaN.
func Log10(v any) any {
	if d, ok := v.(bson.Decimal128); ok {
		return decimalLog10(d)
	}
	f, _ := Float(v)
	return forDoubles.rounded(math.Log10(f), func(c calculator) *big.Float {
		return c.quo(c.ln(c.zero().SetFloat64(f)), c.ln(c.of(10)))
	})
}

// Log returns the logarithm of a number above 0 to a base above 0 that isn't 1. The quotient of the
// doubles' logarithms is that of two rounded numbers.
func Log(v, base any) any {
	if isDecimal(v) || isDecimal(base) {
		x, _ := Decimal(v)
		y, _ := Decimal(base)
		return decimalLog(x, y)
	}
	return Ln(v).(float64) / Ln(base).(float64)
}

// Sqrt returns the square root of a number that isn't negative, or of NaN.
func Sqrt(v any) any {
	if d, ok := v.(bson.Decimal128); ok {
		return decimalSqrt(d)
	}
	f, _ := Float(v)
	return math.Sqrt(f)
}

// Pow returns x to the power of y, a double or a decimal. A base of 0 isn't for a negative exponent.
func Pow(x, y any) any {
	if isDecimal(x) || isDecimal(y) {
		base, _ := Decimal(x)
		exponent, _ := Decimal(y)
		return allDigits(decimalPow(base, exponent))
	}
	base, _ := Float(x)
	exponent, _ := Float(y)
	near := math.Pow(base, exponent)
	if base == 0 || exponent == 0 || base == 1 || math.IsInf(base, 0) || math.IsInf(exponent, 0) {
		return near
	}
	return forDoubles.rounded(near, func(c calculator) *big.Float {
		p := c.exp(c.mul(c.zero().SetFloat64(exponent), c.ln(c.zero().SetFloat64(math.Abs(base)))))
		if base < 0 && math.Mod(exponent, 2) != 0 {
			p.Neg(p)
		}
		return p
	})
}

// rounded returns a double that is infinite, zero or not a number as it is, and any other as
// exactly as a double can be.
func (c calculator) rounded(near float64, exactly func(c calculator) *big.Float) float64 {
	if near == 0 || math.IsNaN(near) || math.IsInf(near, 0) {
		return near
	}
	f, _ := exactly(c).Float64()
	return f
}
