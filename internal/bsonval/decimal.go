package bsonval

import (
	"math"
	"math/big"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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

// Decimal returns the number as a decimal: integers exactly, a double rounded
// to 15 significant digits, as MongoDB widens it. False when v is no number.
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

// Quantize returns d as a multiple of 10^exp, written with that exponent, or with 34 digits if that takes more. What is
// lost rounds away from zero if away says so of the quotient, its rest and the divisor.
func Quantize(d bson.Decimal128, exp int, away func(quotient, rest, divisor *big.Int) bool) bson.Decimal128 {
	n, e, err := d.BigInt()
	if err != nil {
		return d
	}
	if e >= exp {
		n.Mul(n, pow10(e-exp))
	} else {
		divisor, rest, negative := pow10(exp-e), new(big.Int), n.Sign()
		n.QuoRem(n, divisor, rest)
		if away(n, rest, divisor) {
			n.Add(n, big.NewInt(int64(negative)))
		}
	}
	return zeroSign(decimalFrom(n, exp), isNegative(d))
}

// isNegative reports whether the sign is set, of a zero too.
func isNegative(d bson.Decimal128) bool {
	h, _ := d.GetBytes()
	return h>>63 == 1
}

// zeroSign gives a zero its sign, and leaves any other number alone.
func zeroSign(d bson.Decimal128, negative bool) bson.Decimal128 {
	h, l := d.GetBytes()
	if negative && isDecimalZero(d) {
		h |= 1 << 63
	}
	return bson.NewDecimal128(h, l)
}

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

// decimalFrom returns significand × 10^exp rounded to 34 digits, ties to even.
func decimalFrom(significand *big.Int, exp int) bson.Decimal128 {
	negative := significand.Sign() < 0
	digits := len(new(big.Int).Abs(significand).Text(10))
	drop := max(digits-decimalDigits, decimalMinExp-exp, 0)
	if drop > 0 {
		significand, exp = roundOff(significand, drop), exp+drop
		if len(new(big.Int).Abs(significand).Text(10)) > decimalDigits {
			significand, exp = roundOff(significand, 1), exp+1
		}
	}
	for exp > decimalMaxExp && significand.Sign() != 0 && len(new(big.Int).Abs(significand).Text(10)) < decimalDigits {
		significand, exp = new(big.Int).Mul(significand, ten), exp-1
	}
	if significand.Sign() == 0 {
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

// roundOff drops decimal digits at the end, rounding half to even.
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

// decimalRat returns a finite decimal exactly.
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

func decimalFloat(d bson.Decimal128) float64 {
	switch {
	case d.IsNaN():
		return math.NaN()
	case d.IsInf() != 0:
		return math.Inf(d.IsInf())
	}
	f, _ := strconv.ParseFloat(d.String(), 64)
	return f
}

func isDecimalZero(d bson.Decimal128) bool {
	n, _, err := d.BigInt()
	return err == nil && n.Sign() == 0
}
