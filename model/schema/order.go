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

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func isNumber(v bson.RawValue) bool { return slices.Contains(numberTypes, v.Type) }

// orderNumbers compares numbers of any type exactly. Those that aren't numbers equal each other, and have no order beside others.
func orderNumbers(a, b bson.RawValue) (order int, ordered bool) {
	if isNaN(a) || isNaN(b) {
		return 0, isNaN(a) && isNaN(b)
	}
	return model.CompareNumbers(a, b), true
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

// isMultiple reports whether a number is a whole multiple, doubles rounded to 15 digits as MongoDB does.
func isMultiple(v bson.RawValue, of int64) bool {
	if isNaN(v) || infinity(v) != 0 {
		return false
	}
	r := model.Rational(v)
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
		return append(append(append(b, 'n'), model.Rational(v).RatString()...), ';')
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
