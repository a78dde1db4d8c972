package schema

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// MaxSafe is 2^53-1: JSON readers with float64 represent integers up to it exactly (RFC
// 7493 §2.2, RFC 8259 §6).
const MaxSafe = 1<<53 - 1

// Number is a number that keeps all digits, for fields that are also sent as JSON. The
// zero Number is 0.
//
// Many JSON readers use float64. If float64 loses a Number's digits, the Number becomes a
// JSON string. Examples are "1.10", "NaN" and int64 values above [MaxSafe].
//
// A Number from a BSON number keeps the BSON type. A Number from text or JSON gets the
// first BSON type that keeps the digits: int64, double, Decimal128, string. To choose the
// type, as for money, use bson.Decimal128.
//
// Use [Number.Compare], not ==. The operator == distinguishes 1 from 1.0.
//
// Source: "Numbers in JSON" (data modeling for Azure Cosmos DB);
// https://www.rfc-editor.org/rfc/rfc8259#section-6,
// https://www.rfc-editor.org/rfc/rfc7493#section-2.2.
type Number struct {
	text string    // in canonical form; "" for 0
	as   bson.Type // the type it was made from; 0 for text
}

// Non-finite values.
const (
	textNaN         = "NaN"
	textInfinity    = "Infinity"
	textNegInfinity = "-Infinity"
)

// maxExponent bounds exponents, so that a short text can't expand to a gigabyte of zeros.
const maxExponent = 999_999

// parseNumber reads a number from text. It keeps all digits, including trailing zeros.
func parseNumber(s string) (Number, error) {
	switch s {
	case textNaN, textInfinity, textNegInfinity:
		return Number{s, 0}, nil
	}
	d, ok := scanDecimal(s)
	if !ok {
		return Number{}, &model.ValueError{
			Field: "number", Value: s,
			Reason: "isn't a JSON number, or its exponent is above 999999",
		}
	}
	return Number{d.text(), 0}, nil
}

// NumberOf converts v to a Number. v can be an integer, a float, a *big.Int, a
// bson.Decimal128, a numeric bson.RawValue, a Number, or a string such as a json.Number.
// A string must be a JSON number, "NaN", "Infinity" or "-Infinity". A float becomes its
// shortest decimal, such as 0.1. Other values give a [*model.ValueError].
func NumberOf(v any) (Number, error) { return numberOf(v) }

// String returns the number with all of its digits. [NumberOf] can read this text.
func (n Number) String() string {
	if n.text == "" {
		return "0"
	}
	return n.text
}

// Safe reports whether JSON readers that use float64 keep the number's digits: see
// [Number]. If so, [Number.MarshalJSON] writes a JSON number, not a string.
func (n Number) Safe() bool {
	d, ok := scanDecimal(n.String())
	switch {
	case !ok, d.neg && d.digits == "0":
		return false
	case d.exp == 0 && d.digits != "0":
		i, err := strconv.ParseInt(d.digits, 10, 64)
		return err == nil && i <= MaxSafe
	}
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil || math.IsInf(f, 0) {
		return false
	}
	back, ok := scanDecimal(jsonFloat(f))
	return ok && (back == d || n.as == bson.TypeDouble)
}

// Int64 returns the number, and true, for an integer that fits an int64, such as 12, 12.0
// or 1.2E+1.
func (n Number) Int64() (int64, bool) {
	if i, ok := n.bigInt(); ok && i.IsInt64() {
		return i.Int64(), true
	}
	return 0, false
}

// bigInt returns the number if it is an integer of at most 10,000 digits.
func (n Number) bigInt() (*big.Int, bool) {
	d, ok := scanDecimal(n.String())
	if !ok {
		return nil, false
	}
	digits, exp := d.shortest()
	if exp < 0 || len(digits)+exp > 10_000 {
		return nil, false
	}
	i, ok := new(big.Int).SetString(digits+strings.Repeat("0", exp), 10)
	if ok && d.neg {
		i.Neg(i)
	}
	return i, ok
}

// Float64 returns the nearest float64. The result exact is true if the float64's shortest
// decimal text equals the number: true for 0.1, false for 9007199254740993.
func (n Number) Float64() (f float64, exact bool) {
	f, err := strconv.ParseFloat(n.String(), 64)
	switch {
	case n.text == textNaN:
		return math.NaN(), true
	case n.text == textInfinity, n.text == textNegInfinity:
		return f, true
	case err != nil:
		return f, false // an infinity
	}
	return f, mustParse(jsonFloat(f)).Compare(n) == 0
}

// Decimal128 returns the number with the same digits, or false if it doesn't fit.
func (n Number) Decimal128() (bson.Decimal128, bool) {
	if d, ok := scanDecimal(n.String()); ok && !d.fits128() {
		return bson.Decimal128{}, false
	}
	d, err := bson.ParseDecimal128(n.String())
	return d, err == nil
}

// Compare compares values. The result is negative if n < m, 0 if n = m, and positive if
// n > m. NaN equals NaN and is less than all other numbers, as in MongoDB.
func (n Number) Compare(m Number) int {
	rank := func(text string) int {
		switch text {
		case textNaN:
			return -2
		case textNegInfinity:
			return -1
		case textInfinity:
			return 1
		}
		return 0
	}
	a, b := rank(n.text), rank(m.text)
	if a != 0 || b != 0 {
		return a - b
	}
	x, _ := scanDecimal(n.String())
	y, _ := scanDecimal(m.String())
	return x.compare(y)
}

// IsZero reports whether n is the zero Number, which omitempty omits. A 0 that was read
// or parsed isn't the zero Number, and is stored.
func (n Number) IsZero() bool { return n == Number{} }

func mustParse(s string) Number {
	n, _ := parseNumber(s)
	return n
}
