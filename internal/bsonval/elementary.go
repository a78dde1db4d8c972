// The functions of $exp, $ln, $log10, $log, $sqrt and $pow.
//
// They take a number of any type. The result is a decimal if an argument is a decimal, else a double. Each result is
// rounded correctly. The C library of MongoDB does so in all but a few cases, package math of Go in two of three: so
// math alone would give other last digits than a server.

package bsonval

import (
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Exp returns e to the power of a number. A result that is too large is infinite.
func Exp(v any) any {
	if d, ok := v.(bson.Decimal128); ok {
		return decimalExp(d)
	}
	f, _ := Float(v)
	return forDoubles.computeDouble(math.Exp(f), func(c calculator) *big.Float { return c.exp(c.zero().SetFloat64(f)) })
}

// Ln returns the natural logarithm of a number above 0, or of NaN. The caller refuses other numbers, as $ln does.
func Ln(v any) any {
	if d, ok := v.(bson.Decimal128); ok {
		return decimalLn(d)
	}
	f, _ := Float(v)
	return forDoubles.computeDouble(math.Log(f), func(c calculator) *big.Float { return c.ln(c.zero().SetFloat64(f)) })
}

// Log10 returns the logarithm to the base 10 of a number above 0, or of NaN.
func Log10(v any) any {
	if d, ok := v.(bson.Decimal128); ok {
		return decimalLog10(d)
	}
	f, _ := Float(v)
	return forDoubles.computeDouble(math.Log10(f), func(c calculator) *big.Float {
		return c.quo(c.ln(c.zero().SetFloat64(f)), c.ln(c.fromInt(10)))
	})
}

// Log returns the logarithm of a number above 0 to a base above 0 that isn't 1. For doubles it divides two rounded
// logarithms, as MongoDB does, so its last digit may be wrong.
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

// Pow returns x to the power of y. The caller refuses a base of 0 with a negative exponent. $pow computes whole powers
// of ints and longs itself.
func Pow(x, y any) any {
	if isDecimal(x) || isDecimal(y) {
		base, _ := Decimal(x)
		exponent, _ := Decimal(y)
		return allDigits(decimalPow(base, exponent))
	}
	base, _ := Float(x)
	exponent, _ := Float(y)
	near := math.Pow(base, exponent)
	// These results are exact, or the calculator has no such numbers.
	if base == 0 || exponent == 0 || base == 1 || math.IsInf(base, 0) || math.IsInf(exponent, 0) {
		return near
	}
	return forDoubles.computeDouble(near, func(c calculator) *big.Float {
		p := c.exp(c.mul(c.zero().SetFloat64(exponent), c.ln(c.zero().SetFloat64(math.Abs(base)))))
		if base < 0 && math.Mod(exponent, 2) != 0 { // an odd power
			p.Neg(p)
		}
		return p
	})
}

// computeDouble returns the double nearest to a function's value. near is the result of package math. It is returned
// as it is if it is infinite, zero or NaN, because package math decides these cases correctly. Otherwise exactly
// computes the value.
func (c calculator) computeDouble(near float64, exactly func(c calculator) *big.Float) float64 {
	if near == 0 || math.IsNaN(near) || math.IsInf(near, 0) {
		return near
	}
	f, _ := exactly(c).Float64()
	return f
}
