package bsonval_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	. "github.com/docmodel/docmodel/internal/bsonval"
)

// TestDecimalExponents holds that results are written as IEEE 754-2008 prefers: with the exponent and the sign of zero
// that MongoDB's decimals have.
func TestDecimalExponents(t *testing.T) {
	parse := func(s string) bson.Decimal128 {
		d, err := bson.ParseDecimal128(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	one := func(v any, _ bool) any { return v }
	for _, c := range []struct {
		what string
		got  any
		want string
	}{
		{"an even quotient has the difference of the exponents", Div(3.0, parse("1E+3")), "0.00300000000000000"},
		{"a divisor's zeros are taken off", Div(parse("6.00"), parse("3.0")), "2.0"},
		{"an exponent above 0 stays", Div(parse("3"), parse("0.1")), "3E+1"},
		{"as near to the exponent as the digits allow", Div(parse("1"), parse("8.0")), "0.125"},
		{"34 digits otherwise", Div(parse("2"), parse("3")), "0.6666666666666666666666666666666667"},
		{"a negative one too", Div(parse("-2"), parse("3")), "-0.6666666666666666666666666666666667"},
		{"by a negative one", Div(parse("2"), parse("-3")), "-0.6666666666666666666666666666666667"},
		{"a zero by something negative", Div(parse("0.0"), parse("-1.00")), "-0E+1"},
		{"by infinity", Div(parse("-3"), parse("Infinity")), "-0E-6176"},
		{"a remainder has the least exponent", Mod(parse("5.5"), parse("2.00")), "1.50"},
		{"a remainder of nothing has the dividend's sign", Mod(parse("-4.0"), parse("2")), "-0.0"},
		{"a product of zero has its sign", one(Mul(parse("-0"), parse("2.0"))), "-0.0"},
		{"and a negative factor's", one(Mul(parse("0"), int32(-2))), "-0"},
		{"a sum of two negative zeros is one", one(Add(parse("-0"), parse("-0.0"))), "-0.0"},
		{"but not if one isn't", one(Add(parse("-0"), parse("0.0"))), "0.0"},
		{"nor a difference of equals", one(Sub(parse("-1"), parse("-1.0"))), "0.0"},
		{"a product that is too small keeps its sign", one(Mul(parse("-1E-6000"), parse("1E-6000"))), "-0E-6176"},
	} {
		if got, ok := c.got.(bson.Decimal128); !ok || got.String() != c.want {
			t.Errorf("%s: %v, want %s", c.what, c.got, c.want)
		}
	}
	if zero, _ := Decimal(negativeZero()); zero.String() != "-0" {
		t.Errorf("a double's zero keeps its sign: %v", zero)
	}
}

func negativeZero() float64 { z := 0.0; return -z }
