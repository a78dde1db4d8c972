package bsonval_test

import (
	"testing"

	. "github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
)

func TestArithmetic(t *testing.T) {
	long := func(n string) string { return "{$numberLong: '" + n + "'}" }
	decimal := func(n string) string { return "{$numberDecimal: '" + n + "'}" }
	for _, c := range []struct {
		reason, op, a, b, want string
		overflow               bool
	}{
		{"ints", "+", "1", "2", "3", false},
		{"ints widen", "+", "2147483647", "1", long("2147483648"), false},
		{"int and long", "+", "1", long("2"), long("3"), false},
		{"longs overflow", "+", long("9223372036854775807"), "1", "", true},
		{"longs overflow down", "-", long("-9223372036854775808"), "1", "", true},
		{"minus zero", "-", long("-9223372036854775808"), "0", long("-9223372036854775808"), false},
		{"doubles", "+", "0.5", "1", "1.5", false},
		{"decimals keep their digits", "+", decimal("1.50"), "1", decimal("2.50"), false},
		{"a double becomes 15 digits", "+", decimal("0"), "0.1", decimal("0.100000000000000"), false},
		{"ints multiply into a long", "*", "65536", "65536", long("4294967296"), false},
		{"longs overflow times", "*", long("4611686018427387904"), "2", "", true},
		{"the least long times one", "*", long("-9223372036854775808"), "1", long("-9223372036854775808"), false},
		{"the least long times minus one", "*", long("-9223372036854775808"), "-1", "", true},
		{"negative times negative", "*", long("-3"), long("-4"), long("12"), false},
		{
			reason: "34 digits round half to even", op: "*", a: decimal("1.000000000000000000000000000000005"),
			b: decimal("0.1000000000000000000000000000000000"), want: decimal("0.1000000000000000000000000000000005"),
			overflow: false,
		},
		{"infinity minus infinity", "-", decimal("Infinity"), decimal("Infinity"), decimal("NaN"), false},
		{"division gives a double", "/", "7", "2", "3.5", false},
		{"decimal division", "/", decimal("1"), "3", decimal("0.3333333333333333333333333333333333"), false},
		{"decimal division that comes out even", "/", decimal("6"), "3", decimal("2"), false},
		{"remainder has the dividend's sign", "%", "-7", "3", "-1", false},
		{"remainder by minus one", "%", long("-9223372036854775808"), long("-1"), long("0"), false},
		{"remainder of doubles", "%", "5.5", "2", "1.5", false},
		{"remainder of decimals", "%", decimal("5.5"), "2", decimal("1.5"), false},
	} {
		a, b := valuetest.Value(c.a), valuetest.Value(c.b)
		var got any
		ok := true
		switch c.op {
		case "+":
			got, ok = Add(a, b)
		case "-":
			got, ok = Sub(a, b)
		case "*":
			got, ok = Mul(a, b)
		case "/":
			got = Div(a, b)
		case "%":
			got = Mod(a, b)
		}
		if ok == c.overflow || (ok && !Equal(got, valuetest.Value(c.want))) {
			t.Errorf("%s: %s %s %s = %v (%T), %t; want %s", c.reason, c.a, c.op, c.b, got, got, ok, c.want)
		}
	}
}

func TestInt64(t *testing.T) {
	for _, c := range []struct {
		reason, v string
		want      int64
		ok        bool
	}{
		{"integral double", "3.0", 3, true},
		{"fraction", "3.5", 0, false},
		{"beyond a long", "9223372036854775808.0", 0, false},
		{"integral decimal", "{$numberDecimal: '3.00'}", 3, true},
		{"huge decimal", "{$numberDecimal: '1E300'}", 0, false},
		{"NaN", "{$numberDouble: 'NaN'}", 0, false},
		{"no number", "'3'", 0, false},
	} {
		if got, ok := Int64(valuetest.Value(c.v)); got != c.want || ok != c.ok {
			t.Errorf("%s: Int64(%s) = %d, %t", c.reason, c.v, got, ok)
		}
	}
}

func TestRegex(t *testing.T) {
	for _, c := range []struct {
		reason, pattern, options, text string
		want                           bool
	}{
		{"plain", "b", "", "abc", true},
		{"i", "B", "i", "abc", true},
		{"the end may come before a last newline", "c$", "", "abc\n", true},
		{"but not before two", "c$", "", "abc\n\n", false},
		{"m", "^b$", "m", "a\nb\nc", true},
		{"s", "a.b", "s", "a\nb", true},
		{"x drops white space and comments", "a b # c\n c", "x", "abc", true},
		{"x keeps it in a class", "a[ ]b", "x", "a b", true},
		{"quoted", `\Qa.b\E`, "", "axb", false},
		{"white space has the vertical tab", `\s`, "", "\v", true},
		{"in a class too", `^[\sx]+$`, "", "\vx", true},
		{"a dollar in a class", "a[$]b", "", "a$b", true},
		{"escaped dollar", `a\$`, "", "a$", true},
		{"a bracket first in its class", "[]a]", "", "]", true},
		{"escaped slash", `a\/b`, "", "a/b", true},
		{"escaped non-ASCII", `\é`, "", "é", true},
		{"named class", "^[[:alpha:]]+$", "", "abc", true},
	} {
		re, err := CompileRegex(c.pattern, c.options)
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
		} else if re.MatchString(c.text) != c.want {
			t.Errorf("%s: /%s/%s (as %s) on %q isn't %t", c.reason, c.pattern, c.options, re, c.text, c.want)
		}
	}
	for reason, pattern := range map[string]string{
		"lookahead": "a(?=b)", "lookbehind": "(?<=a)b", "backreference": `(a)\1`, "possessive": "a++",
	} {
		if _, err := CompileRegex(pattern, ""); err == nil {
			t.Errorf("%s isn't refused", reason)
		}
	}
}

func TestRegexPrefix(t *testing.T) {
	for _, c := range []struct {
		pattern, options, want string
		ok                     bool
	}{
		{"^abc", "", "abc", true}, {"^abc", "i", "", false}, {"^abc", "m", "", false}, {"abc", "", "", false},
		{`^a\.b`, "", "a.b", true}, {"^ab*", "", "a", true}, {"^ab?c", "", "a", true}, {"^ab+", "", "ab", true},
		{"^a|b", "", "", false}, {"^a{2}", "", "", false}, {`^a\d`, "", "a", true}, {"^é.", "", "é", true},
		{"^é*", "", "", false}, {"^(?i)a", "", "", false}, {"^", "", "", false},
	} {
		if got, ok := RegexPrefix(c.pattern, c.options); got != c.want || ok != c.ok {
			t.Errorf("/%s/%s: %q, %t", c.pattern, c.options, got, ok)
		}
	}
}
