package bsonval

import (
	"math"
	"math/big"
	"math/bits"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Add returns a + b in the wider of their types: int, long, double, decimal. A
// sum of ints that doesn't fit is a long. A sum of longs that doesn't fit wraps,
// and ok is false. Both must be numbers.
func Add(a, b any) (sum any, ok bool) {
	return arith(a, b, addInt, func(x, y float64) float64 { return x + y }, addDecimal)
}

// Sub returns a - b as Add does the sum.
func Sub(a, b any) (difference any, ok bool) {
	return arith(a, b, subInt, func(x, y float64) float64 { return x - y }, subDecimal)
}

// Mul returns a × b as Add does the sum.
func Mul(a, b any) (product any, ok bool) {
	return arith(a, b, mulInt, func(x, y float64) float64 { return x * y }, mulDecimal)
}

func arith(a, b any, ints func(x, y int64) (int64, bool), floats func(x, y float64) float64,
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

func addInt(x, y int64) (int64, bool) {
	n := x + y
	return n, (n > x) == (y > 0)
}

func subInt(x, y int64) (int64, bool) {
	n := x - y
	return n, (n < x) == (y > 0)
}

func mulInt(x, y int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	// The high word of the signed product.
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

func subDecimal(x, y bson.Decimal128) bson.Decimal128 {
	h, l := y.GetBytes()
	return addDecimal(x, bson.NewDecimal128(h^1<<63, l))
}

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

func infiniteProduct(sign int) bson.Decimal128 {
	switch sign {
	case 0:
		return decimalNaN
	case 1:
		return decimalInf
	}
	return decimalNegInf
}

// Div returns a / b, a double or, when either is one, a decimal. The divisor must not be zero.
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

// divDecimal divides finite decimals. A quotient that comes out even has the difference of their exponents, or the
// nearest that has room for its digits (IEEE 754-2008, "preferred exponent"); any other has 34 digits.
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
		// A sticky digit makes a tie that isn't one round the right way.
		n.Mul(n, ten).Add(n, big.NewInt(int64(rest.Sign()*d.Sign())))
		exp--
	}
	for rest.Sign() == 0 && exp < en-ed {
		q, last := new(big.Int).QuoRem(n, ten, new(big.Int))
		if last.Sign() != 0 {
			break
		}
		n, exp = q, exp+1
	}
	return zeroSign(decimalFrom(n, exp), isNegative(x) != isNegative(y))
}

// Mod returns the remainder of a / b with the sign of a, in the wider type. The divisor must not be zero.
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
	if y == -1 { // the most negative integer has no quotient by -1
		x = 0
	}
	n := x % y
	if isInt32(a) && isInt32(b) {
		return int32(n)
	}
	return n
}

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
