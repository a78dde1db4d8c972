// Decimals: conversions, rounding, and signs of zeros. A decimal of 128 bits is a significand of up to 34 digits times
// a power of ten (https://en.wikipedia.org/wiki/Decimal128_floating-point_format). 1.5 and 1.50 are equal, and are
// different decimals: MongoDB stores and shows the digits as they were computed.

package bsonval

import (
	"math"
	"math/big"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The limits of a decimal: digits of the significand, and exponents of ten.
const (
	decimalDigits = 34
	decimalMaxExp = 6111
	decimalMinExp = -6176
)

var (
	decimalNaN    = bson.NewDecimal128(0x7c00000000000000, 0)
	decimalInf    = bson.NewDecimal128(0x7800000000000000, 0)
	decimalNegInf = bson.NewDecimal128(0xf800000000000000, 0)
	ten           = big.NewInt(10)
)

// Decimal returns the number as a decimal. An integer is exact. A double is rounded to 15 significant digits, as
// MongoDB converts it before a sum with a decimal. It reports false if v isn't a number.
func Decimal(v any) (bson.Decimal128, bool) {
	switch v := v.(type) {
	case int32:
		return decimalFrom(big.NewInt(int64(v)), 0), true
	case int64:
		return decimalFrom(big.NewInt(v), 0), true
	case float64:
		return decimalFromFloat(v), true
	case bson.Decimal128:
		return v, true
	}
	return decimalNaN, false
}

// Quantize returns d as a multiple of 10^exp, written with this exponent, or with 34 digits if it would need more.
// $round and $trunc call it. The lost digits round away from zero if away returns true for the quotient, its rest and
// the divisor.
func Quantize(d bson.Decimal128, exp int, away func(quotient, rest, divisor *big.Int) bool) bson.Decimal128 {
	n, e, err := d.BigInt()
	if err != nil {
		return d
	}
	if e >= exp {
		n.Mul(n, pow10(e-exp))
	} else {
		divisor, rest, negative := pow10(exp-e), new(big.Int), n.Sign()
		n.QuoRem(n, divisor, rest) // towards zero
		if away(n, rest, divisor) {
			n.Add(n, big.NewInt(int64(negative)))
		}
	}
	return zeroSign(decimalFrom(n, exp), isNegative(d))
}

// isNegative reports whether the sign is set. A zero can have a sign too.
func isNegative(d bson.Decimal128) bool {
	h, _ := d.GetBytes()
	return h>>63 == 1
}

// zeroSign gives a zero a negative sign if negative is true. big.Int, with which sums are computed, has no -0. Another
// number stays as it is.
func zeroSign(d bson.Decimal128, negative bool) bson.Decimal128 {
	h, l := d.GetBytes()
	if negative && isDecimalZero(d) {
		h |= 1 << 63
	}
	return bson.NewDecimal128(h, l)
}

// decimalFromFloat converts a double with 15 significant digits.
func decimalFromFloat(f float64) bson.Decimal128 {
	switch {
	case math.IsNaN(f):
		return decimalNaN
	case math.IsInf(f, 1):
		return decimalInf
	case math.IsInf(f, -1):
		return decimalNegInf
	case f == 0:
		return zeroSign(decimalFrom(new(big.Int), 0), math.Signbit(f))
	}
	d, err := bson.ParseDecimal128(strconv.FormatFloat(f, 'e', 14, 64))
	if err != nil {
		return decimalNaN
	}
	return d
}

// decimalFrom returns significand × 10^exp, rounded to 34 digits, ties to even. A number that is too large is
// infinite, and one that is too small loses digits down to zero.
func decimalFrom(significand *big.Int, exp int) bson.Decimal128 {
	negative := significand.Sign() < 0
	digits := len(new(big.Int).Abs(significand).Text(10))
	drop := max(digits-decimalDigits, decimalMinExp-exp, 0)
	if drop > 0 {
		significand, exp = roundOff(significand, drop), exp+drop
		if len(new(big.Int).Abs(significand).Text(10)) > decimalDigits { // 99…9 was rounded up
			significand, exp = roundOff(significand, 1), exp+1
		}
	}
	// A number with few digits may fit with zeros at its end and a lower exponent.
	for exp > decimalMaxExp && significand.Sign() != 0 && len(new(big.Int).Abs(significand).Text(10)) < decimalDigits {
		significand, exp = new(big.Int).Mul(significand, ten), exp-1
	}
	if significand.Sign() == 0 { // a zero fits with any exponent
		exp = min(max(exp, decimalMinExp), decimalMaxExp)
	}
	if exp > decimalMaxExp {
		if significand.Sign() < 0 {
			return decimalNegInf
		}
		return decimalInf
	}
	d, ok := bson.ParseDecimal128FromBigInt(significand, exp)
	if !ok {
		return decimalNaN
	}
	return zeroSign(d, negative)
}

// roundOff drops so many decimal digits at the end, and rounds. A tie gives the even neighbour.
func roundOff(n *big.Int, digits int) *big.Int {
	div := pow10(digits)
	q, rem := new(big.Int).QuoRem(n, div, new(big.Int))
	twice := new(big.Int).Abs(rem)
	twice.Lsh(twice, 1)
	c := twice.Cmp(div)
	if c > 0 || (c == 0 && q.Bit(0) == 1) {
		q.Add(q, big.NewInt(int64(n.Sign())))
	}
	return q
}

func pow10(n int) *big.Int { return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil) }

// decimalRat returns a finite decimal as a fraction. It reports false for NaN and infinities.
func decimalRat(d bson.Decimal128) (*big.Rat, bool) {
	n, exp, err := d.BigInt()
	if err != nil {
		return nil, false
	}
	if exp >= 0 {
		return new(big.Rat).SetInt(n.Mul(n, pow10(exp))), true
	}
	return new(big.Rat).SetFrac(n, pow10(-exp)), true
}

// decimalFloat returns the nearest double, which is infinite or zero for decimals outside the range of doubles.
func decimalFloat(d bson.Decimal128) float64 {
	switch {
	case d.IsNaN():
		return math.NaN()
	case d.IsInf() != 0:
		return math.Inf(d.IsInf())
	}
	// The text of a decimal has all its digits, and ParseFloat rounds correctly.
	f, _ := strconv.ParseFloat(d.String(), 64)
	return f
}

// isDecimalZero reports whether a decimal is 0 with any sign and exponent. NaN and infinities have no significand.
func isDecimalZero(d bson.Decimal128) bool {
	n, _, err := d.BigInt()
	return err == nil && n.Sign() == 0
}
