package bsonval_test

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	. "github.com/docmodel/docmodel/internal/bsonval"
)

// TestDecimalFunctions holds results to 34 digits, as a calculator with more digits gives them.
func TestDecimalFunctions(t *testing.T) {
	parse := func(s string) bson.Decimal128 {
		d, err := bson.ParseDecimal128(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		why  string
		got  any
		want string
	}{
		{"an irrational root", Sqrt(parse("2")), "1.414213562373095048801688724209698"},
		{"half the exponent", Sqrt(parse("4.00")), "2.0"},
		{"an odd exponent", Sqrt(parse("2.5")), "1.581138830084189665999446772216359"},
		{"a whole root", Sqrt(parse("1E+4")), "1E+2"},
		{"more digits than the exponent", Sqrt(parse("0.25")), "0.5"},
		{"a root of zero", Sqrt(parse("0.00")), "0.0"},
		{"of a negative zero", Sqrt(parse("-0")), "-0"},
		{"of a negative number", Sqrt(parse("-1")), "NaN"},
		{"of infinity", Sqrt(parse("Infinity")), "Infinity"},
		{"e", Exp(parse("1")), "2.718281828459045235360287471352662"},
		{"1 exactly", Exp(parse("0")), "1"},
		{"a negative power", Exp(parse("-1.5")), "0.2231301601484298289332804707640125"},
		{"a large power", Exp(parse("1000")), "1.970071114017046993888879352243323E+434"},
		{"too large", Exp(parse("15000")), "Infinity"},
		{"too small", Exp(parse("-15000")), "0E-6176"},
		{"minus infinity", Exp(parse("-Infinity")), "0E-6176"},
		{"ln 2", Ln(parse("2")), "0.6931471805599453094172321214581766"},
		{"ln 1", Ln(parse("1.0")), "0"},
		{"near 1", Ln(parse("1.000000000000000000000000000000001")), "9.999999999999999999999999999999995E-34"},
		{"small", Ln(parse("1E-6000")), "-13815.51055796427410410794872810619"},
		{"a power of ten", Log10(parse("1000")), "3"},
		{"written otherwise", Log10(parse("1.00E-3")), "-3"},
		{"log10 2", Log10(parse("2")), "0.3010299956639811952137388947244930"},
		{"to the base 2", Log(parse("8"), parse("2")), "3"},
		{"to another", Log(parse("5"), parse("3")), "1.464973520717927167197040407678640"},
		{"all digits", Pow(parse("2"), parse("3")), "8.000000000000000000000000000000000"},
		{"a root", Pow(parse("2"), parse("0.5")), "1.414213562373095048801688724209698"},
		{"exact by the root", Pow(parse("4"), parse("0.5")), "2.000000000000000000000000000000000"},
		{"a negative exponent", Pow(parse("2"), parse("-2")), "0.2500000000000000000000000000000000"},
		{"a negative base", Pow(parse("-2"), parse("3")), "-8.000000000000000000000000000000000"},
		{"without a result", Pow(parse("-2"), parse("0.5")), "NaN"},
		{"to the power of 0", Pow(parse("NaN"), parse("0")), "1.000000000000000000000000000000000"},
		{"0 to a power", Pow(parse("0"), parse("2")), "0E-6176"},
		{"infinity", Pow(parse("-Infinity"), parse("3")), "-Infinity"},
		{"infinity to a negative power", Pow(parse("Infinity"), parse("-3")), "0E-6176"},
		{"grows without end", Pow(parse("1.5"), parse("Infinity")), "Infinity"},
		{"shrinks without end", Pow(parse("0.5"), parse("Infinity")), "0E-6176"},
		{"too large", Pow(parse("10"), parse("7000")), "Infinity"},
		{"a large exponent", Pow(parse("1.000001"), parse("1000000")), "2.718280469319376883819799708454356"},
	} {
		if got, ok := c.got.(bson.Decimal128); !ok || got.String() != c.want {
			t.Errorf("%s: %v, want %s", c.why, c.got, c.want)
		}
	}
}

// TestDoubleFunctions holds results whose last bit Go's math has otherwise.
func TestDoubleFunctions(t *testing.T) {
	for _, c := range []struct {
		why       string
		got, want any
	}{
		{"a power of ten", Log10(1000.0), 3.0},
		{"of an int", Log10(int32(1000)), 3.0},
		{"a whole power", Pow(10.0, int32(-3)), 0.001},
		{"a root", Pow(2.0, 0.5), 1.4142135623730951},
		{"a negative base", Pow(-1.1, 3.0), -1.3310000000000004},
		{"1", Exp(int64(0)), 1.0},
		{"e", Exp(1.0), 2.718281828459045},
		{"a large one", Exp(700.5), 1.6721859620674984e+304},
		{"too large", Exp(1000.0), math.Inf(1)},
		{"the least", Pow(2.0, -1074.0), 5e-324},
		{"to another base", Log(int32(100), int32(10)), 2.0},
		{"of 0", Ln(0.0), math.Inf(-1)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.why, c.got, c.want)
		}
	}
}
