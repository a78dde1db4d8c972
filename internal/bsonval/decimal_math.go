// Roots, logarithms and powers of decimals, for elementary.go.

package bsonval

import (
	"math/big"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The functions compute with far more than 34 digits, and round once. An exact result is written as MongoDB writes it:
// a whole number with the exponent 0, and another number without zeros at its end.

// decimalSqrt returns the square root, which is NaN for a negative number. An exact root has half the exponent of d,
// as IEEE 754-2008 prefers. The root of -0 is -0.
func decimalSqrt(d bson.Decimal128) bson.Decimal128 {
	switch {
	case d.IsNaN() || isDecimalZero(d) && !isNegative(d):
		return halfExponent(d)
	case isDecimalZero(d):
		return zeroSign(halfExponent(d), true)
	case isNegative(d):
		return decimalNaN
	case d.IsInf() != 0:
		return d
	}
	n, exp, _ := d.BigInt()
	preferred := floorHalf(exp)
	if exp%2 != 0 {
		n, exp = n.Mul(n, ten), exp-1
	}
	// The root of n times 10^2shift, as a whole number, has more than 34 digits.
	shift := 2 * decimalDigits
	n.Mul(n, pow10(2*shift))
	root := new(big.Int).Sqrt(n)
	if new(big.Int).Mul(root, root).Cmp(n) != 0 {
		root.Mul(root, ten).Add(root, big.NewInt(1)) // one more digit says that there is a rest
		return decimalFrom(root, exp/2-shift-1)
	}
	return decimalFrom(stripZeros(root, exp/2-shift, preferred))
}

// floorHalf returns n / 2, rounded down also for negative numbers.
func floorHalf(n int) int { return (n - (n & 1)) / 2 }

// halfExponent returns the root of a zero, which has half its exponent, and NaN for NaN.
func halfExponent(d bson.Decimal128) bson.Decimal128 {
	n, exp, err := d.BigInt()
	if err != nil {
		return decimalNaN
	}
	return decimalFrom(n, floorHalf(exp))
}

// stripZeros drops zeros at the end of n until the exponent is the preferred one.
func stripZeros(n *big.Int, exp, preferred int) (*big.Int, int) {
	for exp < preferred {
		q, rest := new(big.Int).QuoRem(n, ten, new(big.Int))
		if rest.Sign() != 0 {
			break
		}
		n, exp = q, exp+1
	}
	return n, exp
}

// decimalExp returns e to the power of d.
func decimalExp(d bson.Decimal128) bson.Decimal128 {
	switch {
	case d.IsNaN():
		return decimalNaN
	case d.IsInf() > 0:
		return d
	case d.IsInf() < 0:
		return decimalFrom(new(big.Int), decimalMinExp)
	}
	return decimalExpOf(bigOf(d))
}

// decimalExpOf is decimalExp of a number with more digits. Beyond its limits the result is infinite or zero for
// certain.
func decimalExpOf(x *big.Float) bson.Decimal128 {
	switch f, _ := x.Float64(); {
	case f > 14_200:
		return decimalInf
	case f < -14_300:
		return decimalFrom(new(big.Int), decimalMinExp)
	}
	return decimalFromBig(forDecimals.exp(x))
}

// decimalLn returns the natural logarithm of a number above 0.
func decimalLn(d bson.Decimal128) bson.Decimal128 {
	if d.IsNaN() || d.IsInf() != 0 {
		return d
	}
	return decimalFromBig(forDecimals.ln(bigOf(d)))
}

// decimalLog10 returns the logarithm to the base 10 of a number above 0.
func decimalLog10(d bson.Decimal128) bson.Decimal128 {
	if d.IsNaN() || d.IsInf() != 0 {
		return d
	}
	n, exp, _ := d.BigInt()
	if digits := n.Text(10); strings.Trim(digits[1:], "0") == "" && digits[0] == '1' { // a power of ten
		return decimalFrom(big.NewInt(int64(exp+len(digits)-1)), 0)
	}
	return decimalFromBig(forDecimals.quo(forDecimals.ln(bigOf(d)), forDecimals.ln(forDecimals.fromInt(10))))
}

// decimalLog returns the logarithm of a number above 0 to a base above 0 that isn't 1.
func decimalLog(d, base bson.Decimal128) bson.Decimal128 {
	switch {
	case d.IsNaN() || base.IsNaN():
		return decimalNaN
	case Compare(base, int32(10)) == 0:
		return decimalLog10(d)
	case Compare(base, int32(2)) == 0 && d.IsInf() == 0:
		return decimalFromBig(forDecimals.quo(forDecimals.ln(bigOf(d)), ln2()))
	}
	return Div(decimalLn(d), decimalLn(base)).(bson.Decimal128)
}

// allDigits writes a number with 34 digits, with zeros at its end. MongoDB writes all results of $pow so. A sum with a
// zero of the least exponent does it.
func allDigits(d bson.Decimal128) bson.Decimal128 {
	zero, _ := bson.ParseDecimal128("0E-6176")
	return addDecimal(d, zero)
}

// decimalPow returns x to the power of y. The caller must refuse the base 0 with a negative y. The cases are those of
// IEEE 754: 1 to any power and any number to the power of 0 are 1, also for NaN.
func decimalPow(x, y bson.Decimal128) bson.Decimal128 {
	one := decimalFrom(big.NewInt(1), 0)
	switch {
	case !y.IsNaN() && y.IsInf() == 0 && isDecimalZero(y), Compare(x, one) == 0:
		return one
	case x.IsNaN() || y.IsNaN():
		return decimalNaN
	case y.IsInf() != 0:
		return powInfinite(Compare(absDecimal(x), one) * y.IsInf())
	}
	exponent, _ := decimalRat(y)
	whole := exponent.IsInt()
	negative := isNegative(x) && whole && exponent.Num().Bit(0) == 1
	switch {
	case x.IsInf() != 0 || isDecimalZero(x):
		return withSign(powInfinite(exponent.Sign()*(1-2*boolInt(isDecimalZero(x)))), negative)
	case isNegative(x) && !whole:
		return decimalNaN
	}
	// A negative base has a whole exponent here: the power of its size, with the sign if the exponent is odd.
	base := bigOf(absDecimal(x))
	if exponent.Num().IsInt64() && whole {
		if n := exponent.Num().Int64(); n >= 0 && n <= 128 {
			return withSign(powWhole(absDecimal(x), n), negative)
		}
	}
	return withSign(decimalExpOf(forDecimals.mul(bigOf(y), forDecimals.ln(base))), negative)
}

// powWhole multiplies exactly and rounds once, so that 1.1 to the power of 2 is 1.21. n is at most 128.
func powWhole(x bson.Decimal128, n int64) bson.Decimal128 {
	significand, exp, _ := x.BigInt()
	return decimalFrom(significand.Exp(significand, big.NewInt(n), nil), exp*int(n))
}

// powInfinite returns the limit of a power that grows (1), shrinks (-1) or stays 1 (0): infinity, 0 or 1.
func powInfinite(grows int) bson.Decimal128 {
	switch grows {
	case 1:
		return decimalInf
	case -1:
		return decimalFrom(new(big.Int), 0)
	}
	return decimalFrom(big.NewInt(1), 0)
}

// absDecimal clears the sign, which is the highest bit.
func absDecimal(d bson.Decimal128) bson.Decimal128 {
	h, l := d.GetBytes()
	return bson.NewDecimal128(h&^(1<<63), l)
}

// withSign makes a positive number negative if negative is true. NaN has no sign.
func withSign(d bson.Decimal128, negative bool) bson.Decimal128 {
	if !negative || d.IsNaN() {
		return d
	}
	h, l := d.GetBytes()
	return bson.NewDecimal128(h|1<<63, l)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// decimalFromBig rounds a result of the calculator to a decimal.
func decimalFromBig(x *big.Float) bson.Decimal128 {
	// 80 digits are certain. A result that is exact has a row of zeros or nines after 34 digits. It is found by
	// rounding to 60 digits: then all digits after the first 34 are 0.
	text := x.Text('e', 80)
	mantissa, power, _ := strings.Cut(text, "e")
	exp, _ := strconv.Atoi(power)
	n, _ := new(big.Int).SetString(strings.Replace(mantissa, ".", "", 1), 10)
	exp -= 80
	if exact := roundOff(n, 20); new(big.Int).Mod(exact, pow10(60-decimalDigits)).Sign() == 0 {
		shorter, e := stripZeros(exact, exp+20, 0)
		return decimalFrom(shorter, e)
	}
	return decimalFrom(n, exp)
}

// bigOf returns a finite decimal as a number of the calculator, rounded to its bits.
func bigOf(d bson.Decimal128) *big.Float {
	r, _ := decimalRat(d)
	return forDecimals.zero().SetRat(r)
}
