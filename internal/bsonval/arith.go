// Sums, products, quotients and remainders, as $add, $subtract, $multiply, $divide and $mod compute them, and as $inc
// and $mul change fields.
//
// The result has the wider type of both numbers, in the order int, long, double, decimal. Decimals follow IEEE
// 754-2008: 34 digits, ties to even, and a preferred exponent, which decides how many zeros a result shows.

package bsonval

import (
	"math"
	"math/big"
	"math/bits"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Add returns a + b in the wider of their types. Both must be numbers. A sum of ints that doesn't fit is a long. If a
// sum of longs doesn't fit, ok is false and the sum is useless: $inc then refuses the update, and $add returns a
// double.
func Add(a, b any) (sum any, ok bool) {
	return applyByType(a, b, addInt, func(x, y float64) float64 { return x + y }, addDecimal)
}

// Sub returns a - b, with types and ok as in [Add].
func Sub(a, b any) (difference any, ok bool) {
	return applyByType(a, b, subInt, func(x, y float64) float64 { return x - y }, subDecimal)
}

// Mul returns a × b, with types and ok as in [Add].
func Mul(a, b any) (product any, ok bool) {
	return applyByType(a, b, mulInt, func(x, y float64) float64 { return x * y }, mulDecimal)
}

// applyByType calls the function for the wider type of two numbers. The function for longs also computes for ints, and
// reports whether its result fits into a long.
func applyByType(a, b any, ints func(x, y int64) (int64, bool), floats func(x, y float64) float64,
	decimals func(x, y bson.Decimal128) bson.Decimal128) (any, bool) {
	switch {
	case isDecimal(a) || isDecimal(b):
		x, _ := Decimal(a)
		y, _ := Decimal(b)
		return decimals(x, y), true
	case isDouble(a) || isDouble(b):
		x, _ := Float(a)
		y, _ := Float(b)
		return floats(x, y), true
	}
	x, _ := Int64(a)
	y, _ := Int64(b)
	n, ok := ints(x, y)
	if isInt32(a) && isInt32(b) {
		return Integer(n), ok
	}
	return n, ok
}

func isDecimal(v any) bool { _, ok := v.(bson.Decimal128); return ok }
func isDouble(v any) bool  { _, ok := v.(float64); return ok }
func isInt32(v any) bool   { _, ok := v.(int32); return ok }

// addInt, subInt and mulInt compute with longs. They report false if the result doesn't fit into a long.
func addInt(x, y int64) (int64, bool) {
	n := x + y // wraps on an overflow, and then is on the wrong side of x
	return n, (n > x) == (y > 0)
}

func subInt(x, y int64) (int64, bool) {
	n := x - y
	return n, (n < x) == (y > 0)
}

func mulInt(x, y int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	// The high word of the signed product. The product fits if this word has the sign of the low word in all its bits.
	h := int64(hi)
	if x < 0 {
		h -= y
	}
	if y < 0 {
		h -= x
	}
	n := int64(lo)
	return n, h == n>>63
}

// addDecimal adds at the lower of both exponents, exactly, and rounds once. Only two negative zeros have the sum -0.
func addDecimal(x, y bson.Decimal128) bson.Decimal128 {
	if d, special := specialSum(x, y); special {
		return d
	}
	a, ea, _ := x.BigInt()
	b, eb, _ := y.BigInt()
	if ea > eb {
		a, ea = a.Mul(a, pow10(ea-eb)), eb
	} else if eb > ea {
		b.Mul(b, pow10(eb-ea))
	}
	return zeroSign(decimalFrom(a.Add(a, b), ea), isNegative(x) && isNegative(y))
}

// specialSum returns the sum if a number is infinite or NaN. It reports false for finite numbers.
func specialSum(x, y bson.Decimal128) (bson.Decimal128, bool) {
	switch {
	case x.IsNaN() || y.IsNaN() || x.IsInf()*y.IsInf() < 0:
		return decimalNaN, true
	case x.IsInf() != 0:
		return x, true
	case y.IsInf() != 0:
		return y, true
	}
	return x, false
}

// subDecimal adds the negated number. The sign of a zero comes out right too: 0 - 0 is 0, and -0 - 0 is -0.
func subDecimal(x, y bson.Decimal128) bson.Decimal128 {
	h, l := y.GetBytes()
	return addDecimal(x, bson.NewDecimal128(h^1<<63, l)) // the highest bit is the sign
}

// mulDecimal multiplies exactly, and rounds once. The product has the sum of both exponents.
func mulDecimal(x, y bson.Decimal128) bson.Decimal128 {
	if x.IsNaN() || y.IsNaN() {
		return decimalNaN
	}
	if x.IsInf() != 0 || y.IsInf() != 0 {
		return infiniteProduct(Compare(x, int32(0)) * Compare(y, int32(0)))
	}
	a, ea, _ := x.BigInt()
	b, eb, _ := y.BigInt()
	return zeroSign(decimalFrom(a.Mul(a, b), ea+eb), isNegative(x) != isNegative(y))
}

// infiniteProduct returns an infinity with a sign. A sign of 0, which is infinity times 0, gives NaN.
func infiniteProduct(sign int) bson.Decimal128 {
	switch sign {
	case 0:
		return decimalNaN
	case 1:
		return decimalInf
	}
	return decimalNegInf
}

// Div returns a / b: a decimal if either is a decimal, else a double. The divisor must not be 0: $divide has an error
// for it.
func Div(a, b any) any {
	if !isDecimal(a) && !isDecimal(b) {
		x, _ := Float(a)
		y, _ := Float(b)
		return x / y
	}
	x, _ := Decimal(a)
	y, _ := Decimal(b)
	switch {
	case x.IsNaN() || y.IsNaN() || (x.IsInf() != 0 && y.IsInf() != 0):
		return decimalNaN
	case x.IsInf() != 0:
		return infiniteProduct(x.IsInf() * Compare(y, int32(0)))
	case y.IsInf() != 0:
		return zeroSign(decimalFrom(new(big.Int), decimalMinExp), isNegative(x) != isNegative(y))
	}
	return divDecimal(x, y)
}

// divDecimal divides finite decimals. A quotient without a rest has the difference of the exponents, or the nearest
// exponent that has room for its digits (IEEE 754-2008, "preferred exponent"). Any other quotient has 34 digits.
func divDecimal(x, y bson.Decimal128) bson.Decimal128 {
	n, en, _ := x.BigInt()
	d, ed, _ := y.BigInt()
	if d.Sign() == 0 {
		return decimalNaN
	}
	// Scale so that the quotient has at least 36 digits, then let the rounding decide.
	shift := max(0, decimalDigits+2+len(d.Text(10))-len(n.Text(10)))
	exp, rest := en-ed-shift, new(big.Int)
	n.Mul(n, pow10(shift)).QuoRem(n, d, rest)
	if rest.Sign() != 0 {
		// A digit after the last one says that there is a rest. Without it a quotient slightly above a tie would round
		// as a tie.
		n.Mul(n, ten).Add(n, big.NewInt(int64(rest.Sign()*d.Sign())))
		exp--
	}
	for rest.Sign() == 0 && exp < en-ed { // takes zeros off the end
		q, last := new(big.Int).QuoRem(n, ten, new(big.Int))
		if last.Sign() != 0 {
			break
		}
		n, exp = q, exp+1
	}
	return zeroSign(decimalFrom(n, exp), isNegative(x) != isNegative(y))
}

// Mod returns the remainder of a / b with the sign of a, in the wider type. The divisor must not be 0.
func Mod(a, b any) any {
	switch {
	case isDecimal(a) || isDecimal(b):
		x, _ := Decimal(a)
		y, _ := Decimal(b)
		return modDecimal(x, y)
	case isDouble(a) || isDouble(b):
		x, _ := Float(a)
		y, _ := Float(b)
		return math.Mod(x, y)
	}
	x, _ := Int64(a)
	y, _ := Int64(b)
	if y == -1 { // the quotient of the least long by -1 would overflow
		x = 0
	}
	n := x % y
	if isInt32(a) && isInt32(b) {
		return int32(n)
	}
	return n
}

// modDecimal computes the remainder at the lower of both exponents, which is exact.
func modDecimal(x, y bson.Decimal128) bson.Decimal128 {
	switch {
	case x.IsNaN() || y.IsNaN() || x.IsInf() != 0:
		return decimalNaN
	case y.IsInf() != 0:
		return x
	}
	n, en, _ := x.BigInt()
	d, ed, _ := y.BigInt()
	if d.Sign() == 0 {
		return decimalNaN
	}
	exp := min(en, ed)
	n.Mul(n, pow10(en-exp))
	d.Mul(d, pow10(ed-exp))
	return zeroSign(decimalFrom(n.Rem(n, d), exp), isNegative(x))
}
