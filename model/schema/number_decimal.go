package schema

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// decimal is ±digits × 10^exp. digits has no leading zeros, except "0" itself.
type decimal struct {
	neg    bool
	digits string
	exp    int
}

// scanDecimal reads a number in JSON's syntax.
func scanDecimal(s string) (d decimal, ok bool) {
	rest, neg := strings.CutPrefix(s, "-")
	d.neg = neg
	whole := leadingDigits(rest)
	rest = rest[len(whole):]
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return d, false
	}
	if after, point := strings.CutPrefix(rest, "."); point {
		fraction := leadingDigits(after)
		if fraction == "" {
			return d, false
		}
		whole, rest, d.exp = whole+fraction, after[len(fraction):], -len(fraction)
	}
	if rest != "" {
		if rest[0] != 'e' && rest[0] != 'E' {
			return d, false
		}
		text := rest[1:]
		digits := strings.TrimLeft(text, "+-")
		if len(text)-len(digits) > 1 || digits == "" || leadingDigits(digits) != digits {
			return d, false
		}
		e, err := strconv.Atoi(text)
		if err != nil || e > 2*maxExponent || e < -2*maxExponent {
			return d, false
		}
		d.exp += e
	}
	d.digits = strings.TrimLeft(whole, "0")
	if d.digits == "" {
		d.digits = "0"
	}
	return d, d.exp <= maxExponent && d.exp >= -maxExponent
}

func leadingDigits(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
}

// text writes all digits as Decimal128 does: plainly, or with an exponent if the point is
// far away.
func (d decimal) text() string {
	sign := ""
	if d.neg {
		sign = "-"
	}
	adjusted := d.exp + len(d.digits) - 1
	switch {
	case d.exp == 0:
		return sign + d.digits
	case d.exp < 0 && adjusted >= -6:
		if point := len(d.digits) + d.exp; point > 0 {
			return sign + d.digits[:point] + "." + d.digits[point:]
		}
		return sign + "0." + strings.Repeat("0", -d.exp-len(d.digits)) + d.digits
	}
	mantissa := d.digits[:1]
	if len(d.digits) > 1 {
		mantissa += "." + d.digits[1:]
	}
	e := strconv.Itoa(adjusted)
	if adjusted >= 0 {
		e = "+" + e
	}
	return sign + mantissa + "E" + e
}

// shortest returns the digits without trailing zeros, and the matching exponent.
func (d decimal) shortest() (digits string, exp int) {
	if d.digits == "0" {
		return "0", 0
	}
	digits = strings.TrimRight(d.digits, "0")
	return digits, d.exp + len(d.digits) - len(digits)
}

func (d decimal) compare(e decimal) int {
	a, x := d.shortest()
	b, y := e.shortest()
	sign := func(neg bool, digits string) int {
		switch {
		case digits == "0":
			return 0
		case neg:
			return -1
		}
		return 1
	}
	s, t := sign(d.neg, a), sign(e.neg, b)
	if s != t || s == 0 {
		return cmp.Compare(s, t)
	}
	// same sign: compare the position of the first digit, then the digits
	if c := cmp.Compare(len(a)+x, len(b)+y); c != 0 {
		return s * c
	}
	return s * strings.Compare(a, b)
}

// fits128 reports whether a Decimal128 has the same digits and exponent: at most 34
// digits, an exponent from -6176 to 6111.
func (d decimal) fits128() bool { return len(d.digits) <= 34 && d.exp >= -6176 && d.exp <= 6111 }

// jsonFloat writes a finite float64 as encoding/json and JavaScript do, but keeps the
// sign of -0.
func jsonFloat(f float64) string {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.FormatFloat(f, format, -1, 64)
}

// ofFloat converts a float64. An integer beyond MaxSafe gets an exponent, because its
// last digits aren't exact.
func ofFloat(f float64) Number {
	text := ""
	switch {
	case math.IsNaN(f):
		text = textNaN
	case math.IsInf(f, 1):
		text = textInfinity
	case math.IsInf(f, -1):
		text = textNegInfinity
	case math.Abs(f) > MaxSafe:
		d, _ := scanDecimal(strconv.FormatFloat(f, 'e', -1, 64))
		if d.exp == 0 { // all digits of a long integer
			d = decimal{d.neg, d.digits + "0", -1}
		}
		text = d.text()
	default:
		d, _ := scanDecimal(jsonFloat(f))
		text = d.text()
	}
	return Number{text, doubleType}
}
