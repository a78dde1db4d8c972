// The trigonometric functions of expressions: $sin, $atan2, $degreesToRadians and so on. Types and rounding are as in
// elementary.go.

package bsonval

import (
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// trigonometric is a function of an angle, or the inverse of one.
type trigonometric struct {
	near  func(x float64) float64                     // of package math
	exact func(c calculator, x *big.Float) *big.Float // of x above 0, if the function is odd
	odd   bool                                        // f(-x) = -f(x)
}

// trigonometry are the functions by the names of their operators without $.
var trigonometry = map[string]trigonometric{
	"sin": {math.Sin, func(c calculator, x *big.Float) *big.Float { sin, _ := c.sinCos(x); return sin }, true},
	"cos": {math.Cos, func(c calculator, x *big.Float) *big.Float { _, cos := c.sinCos(x); return cos }, false},
	"tan": {
		near:  math.Tan,
		exact: func(c calculator, x *big.Float) *big.Float { sin, cos := c.sinCos(x); return c.quo(sin, cos) },
		odd:   true,
	},
	"asin": {math.Asin, calculator.asin, true},
	"acos": {math.Acos, calculator.acos, false},
	"atan": {math.Atan, calculator.atan, true},
	"sinh": {
		near:  math.Sinh,
		exact: func(c calculator, x *big.Float) *big.Float { return c.shift(c.sub(c.exp(x), c.inverseExp(x)), -1) },
		odd:   true,
	},
	"cosh": {
		near:  math.Cosh,
		exact: func(c calculator, x *big.Float) *big.Float { return c.shift(c.add(c.exp(x), c.inverseExp(x)), -1) },
		odd:   false,
	},
	"tanh":  {math.Tanh, calculator.tanh, true},
	"asinh": {math.Asinh, calculator.asinh, true},
	"acosh": {math.Acosh, calculator.acosh, false},
	"atanh": {math.Atanh, calculator.atanh, true},
}

// The next functions are written by exp, ln, sinCos and atan. The names are those of mathematics.

func (c calculator) inverseExp(x *big.Float) *big.Float { return c.quo(c.fromInt(1), c.exp(x)) }

// asin(x) = atan(x / √(1 - x²))
func (c calculator) asin(x *big.Float) *big.Float {
	rest := c.sub(c.fromInt(1), c.mul(x, x)) // the square of the cosine
	if rest.Sign() == 0 {
		return c.shift(pi(), -1)
	}
	return c.atan(c.quo(x, c.sqrt(rest)))
}

// acos(x) = 2 atan(√((1 - x) / (1 + x))). It uses the half angle, because 1 - x² would lose bits near x = 1.
func (c calculator) acos(x *big.Float) *big.Float {
	sum := c.add(c.fromInt(1), x)
	if sum.Sign() == 0 {
		return c.shift(pi(), 0)
	}
	return c.shift(c.atan(c.sqrt(c.quo(c.sub(c.fromInt(1), x), sum))), 1)
}

// tanh(x) = (e²ˣ - 1) / (e²ˣ + 1)
func (c calculator) tanh(x *big.Float) *big.Float {
	if f, _ := x.Float64(); f > 1000 {
		return c.fromInt(1) // the difference is below the last bit
	}
	square := c.exp(c.shift(x, 1))
	return c.quo(c.sub(square, c.fromInt(1)), c.add(square, c.fromInt(1)))
}

// asinh(x) = ln(x + √(x² + 1))
func (c calculator) asinh(x *big.Float) *big.Float {
	return c.ln(c.add(x, c.sqrt(c.add(c.mul(x, x), c.fromInt(1)))))
}

// acosh(x) = ln(x + √(x² - 1))
func (c calculator) acosh(x *big.Float) *big.Float {
	return c.ln(c.add(x, c.sqrt(c.sub(c.mul(x, x), c.fromInt(1)))))
}

// atanh(x) = ln((1 + x) / (1 - x)) / 2
func (c calculator) atanh(x *big.Float) *big.Float {
	return c.shift(c.ln(c.quo(c.add(c.fromInt(1), x), c.sub(c.fromInt(1), x))), -1)
}

// apply computes a function. An odd function of a very small number is the number itself, the first term of its
// series. All odd functions here begin with x. Their formulas would lose all bits there.
func (t trigonometric) apply(c calculator, x *big.Float) *big.Float {
	if !t.odd {
		return t.exact(c, x)
	}
	size := c.zero().Abs(x)
	result := size
	if size.MantExp(nil) > -int(c)/4 {
		result = t.exact(c, size)
	}
	if x.Sign() < 0 {
		result.Neg(result)
	}
	return result
}

// The largest angles, in radians, that the calculator has enough bits for. Whole turns take bits of a larger angle
// from the rest that decides. Package math then computes the result for doubles, and decimals are refused.
const farthestAngle, farthestDecimalAngle = 1 << 60, 1e45

// Trigonometric applies a function by its name: sin, cos, tan, sinh, cosh, tanh, and the inverses, such as asin and
// asinh. The caller refuses numbers outside the function's domain. NaN is allowed. It reports false for the sine, the
// cosine and the tangent of a decimal that is too large.
func Trigonometric(name string, v any) (any, bool) {
	t := trigonometry[name]
	d, ok := v.(bson.Decimal128)
	if ok {
		return t.applyToDecimal(name, d)
	}
	f, _ := Float(v)
	near := t.near(f)
	if f == 0 || math.IsInf(f, 0) || math.Abs(f) > farthestAngle {
		return near, true
	}
	exactly := func(c calculator) *big.Float { return t.apply(c, c.zero().SetFloat64(f)) }
	return forDoubles.computeDouble(near, exactly), true
}

// applyToDecimal applies the function of that name to a decimal. The cases before the last return have exact results or
// limits, for which the calculator has no numbers.
func (t trigonometric) applyToDecimal(name string, d bson.Decimal128) (any, bool) {
	f := decimalFloat(d)
	angle := name == "sin" || name == "cos" || name == "tan"
	switch {
	case d.IsNaN():
		return decimalNaN, true
	case d.IsInf() != 0:
		return t.applyToInfinity(name, d), true
	case t.odd && isDecimalZero(d):
		return d, true
	case angle && math.Abs(f) > farthestDecimalAngle:
		return nil, false
	case name == "atanh" && Compare(absDecimal(d), int32(1)) == 0:
		return withSign(decimalInf, isNegative(d)), true
	case (name == "sinh" || name == "cosh") && math.Abs(f) > 14_200: // above the largest decimal
		return withSign(decimalInf, t.odd && isNegative(d)), true
	}
	return decimalFromBig(t.apply(forDecimals, bigOf(d))), true
}

// applyToInfinity returns the function's limit: pi / 2 for atan, 1 for tanh, and infinity for the others.
func (t trigonometric) applyToInfinity(name string, d bson.Decimal128) bson.Decimal128 {
	limit := decimalInf
	switch name {
	case "atan":
		limit = decimalFromBig(forDecimals.shift(pi(), -1))
	case "tanh":
		limit = decimalFrom(big.NewInt(1), 0)
	}
	return withSign(limit, t.odd && isNegative(d))
}

// Atan2 returns the angle of the point (x, y), from -pi to pi.
func Atan2(y, x any) any {
	a, b := nearestDouble(y), nearestDouble(x)
	near := math.Atan2(a, b)
	decimal := isDecimal(y) || isDecimal(x)
	switch {
	case IsNaN(y) || IsNaN(x):
		if decimal {
			return decimalNaN
		}
		return near
	case isLimit(y) || isLimit(x): // the angle is a multiple of pi / 4
		if !decimal {
			return near
		}
		eighths := forDecimals.fromInt(int64(math.Round(near / (math.Pi / 4))))
		return withSign(decimalFromBig(forDecimals.mul(eighths, forDecimals.shift(pi(), -2))), math.Signbit(near))
	case !decimal:
		return forDoubles.computeDouble(near, func(c calculator) *big.Float {
			return c.atan2(c.zero().SetFloat64(a), c.zero().SetFloat64(b))
		})
	}
	p, _ := Decimal(y)
	q, _ := Decimal(x)
	return decimalFromBig(forDecimals.atan2(bigOf(p), bigOf(q)))
}

// nearestDouble returns a number as a double that is infinite or zero only if the number is. So math.Atan2 decides the
// quadrant correctly for a decimal outside the range of doubles.
func nearestDouble(v any) float64 {
	f, _ := Float(v)
	d, ok := v.(bson.Decimal128)
	switch {
	case !ok || isLimit(v):
	case math.IsInf(f, 0):
		return math.Copysign(math.MaxFloat64, f)
	case f == 0 && isNegative(d):
		return -math.SmallestNonzeroFloat64
	case f == 0:
		return math.SmallestNonzeroFloat64
	}
	return f
}

// isLimit reports whether a number is zero or infinite.
func isLimit(v any) bool {
	d, ok := v.(bson.Decimal128)
	if ok {
		return d.IsInf() != 0 || isDecimalZero(d)
	}
	f, _ := Float(v)
	return f == 0 || math.IsInf(f, 0)
}

// atan2 returns the angle of a point that isn't on an axis.
func (c calculator) atan2(y, x *big.Float) *big.Float {
	angle := trigonometry["atan"].apply(c, c.quo(y, x))
	switch {
	case x.Sign() > 0:
		return angle
	case y.Sign() > 0:
		return c.add(angle, pi())
	}
	return c.sub(angle, pi())
}

// degree is a degree in radians, and radian is a radian in degrees, with 34 digits.
var (
	degree, _ = bson.ParseDecimal128("0.01745329251994329576923690768488613")
	radian, _ = bson.ParseDecimal128("57.29577951308232087679815481410517")
)

// Radians converts degrees to radians.
func Radians(v any) any { return multiplyFactor(v, math.Pi/180, degree) }

// Degrees converts radians to degrees.
func Degrees(v any) any { return multiplyFactor(v, 180/math.Pi, radian) }

// multiplyFactor multiplies by a factor: exact for a decimal, else factor.
func multiplyFactor(v any, factor float64, exact bson.Decimal128) any {
	if d, ok := v.(bson.Decimal128); ok {
		return mulDecimal(d, exact)
	}
	f, _ := Float(v)
	return f * factor
}
