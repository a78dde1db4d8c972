package bsonval_test

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	. "github.com/docmodel/docmodel/internal/bsonval"
)

func TestTrigonometry(t *testing.T) {
	for _, c := range []struct{ why, name, arg, want string }{
		{"the manual's example", "sin", "0.5", "0.4794255386042030002732879352155714"},
		{"of zero", "sin", "-0.0", "-0.0"},
		{"many turns", "sin", "1E+20", "-0.6452512852657808442058117113125230"},
		{"a negative angle", "sin", "-0.5", "-0.4794255386042030002732879352155714"},
		{"exact", "cos", "0", "1"},
		{"the second quarter", "cos", "2", "-0.4161468365471423869975682295007622"},
		{"the third", "tan", "4", "1.157821282349577583137342418267324"},
		{"an end of the domain", "asin", "1", "1.570796326794896619231321691639751"},
		{"inside", "asin", "0.5", "0.5235987755982988730771072305465838"},
		{"near the end", "acos", "0.9999999999999999999999999999999999", "1.414213562373095048801688724209698E-17"},
		{"the other end", "acos", "-1", "3.141592653589793238462643383279503"},
		{"zero", "acos", "1", "0"},
		{"above 1", "atan", "3", "1.249045772398254425829917077281090"},
		{"infinity", "atan", "-Infinity", "-1.570796326794896619231321691639751"},
		{"tiny", "sinh", "1E-40", "1E-40"},
		{"hyperbolic", "sinh", "1", "1.175201193643801456882381850595601"},
		{"too large", "sinh", "-20000", "-Infinity"},
		{"hyperbolic cosine", "cosh", "1", "1.543080634815243778477905620757062"},
		{"nearly 1", "tanh", "20000", "1"},
		{"hyperbolic tangent", "tanh", "1", "0.7615941559557648881194582826047936"},
		{"inverse", "asinh", "-1", "-0.8813735870195430252326093249797923"},
		{"inverse of the cosine", "acosh", "2", "1.316957896924816708625046347307968"},
		{"inverse of the tangent", "atanh", "0.5", "0.5493061443340548456976226184612629"},
		{"its pole", "atanh", "-1", "-Infinity"},
		{"not a number", "cos", "NaN", "NaN"},
	} {
		d, err := bson.ParseDecimal128(c.arg)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := Trigonometric(c.name, d)
		if x, isDecimal := got.(bson.Decimal128); !ok || !isDecimal || x.String() != c.want {
			t.Errorf("%s: %s of %s is %v, want %s", c.why, c.name, c.arg, got, c.want)
		}
	}
	huge, _ := bson.ParseDecimal128("1E+46")
	if got, ok := Trigonometric("sin", huge); ok {
		t.Errorf("too large an angle: %v", got)
	}
}

func TestTrigonometryOfDoubles(t *testing.T) {
	one := func(v any, _ bool) any { return v }
	unit, _ := bson.ParseDecimal128("1")
	for _, c := range []struct {
		why       string
		got, want any
	}{
		{"sine", one(Trigonometric("sin", 1.5707963267948966)), 1.0},
		{"of an int", one(Trigonometric("cos", int32(1))), 0.5403023058681398},
		{"near a zero of it", one(Trigonometric("sin", math.Pi)), 1.2246467991473532e-16},
		{"tangent", one(Trigonometric("tan", 0.7853981633974483)), 0.9999999999999999},
		{"arc", one(Trigonometric("asin", 1.0)), 1.5707963267948966},
		{"pole", one(Trigonometric("atanh", 1.0)), math.Inf(1)},
		{"large", one(Trigonometric("sinh", 800.0)), math.Inf(1)},
		{"a right angle", Atan2(1.0, 0.0), 1.5707963267948966},
		{"behind", Atan2(-1.0, -1.0), -2.356194490192345},
		{"an axis", Atan2(0.0, int32(-1)), 3.141592653589793},
		{"degrees", Degrees(math.Pi), 180.0},
		{"radians", Radians(int32(180)), math.Pi},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.why, c.got, c.want)
		}
	}
	if got := Atan2(unit, unit).(bson.Decimal128).String(); got != "0.7853981633974483096156608458198757" {
		t.Error("of decimals:", got)
	}
}
