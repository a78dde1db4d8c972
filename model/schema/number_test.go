package schema_test

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
)

// numFloatReader is a reader of JSON as JavaScript is: it takes numbers as binary64 and writes them again.
func numFloatReader(t testing.TB, text []byte) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if f, ok := v.(float64); ok && f == 0 {
		v = 0.0 // JSON.stringify(-0) is 0
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// numBack says that a number comes back from JSON, from such a reader and from BSON with all of its digits.
func numBack(t testing.TB, n schema.Number) {
	t.Helper()
	text, err := json.Marshal(n)
	if err != nil {
		t.Fatalf("%s: %v", n, err)
	}
	if n.Safe() != (text[0] != '"') {
		t.Errorf("%s is safe %v, and leaves as %s", n, n.Safe(), text)
	}
	for _, read := range [][]byte{text, numFloatReader(t, text)} {
		var back schema.Number
		if err := json.Unmarshal(read, &back); err != nil {
			t.Fatalf("%s: %v", read, err)
		}
		stored := numType(t, n) // digits of a double are the fewest, however they are written
		if back.Compare(n) != 0 || stored != bson.TypeDouble && back.String() != n.String() {
			t.Errorf("%s leaves as %s and comes back as %s by way of %s", n, text, back, read)
		}
	}
	raw, err := bson.Marshal(bson.D{{Key: "n", Value: n}})
	if err != nil {
		t.Fatalf("%s: %v", n, err)
	}
	var back struct{ N schema.Number }
	if err := bson.Unmarshal(raw, &back); err != nil || back.N.Compare(n) != 0 || back.N.String() != n.String() {
		t.Errorf("%s is stored as %s and read as %s: %v", n, bson.Raw(raw), back.N, err)
	}
}

func numType(t testing.TB, n schema.Number) bson.Type {
	t.Helper()
	typ, _, err := n.MarshalBSONValue()
	if err != nil {
		t.Fatal(err)
	}
	return bson.Type(typ)
}

func numOf(t testing.TB, v any) schema.Number {
	t.Helper()
	n, err := schema.NumberOf(v)
	if err != nil {
		t.Fatalf("%v: %v", v, err)
	}
	return n
}

// number is a number that the test knows to be one.
func number(text string) schema.Number {
	n, err := schema.NumberOf(text)
	if err != nil {
		panic(err)
	}
	return n
}

func TestNumberForms(t *testing.T) {
	t.Parallel()
	decimal := func(s string) bson.Decimal128 {
		d, err := bson.ParseDecimal128(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	huge, _ := new(big.Int).SetString("1"+strings.Repeat("0", 40), 10)
	for _, c := range []struct {
		reason string
		from   any
		json   string
		stored bson.Type
	}{
		{"a small integer", 12, `12`, bson.TypeInt64},
		{"an int32 stays one", int32(12), `12`, bson.TypeInt32},
		{"the greatest that all readers have (RFC 7493 §2.2)", int64(9007199254740991), `9007199254740991`, bson.TypeInt64},
		{"the first that they don't", int64(9007199254740992), `"9007199254740992"`, bson.TypeInt64},
		{"one that binary64 doesn't have", int64(-9007199254740993), `"-9007199254740993"`, bson.TypeInt64},
		{"the least int64", int64(math.MinInt64), `"-9223372036854775808"`, bson.TypeInt64},
		{"the greatest uint64", uint64(math.MaxUint64), `"18446744073709551615"`, bson.TypeDecimal128},
		{"41 digits", huge, `"1` + strings.Repeat("0", 40) + `"`, bson.TypeString},
		{"a duration", time.Hour, `3600000000000`, bson.TypeInt64},
		{"a float", 0.1, `0.1`, bson.TypeDouble},
		{"a float that is an integer", 100.0, `100`, bson.TypeDouble},
		{"a float beyond 2^53-1 is what it is", 9007199254740992.0, `9007199254740992.0`, bson.TypeDouble},
		{"a large float", 1e300, `1E+300`, bson.TypeDouble},
		{"the smallest float", math.SmallestNonzeroFloat64, `5E-324`, bson.TypeDouble},
		{"the greatest float", math.MaxFloat64, `1.7976931348623157E+308`, bson.TypeDouble},
		{"a float32 has the digits it is written with", float32(0.1), `0.1`, bson.TypeDouble},
		{"minus nothing", math.Copysign(0, -1), `"-0"`, bson.TypeDouble},
		{"no number", math.NaN(), `"NaN"`, bson.TypeDouble},
		{"infinity", math.Inf(1), `"Infinity"`, bson.TypeDouble},
		{"minus infinity", float32(math.Inf(-1)), `"-Infinity"`, bson.TypeDouble},
		{"a price", decimal("1.1"), `1.1`, bson.TypeDecimal128},
		{"a price with its zero", decimal("1.10"), `"1.10"`, bson.TypeDecimal128},
		{
			reason: "34 digits", from: decimal("0.1234567890123456789012345678901234"),
			json: `"0.1234567890123456789012345678901234"`, stored: bson.TypeDecimal128,
		},
		{"a thousand by its exponent", decimal("1E+3"), `"1E+3"`, bson.TypeDecimal128},
		{"beyond binary64", decimal("1E+400"), `"1E+400"`, bson.TypeDecimal128},
		{"below binary64", decimal("1E-6176"), `"1E-6176"`, bson.TypeDecimal128},
		{"nothing with an exponent", decimal("0E+3"), `"0E+3"`, bson.TypeDecimal128},
		{"minus nothing, exactly", decimal("-0.00"), `"-0.00"`, bson.TypeDecimal128},
		{"no Decimal128", decimal("NaN"), `"NaN"`, bson.TypeDecimal128},
		{"an infinite Decimal128", decimal("-Infinity"), `"-Infinity"`, bson.TypeDecimal128},
		{"text that is an integer", "12", `12`, bson.TypeInt64},
		{"text that a double holds", "1.5e3", `"1.5E+3"`, bson.TypeDecimal128},
		{"text of a tenth", json.Number("0.1"), `0.1`, bson.TypeDouble},
		{"text with a zero at its end", "0.10", `"0.10"`, bson.TypeDecimal128},
		{"text with 17 digits that binary64 has", "0.10000000000000001", `"0.10000000000000001"`, bson.TypeDecimal128},
		{"minus nothing as text", "-0", `"-0"`, bson.TypeDouble},
		{"an exponent beyond all types", "1e-9999", `"1E-9999"`, bson.TypeString},
		{"a digit of which a Decimal128 would make two", "1e6112", `"1E+6112"`, bson.TypeString},
		{"below a Decimal128", "1e-6177", `"1E-6177"`, bson.TypeString},
		{"a Number", number("7"), `7`, bson.TypeInt64},
		{"the zero Number", schema.Number{}, `0`, bson.TypeInt64},
	} {
		n := numOf(t, c.from)
		text, err := json.Marshal(n)
		if err != nil || string(text) != c.json || numType(t, n) != c.stored {
			t.Errorf("%s: %s, %s, %v; want %s, %s", c.reason, text, numType(t, n), err, c.json, c.stored)
		}
		numBack(t, n)
	}
}

func TestNumberRefusals(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", " ", "+1", "01", "-01", ".5", "1.", "1e", "1e+", "1e+-1", "0x1", "1_000", "1 ", " 1", "１", "nan", "inf", "-NaN",
		"--1", "1e1000000", "1e-1000000", "1e99999999999999999999", "1,5", "1e5.0", "$where", "NaN\x00",
	} {
		n, err := schema.NumberOf(bad)
		if testkit.WantValueError(t, bad, err); n != (schema.Number{}) {
			t.Errorf("%q gives %s", bad, n)
		}
		quoted, err := json.Marshal(bad)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(quoted, &n); err == nil {
			t.Errorf("%s is read as %s", quoted, n)
		}
	}
	for _, bad := range []any{
		bson.NewDecimal128(0x3041ed09bead87c0, 0x378d8e6400000000),
		nil, true, []int{1}, bson.D{}, (*big.Int)(nil), 1i,
		bson.RawValue{Type: bson.TypeInt64, Value: []byte{1}},
		struct{}{},
	} {
		_, err := schema.NumberOf(bad)
		testkit.WantValueError(t, "", err)
	}
	for _, bad := range []any{true, bson.D{}, bson.NewObjectID(), "twelve"} {
		raw, err := bson.Marshal(bson.D{{Key: "n", Value: bad}})
		if err != nil {
			t.Fatal(err)
		}
		into := struct{ N schema.Number }{number("5")}
		if err := bson.Unmarshal(raw, &into); err == nil || into.N.String() != "5" {
			t.Errorf("%v is read as %s", bad, into.N)
		}
	}
	into := struct{ N schema.Number }{number("5")}
	if err := json.Unmarshal([]byte(`{"N": null}`), &into); err != nil || into.N.String() != "5" {
		t.Errorf("null: %v, %v", into, err)
	}
}

func TestNumberConversions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text    string
		i       int64
		whole   bool
		f       float64
		exact   bool
		decimal bool
	}{
		{"12", 12, true, 12, true, true}, {"12.0", 12, true, 12, true, true}, {"1.2e1", 12, true, 12, true, true},
		{"-0", 0, true, 0, true, true}, {"12.5", 0, false, 12.5, true, true},
		{"9223372036854775808", 0, false, 9223372036854775808, false, true},
		{"9007199254740993", 9007199254740993, true, 9007199254740992, false, true}, {"0.1", 0, false, 0.1, true, true},
		{"1e400", 0, false, math.Inf(1), false, true}, {"Infinity", 0, false, math.Inf(1), true, true},
		{"1e999999", 0, false, math.Inf(1), false, false}, {"1e-999999", 0, false, 0, false, false},
		{strings.Repeat("9", 35), 0, false, 1e35, false, false},
	} {
		n := number(c.text)
		i, whole := n.Int64()
		f, exact := n.Float64()
		_, fits := n.Decimal128()
		if i != c.i || whole != c.whole || f != c.f || exact != c.exact || fits != c.decimal {
			t.Errorf("%s: %d %v, %v %v, %v", c.text, i, whole, f, exact, fits)
		}
	}
	sorted := []string{
		"NaN", "-Infinity", "-1e500", "-10", "-9.5", "-9", "-0.10", "0", "1e-999999", "0.10", "9", "9.01", "10",
		"9007199254740993", "1e999999", "Infinity",
	}
	for i, a := range sorted {
		for j, b := range sorted {
			if c := number(a).Compare(number(b)); (c < 0) != (i < j) || (c > 0) != (i > j) {
				t.Errorf("%s and %s compare as %d", a, b, c)
			}
		}
	}
	if number("1.00").Compare(numOf(t, 1.0)) != 0 || number("-0").Compare(schema.Number{}) != 0 || number("0").IsZero() ||
		!(schema.Number{}).IsZero() {
		t.Error("1.00 and 1, -0 and 0, or what is left out")
	}
}

// Random numbers of every type come back; comparisons are those of big.Rat.
func TestNumberProperty(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	var last schema.Number
	for range 300 {
		digits := make([]byte, 1+random.IntN(40))
		for i := range digits {
			digits[i] = '0' + byte(random.IntN(10))
		}
		digits[0] = '1' + byte(random.IntN(9))
		text := string(digits)
		if random.IntN(2) == 0 {
			text = "-" + text + ".0" + text
		}
		if random.IntN(2) == 0 {
			text += "e" + []string{"", "+", "-"}[random.IntN(3)] + string(digits[:1+random.IntN(min(3, len(digits)))])
		}
		for _, v := range []any{
			text, random.Uint64(), random.Int64() >> random.IntN(64), random.Int32(), math.Float64frombits(random.Uint64()),
			math.Float32frombits(random.Uint32()), random.Float64() * 1e6, numDecimal(random),
			bson.NewDecimal128(0x3040000000000000-random.Uint64N(40)<<49, random.Uint64N(1000)),
		} {
			n := numOf(t, v)
			numBack(t, n)
			if a, b := numRat(n), numRat(last); a != nil && b != nil && a.Cmp(b) != n.Compare(last) {
				t.Errorf("%s and %s compare as %d", n, last, n.Compare(last))
			}
			last = n
		}
	}
}

// numDecimal is a random Decimal128, of all exponents and any number of digits; one that has too many is refused.
func numDecimal(random *rand.Rand) any {
	for {
		d := bson.NewDecimal128(random.Uint64(), random.Uint64())
		if _, err := schema.NumberOf(d); err == nil {
			return d
		}
	}
}

// numRat is the number as a fraction, if it is of moderate size.
func numRat(n schema.Number) *big.Rat {
	if f, _ := n.Float64(); math.IsNaN(f) || math.Abs(f) > 1e300 || f != 0 && math.Abs(f) < 1e-300 ||
		f == 0 && n.String() != "0" {
		return nil
	}
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		return nil
	}
	return r
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{
		"0", "-0", "1.10", "1e5", "9007199254740993", "NaN", "1E-6176", "123456789012345678901234567890123456", "1e999999",
		"-0.000001",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := schema.NumberOf(s)
		if err != nil {
			return
		}
		if !json.Valid([]byte(s)) && n.String() != s {
			t.Errorf("%q is no JSON and is read as %s", s, n)
		}
		again, err := schema.NumberOf(n.String())
		if err != nil || again != n {
			t.Errorf("%q is written %s and read as %s, %v", s, n, again, err)
		}
		numBack(t, n)
	})
}

// The server stores Numbers as numbers, compares and adds them.
func TestNumberStored(t *testing.T) {
	type account struct {
		ID string        `bson:"_id"`
		N  schema.Number `bson:"n,omitempty"`
	}
	accounts := model.NewCollection[account, string]("accounts")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list []account
		for id, text := range map[string]string{
			"a": "9007199254740993", "b": "18446744073709551615", "c": "0.10", "d": "-1.5", "e": "9007199254740992",
		} {
			list = append(list, account{id, number(text)})
		}
		if _, err := accounts.InsertMany(list).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		f := accounts.Find(bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: number("0.05")}}}}).
			Sorted(bson.D{{Key: "n", Value: 1}})
		got, err := f.All(t.Context(), db)
		var ids []string
		for _, a := range got {
			ids = append(ids, a.ID)
		}
		if err != nil || !slices.Equal(ids, []string{"c", "e", "a", "b"}) || got[3].N.String() != "18446744073709551615" ||
			got[0].N.String() != "0.10" {
			t.Errorf("%v, %v", got, err)
		}
		if _, err := accounts.Update("a", bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: number("2")}}}}).
			Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if a, err := accounts.ByID("a").One(t.Context(), db); err != nil || a.N.String() != "9007199254740995" {
			t.Errorf("%v, %v", a, err)
		}
	})
}
