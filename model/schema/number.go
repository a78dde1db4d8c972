package schema

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// MaxSafe is the greatest integer up to which every reader of JSON can be relied on to have them all: 2^53-1, as its negative is the
// least (RFC 7493 §2.2, RFC 8259 §6).
const MaxSafe = 1<<53 - 1

// Number is a number with all of its digits, for fields of documents that also travel as JSON. A reader of JSON commonly takes numbers as
// IEEE 754 binary64, as JavaScript does: of 9007199254740993 it makes …992, of 0.10 it makes 0.1, and NaN isn't JSON. So a Number
// leaves as a JSON number where such a reader gives back the same digits, and as a string where it doesn't; it takes either back.
// The zero Number is 0.
//
// In JSON these are strings: integers beyond ±[MaxSafe], decimals of more digits than binary64 keeps, those with zeros at the end or an
// exponent that a reader would write otherwise ("1.10", "1E+3"), "-0", "NaN", "Infinity" and "-Infinity".
//
// In BSON it is stored as a number: as the type that it was made from, if it can be, else the first of int64, double and Decimal128
// that keeps its digits. Only what no type can hold, more than 34 digits or an exponent out of range, is stored as a string, which
// MongoDB sorts after all numbers. Numbers of different types are compared by value, by MongoDB and by [Number.Compare]. JSON
// doesn't say which type a number had: a Decimal128 of 12 comes back from a client as 12 and is stored as an int64. 0.1 from JSON is stored
// as a double, as json.Unmarshal has it; where it must be a Decimal128, as money must, declare the field so, or use
// [Number.As].
//
// Two Numbers are == when their digits, exponent and type are; 1, 1.0 and the double 1 differ, and Compare as equal.
//
// Source: "Numbers in JSON" (seed 003); https://www.rfc-editor.org/rfc/rfc8259#section-6,
// https://www.rfc-editor.org/rfc/rfc7493#section-2.2.
type Number struct {
	text string    // as canonical writes it; "" for 0
	as   bson.Type // what it was made from; 0 for text
}

// The Numbers that are no numbers.
const (
	textNaN         = "NaN"
	textInfinity    = "Infinity"
	textNegInfinity = "-Infinity"
)

// maxExponent bounds exponents, so that a few characters don't ask for a gigabyte of zeros.
const maxExponent = 999_999

// parseNumber reads a number as text. All digits are kept, zeros at the end too.
func parseNumber(s string) (Number, error) {
	switch s {
	case textNaN, textInfinity, textNegInfinity:
		return Number{s, 0}, nil
	}
	d, ok := scanDecimal(s)
	if !ok {
		return Number{}, &model.ValueError{Field: "number", Value: s, Reason: "isn't a JSON number, or its exponent is above 999999"}
	}
	return Number{d.text(), 0}, nil
}

// NumberOf returns a value as a Number: an integer or a float of any kind, a *big.Int, a bson.Decimal128, a bson.RawValue that is a
// number, a Number, or a string of any kind (a json.Number) that holds a number as JSON writes it (RFC 8259 §6), "NaN", "Infinity"
// or "-Infinity". For anything else, and for exponents beyond ±999,999, it returns a [*model.ValueError]. All digits of a string are
// kept, zeros at the end too. A float has the fewest digits that tell it from all others, as encoding/json writes it.
func NumberOf(v any) (Number, error) { return numberOf(v) }

// String is the number with all of its digits, as [NumberOf] reads it.
func (n Number) String() string {
	if n.text == "" {
		return "0"
	}
	return n.text
}

// Safe reports whether the number leaves as a JSON number: whether a reader that takes it as IEEE 754 binary64 gives back the same
// digits.
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

// Int64 returns the number, if it is an integer that an int64 holds: 12, 12.0 and 1.2E+1 are.
func (n Number) Int64() (int64, bool) {
	if i, ok := n.bigInt(); ok && i.IsInt64() {
		return i.Int64(), true
	}
	return 0, false
}

// bigInt is the number, if it is an integer of at most 10,000 digits.
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

// Float64 returns the nearest float64, and whether its digits are the number's: 0.1 is exact in this sense, 9007199254740993 isn't.
// NaN and infinities are themselves.
func (n Number) Float64() (f float64, exact bool) {
	f, err := strconv.ParseFloat(n.String(), 64)
	switch {
	case n.text == textNaN:
		return math.NaN(), true
	case n.text == textInfinity, n.text == textNegInfinity:
		return f, true
	case err != nil:
		return f, false // beyond all: an infinity
	}
	return f, mustParse(jsonFloat(f)).Compare(n) == 0
}

// Decimal128 returns the number as a bson.Decimal128 with the same digits; false when it has more than 34 of them or its exponent is out
// of range.
func (n Number) Decimal128() (bson.Decimal128, bool) {
	if d, ok := scanDecimal(n.String()); ok && !d.fits128() {
		return bson.Decimal128{}, false
	}
	d, err := bson.ParseDecimal128(n.String())
	return d, err == nil
}

// As returns the number to be stored as a BSON type: bson.TypeInt32, TypeInt64, TypeDouble or TypeDecimal128. It returns a
// [*model.ValueError] when that type doesn't hold the number, or it is no number's.
func (n Number) As(t bson.Type) (Number, error) {
	ok := false
	switch t {
	case bson.TypeInt32, bson.TypeInt64:
		i, whole := n.Int64()
		ok = whole && (t == bson.TypeInt64 || i == int64(int32(i)))
		if ok {
			n = Number{strconv.FormatInt(i, 10), t}
		}
	case bson.TypeDouble:
		var f float64
		if f, ok = n.Float64(); ok {
			n = ofFloat(f)
		}
	case bson.TypeDecimal128:
		if _, ok = n.Decimal128(); ok {
			n.as = t
		}
	}
	if !ok {
		return Number{}, &model.ValueError{Field: "number", Value: n.String(), Reason: fmt.Sprintf("can't be stored as %s without loss", t)}
	}
	return n, nil
}

// Compare is negative when n is less than m, positive when it is greater, and 0 when they are equal by value, whatever their types
// and digits. NaN is less than all others and equal to itself, as MongoDB sorts.
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

// IsZero reports whether it is the zero Number, for omitempty. A 0 that was read from a document or parsed is stored.
func (n Number) IsZero() bool { return n == Number{} }

func mustParse(s string) Number {
	n, _ := parseNumber(s)
	return n
}
