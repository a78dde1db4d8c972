package schema

import (
	"encoding/binary"
	"math/big"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// orderNumbers compares numbers of any type exactly. NaN equals NaN, and has no order
// with other numbers.
func orderNumbers(a, b bson.RawValue) (order int, ordered bool) {
	if bsonval.RawNaN(a) || bsonval.RawNaN(b) {
		return 0, bsonval.EqualRaw(a, b)
	}
	return bsonval.CompareRaw(a, b), true
}

// isMultiple reports whether a number is a multiple of another. It rounds doubles to 15
// digits, as MongoDB does.
func isMultiple(v bson.RawValue, of int64) bool {
	r := bsonval.Rat(v)
	if r == nil {
		return false
	}
	if v.Type == bson.TypeDouble {
		r, _ = new(big.Rat).SetString(strconv.FormatFloat(v.Double(), 'e', 14, 64))
	}
	return r.Quo(r, new(big.Rat).SetInt64(of)).IsInt()
}

// sameValue reports whether enum treats two values as equal.
func sameValue(a, b bson.RawValue) bool { return canonical(a) == canonical(b) }

// canonical returns a map key that is equal for equal values: for numbers of any type,
// and for documents in any field order.
func canonical(v bson.RawValue) string { return string(appendCanonical(nil, v)) }

func appendCanonical(b []byte, v bson.RawValue) []byte {
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		elements, _ := bson.Raw(v.Value).Elements()
		slices.SortStableFunc(elements, func(x, y bson.RawElement) int { return strings.Compare(x.Key(), y.Key()) })
		b = append(b, '{')
		for _, e := range elements {
			b = appendCanonical(append(append(b, e.Key()...), 0), e.Value())
		}
		return append(b, '}')
	case bson.TypeArray:
		values, _ := v.Array().Values()
		b = append(b, '[')
		for _, x := range values {
			b = appendCanonical(b, x)
		}
		return append(b, ']')
	}
	key := bsonval.Key(v)
	b = binary.LittleEndian.AppendUint32(append(b, 'v'), uint32(len(key)))
	return append(b, key...)
}

// compile compiles a pattern so that $ also matches before a final line feed, as on the
// server.
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
