package schema

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func isNumber(v bson.RawValue) bool { return slices.Contains(numberTypes, v.Type) }

// orderNumbers compares numbers of any type exactly. Those that aren't numbers equal each other, and have no order beside others.
func orderNumbers(a, b bson.RawValue) (order int, ordered bool) {
	if isNaN(a) || isNaN(b) {
		return 0, isNaN(a) && isNaN(b)
	}
	return compareNumbers(a, b), true
}

func isNaN(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeDouble:
		return math.IsNaN(v.Double())
	case bson.TypeDecimal128:
		return v.Decimal128().IsNaN()
	}
	return false
}

// compareNumbers compares two numbers, of which none is NaN.
func compareNumbers(a, b bson.RawValue) int {
	if x, ok := a.AsInt64OK(); ok && a.Type != bson.TypeDouble && a.Type != bson.TypeDecimal128 {
		if y, ok := b.AsInt64OK(); ok && b.Type != bson.TypeDouble && b.Type != bson.TypeDecimal128 {
			return cmp.Compare(x, y)
		}
	}
	if c := cmp.Compare(infinity(a), infinity(b)); c != 0 || infinity(a) != 0 {
		return c
	}
	return rational(a).Cmp(rational(b))
}

// infinity is the sign of an infinite number, 0 for others.
func infinity(v bson.RawValue) int {
	switch v.Type {
	case bson.TypeDouble:
		if f := v.Double(); math.IsInf(f, 0) {
			return cmp.Compare(f, 0)
		}
	case bson.TypeDecimal128:
		return v.Decimal128().IsInf()
	}
	return 0
}

// rational is a finite number, exactly.
func rational(v bson.RawValue) *big.Rat {
	switch v.Type {
	case bson.TypeDouble:
		return new(big.Rat).SetFloat64(v.Double())
	case bson.TypeDecimal128:
		digits, exponent, err := v.Decimal128().BigInt()
		if err != nil {
			return new(big.Rat)
		}
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil)
		if exponent < 0 {
			return new(big.Rat).SetFrac(digits, scale)
		}
		return new(big.Rat).SetInt(digits.Mul(digits, scale))
	}
	return new(big.Rat).SetInt64(v.AsInt64())
}

// isMultiple reports whether a number is a whole multiple, doubles rounded to 15 digits as MongoDB does.
func isMultiple(v bson.RawValue, of int64) bool {
	if isNaN(v) || infinity(v) != 0 {
		return false
	}
	r := rational(v)
	if v.Type == bson.TypeDouble {
		r, _ = new(big.Rat).SetString(strconv.FormatFloat(v.Double(), 'e', 14, 64))
	}
	return r.Quo(r, new(big.Rat).SetInt64(of)).IsInt()
}

// sameValue reports whether two values are equal as enum has it.
func sameValue(a, b bson.RawValue) bool { return canonical(a) == canonical(b) }

// canonical is a value as text, equal for equal values: numbers of any type, and documents with their fields in any order.
func canonical(v bson.RawValue) string { return string(appendCanonical(nil, v)) }

func appendCanonical(b []byte, v bson.RawValue) []byte {
	switch {
	case isNumber(v) && isNaN(v):
		return append(b, "nNaN;"...)
	case isNumber(v) && infinity(v) != 0:
		return append(strconv.AppendInt(append(b, "ninf"...), int64(infinity(v)), 10), ';')
	case isNumber(v):
		return append(append(append(b, 'n'), rational(v).RatString()...), ';')
	case v.Type == bson.TypeEmbeddedDocument:
		elements, _ := bson.Raw(v.Value).Elements()
		slices.SortStableFunc(elements, func(x, y bson.RawElement) int { return strings.Compare(x.Key(), y.Key()) })
		b = append(b, 'd', '{')
		for _, e := range elements {
			b = appendCanonical(append(append(b, e.Key()...), 0), e.Value())
		}
		return append(b, '}')
	case v.Type == bson.TypeArray:
		values, _ := v.Array().Values()
		b = append(b, 'a', '[')
		for _, x := range values {
			b = appendCanonical(b, x)
		}
		return append(b, ']')
	}
	b = append(b, 'v', byte(v.Type))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(v.Value)))
	return append(b, v.Value...)
}

// compile compiles a pattern so that $ matches before a final line feed too, as it does on the server.
func compile(pattern string) (*regexp.Regexp, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	end, err := syntax.Parse(`\n?\z`, syntax.Perl)
	if err != nil {
		return nil, err
	}
	return regexp.Compile(dollar(tree, end).String())
}

// dollar replaces each $ of a pattern.
func dollar(re, end *syntax.Regexp) *syntax.Regexp {
	if re.Op == syntax.OpEndText && re.Flags&syntax.WasDollar != 0 {
		return end
	}
	for i, sub := range re.Sub {
		re.Sub[i] = dollar(sub, end)
	}
	return re
}
