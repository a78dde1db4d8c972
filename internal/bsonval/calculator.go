// Numbers with more bits than a double or a decimal, and elementary functions of them.
//
// A result of the functions in elementary.go and trigonometry.go must be rounded correctly: the nearest double, or the
// nearest decimal of 34 digits. So it is computed here with many more bits, and rounded once. The functions reduce
// their argument to a small number, for which a power series needs few terms, and undo the reduction afterwards.
// Inverse functions improve a first result of package math by Newton's or Halley's method.

package bsonval

import (
	"math"
	"math/big"
	"sync"
)

// calculator computes functions with so many bits. The last few bits may be wrong. Its arguments and results are
// finite, and its methods never change their arguments.
type calculator uint

const (
	// forDoubles fills the 53 bits of a double, and has more to round them correctly.
	forDoubles calculator = 192
	// forDecimals fills 34 digits, which are 113 bits. The whole part of a large angle takes more bits.
	forDecimals calculator = 512
)

// The arithmetic of big.Float, with results of this precision.
func (c calculator) zero() *big.Float               { return new(big.Float).SetPrec(uint(c)) }
func (c calculator) fromInt(n int64) *big.Float     { return c.zero().SetInt64(n) }
func (c calculator) add(x, y *big.Float) *big.Float { return c.zero().Add(x, y) }
func (c calculator) sub(x, y *big.Float) *big.Float { return c.zero().Sub(x, y) }
func (c calculator) mul(x, y *big.Float) *big.Float { return c.zero().Mul(x, y) }
func (c calculator) quo(x, y *big.Float) *big.Float { return c.zero().Quo(x, y) }
func (c calculator) sqrt(x *big.Float) *big.Float   { return c.zero().Sqrt(x) }

// shift returns x times 2 to the power of n.
func (c calculator) shift(x *big.Float, n int) *big.Float { return c.zero().SetMantExp(x, n) }

// isNegligible reports whether a term of a series is too small to change the sum, whose size is about 1.
func (c calculator) isNegligible(term *big.Float) bool {
	return term.Sign() == 0 || term.MantExp(nil) < -int(c)-8
}

// inverseOf returns the inverse hyperbolic tangent of 1/n, or with alternating signs the inverse tangent:
// 1/n ± 1/3n³ + 1/5n⁵ ± …
func (c calculator) inverseOf(n int64, alternating bool) *big.Float {
	sum, square := c.zero(), c.fromInt(n*n)
	term := c.quo(c.fromInt(1), c.fromInt(n))
	for k := int64(1); !c.isNegligible(term); k += 2 {
		part := c.quo(term, c.fromInt(k))
		if alternating && k%4 == 3 {
			part.Neg(part)
		}
		sum.Add(sum, part)
		term.Quo(term, square)
	}
	return sum
}

// Constants, computed when they are first needed, with more bits than any calculator.
var (
	ln2 = sync.OnceValue(func() *big.Float {
		c := forDecimals + 64
		return c.shift(c.inverseOf(3, false), 1) // ln 2 = 2 artanh 1/3
	})
	pi = sync.OnceValue(func() *big.Float { // Machin's formula: 4 (4 arctan 1/5 - arctan 1/239)
		c := forDecimals + 64
		return c.shift(c.sub(c.shift(c.inverseOf(5, true), 2), c.inverseOf(239, true)), 2)
	})
)

// halvings is how often exp halves its argument before the series.
const halvings = 12

// exp returns e to the power of x, whose size must be below 2^30. With k = x / ln 2, rounded, it is 2^k times the
// series of the small rest. The rest is halved, and the result squared as often.
func (c calculator) exp(x *big.Float) *big.Float {
	twos, _ := c.quo(x, ln2()).Float64()
	k := math.Round(twos)
	r := c.shift(c.sub(x, c.mul(c.zero().SetFloat64(k), ln2())), -halvings)
	sum, term := c.fromInt(1), c.fromInt(1)
	for n := int64(1); !c.isNegligible(term); n++ {
		term.Mul(term, r).Quo(term, c.fromInt(n))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return c.shift(sum, int(k))
}

// ln returns the natural logarithm of a number above 0: that of its mantissa, by Halley's method, and the exponent
// times ln 2.
func (c calculator) ln(x *big.Float) *big.Float {
	m := c.zero()
	e := x.MantExp(m) // 0.5 <= m < 1
	// A mantissa around 1, so that both parts don't cancel each other for an x near 1.
	if m.Cmp(c.zero().SetFloat64(0.7)) < 0 {
		m, e = c.shift(m, 1), e-1
	}
	f, _ := m.Float64()
	y := c.zero().SetFloat64(math.Log(f))
	for bits := 48; bits < int(c); bits *= 3 { // each step triples the digits
		p := c.exp(y)
		y.Add(y, c.shift(c.quo(c.sub(m, p), c.add(m, p)), 1))
	}
	return c.add(y, c.mul(c.fromInt(int64(e)), ln2()))
}

// sinCos returns the sine and the cosine of an angle below 2^150. The rest after whole quarter turns goes through the
// series, and the number of quarter turns decides what it stands for.
func (c calculator) sinCos(x *big.Float) (sin, cos *big.Float) {
	half := c.shift(pi(), -1)
	quarters, _ := c.add(c.quo(x, half), c.zero().SetFloat64(math.Copysign(0.5, float64(x.Sign())))).Int(nil)
	r := c.sub(x, c.mul(c.zero().SetInt(quarters), half))
	sin, cos = c.series(r)
	switch new(big.Int).And(quarters, big.NewInt(3)).Int64() {
	case 1:
		return cos, sin.Neg(sin)
	case 2:
		return sin.Neg(sin), cos.Neg(cos)
	case 3:
		return cos.Neg(cos), sin
	}
	return sin, cos
}

// series returns the sine and the cosine of an angle whose size is below 1, by their power series. The even terms are
// those of the cosine.
func (c calculator) series(x *big.Float) (sin, cos *big.Float) {
	sin, cos = c.zero(), c.fromInt(1)
	term := c.fromInt(1)
	for n := int64(1); !c.isNegligible(term); n++ {
		term.Mul(term, x).Quo(term, c.fromInt(n))
		part := c.shift(term, 0)
		if n%4 >= 2 {
			part.Neg(part)
		}
		if n%2 == 0 {
			cos.Add(cos, part)
		} else {
			sin.Add(sin, part)
		}
	}
	return sin, cos
}

// atan returns the angle whose tangent is x, by Newton's method. A large x has a quarter turn minus the angle of 1/x.
func (c calculator) atan(x *big.Float) *big.Float {
	if c.zero().Abs(x).Cmp(c.fromInt(1)) > 0 {
		half := c.shift(pi(), -1)
		if x.Sign() < 0 {
			half.Neg(half)
		}
		return c.sub(half, c.atan(c.quo(c.fromInt(1), x)))
	}
	f, _ := x.Float64()
	y := c.zero().SetFloat64(math.Atan(f))
	if y.Sign() == 0 {
		return c.shift(x, 0)
	}
	for bits := 48; bits < int(c); bits *= 2 { // each step doubles the digits
		sin, cos := c.sinCos(y)
		y.Add(y, c.sub(c.mul(x, c.mul(cos, cos)), c.mul(sin, cos)))
	}
	return y
}
