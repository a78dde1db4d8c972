package bsonval

import (
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// trigonometric is a function of an angle, or of what an angle is found by.
type trigonometric struct {
	near  func(x float64) float64
	exact func(c calculator, x *big.Float) *big.Float
	odd   bool // the function of -x is that of x, negated
}

// trigonometry is the table of them. The exact functions that are odd get no argument below 0.
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

func (c calculator) inverseExp(x *big.Float) *big.Float { return c.quo(c.of(1), c.exp(x)) }

func (c calculator) asin(x *big.Float) *big.Float {
	rest := c.sub(c.of(1), c.mul(x, x))
	if rest.Sign() == 0 {
		return c.shift(pi(), -1)
	}
	return c.atan(c.quo(x, c.sqrt(rest)))
}

func (c calculator) acos(x *big.Float) *big.Float {
	sum := c.add(c.of(1), x)
	if sum.Sign() == 0 {
		return c.shift(pi(), 0)
	}
	return c.shift(c.atan(c.sqrt(c.quo(c.sub(c.of(1), x), sum))), 1)
}

func (c calculator) tanh(x *big.Float) *big.Float {
	if f, _ := x.Float64(); f > 1000 {
		return c.of(1) // to more digits than there are
	}
	square := c.exp(c.shift(x, 1))
	return c.quo(c.sub(square, c.of(1)), c.add(square, c.of(1)))
}

func (c calculator) asinh(x *big.Float) *big.Float {
	return c.ln(c.add(x, c.sqrt(c.add(c.mul(x, x), c.of(1)))))
}

func (c calculator) acosh(x *big.Float) *big.Float {
	return c.ln(c.add(x, c.sqrt(c.sub(c.mul(x, x), c.of(1)))))
}

func (c calculator) atanh(x *big.Float) *big.Float {
	return c.shift(c.ln(c.quo(c.add(c.of(1), x), c.sub(c.of(1), x))), -1)
}

// apply computes a function, of a small number by the number itself: the first term of its series.
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

// farthestAngle is from where on an angle has too few bits left for what is beyond whole turns: of
// doubles, and of decimals.
const farthestAngle, farthestDecimalAngle = 1 << 60, 1e45

// Trigonometric applies a function by its name: sin, cos, tan, asin, acos, atan, and their hyperbolic
// ones. The number must be in the function's domain, or not be a number. It returns false for the
// sine, the cosine and the tangent of a decimal that is too large.
func Trigonometric(name string, v any) (any, bool) {
	t := trigonometry[name]
	d, ok := v.(bson.Decimal128)
	if ok {
		return t.ofDecimal(name, d)
	}
	f, _ := Float(v)
	near := t.near(f)
	if f == 0 || math.IsInf(f, 0) || math.Abs(f) > farthestAngle {
		return near, true
	}
	return forDoubles.rounded(near, func(c calculator) *big.Float { return t.apply(c, c.zero().SetFloat64(f)) }), true
}

func (t trigonometric) ofDecimal(name string, d bson.Decimal128) (any, bool) {
	f := decimalFloat(d)
	angle := name == "sin" || name == "cos" || name == "tan"
	switch {
	case d.IsNaN():
		return decimalNaN, true
	case d.IsInf() != 0:
		return t.ofInfinity(name, d), true
	case t.odd && isDecimalZero(d):
		return d, true
	case angle && math.Abs(f) > farthestDecimalAngle:
		return nil, false
	case name == "atanh" && Compare(absDecimal(d), int32(1)) == 0:
		return withSign(decimalInf, isNegative(d)), true
	case (name == "sinh" || name == "cosh") && math.Abs(f) > 14_200:
		return withSign(decimalInf, t.odd && isNegative(d)), true
	}
	return decimalFromBig(t.apply(forDecimals, bigOf(d))), true
}

func (t trigonometric) ofInfinity(name string, d bson.Decimal128) bson.Decimal128 {
	limit := decimalInf
	switch name {
	case "atan":
		limit = decimalFromBig(forDecimals.shift(pi(), -1))
	case "tanh":
		limit = decimalFrom(big.NewInt(1), 0)
	}
	return withSign(limit, t.odd && isNegative(d))
}

// Atan2 returns the angle of the point (x, y).
func Atan2(y, x any) any {
	a, b := nearest(y), nearest(x)
	near := math.Atan2(a, b)
	decimal := isDecimal(y) || isDecimal(x)
	switch {
	case IsNaN(y) || IsNaN(x):
		if decimal {
			return decimalNaN
		}
		return near
	case isLimit(y) || isLimit(x): // a multiple of a quarter of pi
		if !decimal {
			return near
		}
		eighths := forDecimals.of(int64(math.Round(near / (math.Pi / 4))))
		return withSign(decimalFromBig(forDecimals.mul(eighths, forDecimals.shift(pi(), -2))), math.Signbit(near))
	case !decimal:
		return forDoubles.rounded(near, func(c calculator) *big.Float {
			return c.atan2(c.zero().SetFloat64(a), c.zero().SetFloat64(b))
		})
	}
	p, _ := Decimal(y)
	q, _ := Decimal(x)
	return decimalFromBig(forDecimals.atan2(bigOf(p), bigOf(q)))
}

// nearest returns a number as a double that is infinite, or zero, only if the number is.
func nearest(v any) float64 {
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

// atan2 returns the angle of a point that is on no axis.
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

// degree is how many radians a degree has, and radian how many degrees a radian.
var (
	degree, _ = bson.ParseDecimal128("0.01745329251994329576923690768488613")
	radian, _ = bson.ParseDecimal128("57.29577951308232087679815481410517")
)

// Radians converts degrees.
func Radians(v any) any { return timesFactor(v, math.Pi/180, degree) }

// Degrees converts radians.
func Degrees(v any) any { return timesFactor(v, 180/math.Pi, radian) }

func timesFactor(v any, factor float64, exact bson.Decimal128) any {
	if d, ok := v.(bson.Decimal128); ok {
		return mulDecimal(d, exact)
	}
	f, _ := Float(v)
	return f * factor
}
