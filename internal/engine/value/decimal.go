package value

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

// DecimalFromRat returns the decimal nearest to r, ties to even.
func DecimalFromRat(r *big.Rat) bson.Decimal128 {
	num, den := new(big.Int).Set(r.Num()), r.Denom()
	exp := 0
	// Scale so that the quotient has at least 36 digits, then let the rounding decide.
	if r.IsInt() {
		return decimalFrom(num, 0)
	}
	shift := decimalDigits + 2 + len(den.Text(10)) - len(new(big.Int).Abs(num).Text(10))
	if shift > 0 {
		num.Mul(num, pow10(shift))
		exp = -shift
	}
	q, rem := new(big.Int).QuoRem(num, den, new(big.Int))
	if rem.Sign() == 0 {
		return decimalFrom(trimZeros(q, &exp), exp)
	}
	// A sticky digit makes a tie that isn't one round the right way.
	q.Mul(q, ten)
	q.Add(q, big.NewInt(int64(r.Sign())))
	return decimalFrom(q, exp-1)
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
		return decimalFrom(new(big.Int), 0)
	}
	d, err := bson.ParseDecimal128(strconv.FormatFloat(f, 'e', 14, 64))
	if err != nil {
		return decimalNaN
	}
	return d
}

// decimalFrom returns significand × 10^exp rounded to 34 digits, ties to even.
func decimalFrom(significand *big.Int, exp int) bson.Decimal128 {
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
	return d
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

func trimZeros(n *big.Int, exp *int) *big.Int {
	for n.Sign() != 0 && *exp < 0 {
		q, rem := new(big.Int).QuoRem(n, ten, new(big.Int))
		if rem.Sign() != 0 {
			break
		}
		n = q
		*exp++
	}
	return n
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
