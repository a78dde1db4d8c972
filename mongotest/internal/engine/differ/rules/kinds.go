// Kinds of values. Rules pass these functions to HasValue, which asks for a value in the case's documents or command,
// or in an outcome, and to picksOneBy, which asks for a value to sort by.

package rules

import (
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// isDecimal reports whether a value is a decimal.
func isDecimal(v any) bool {
	_, ok := v.(bson.Decimal128)
	return ok
}

// isLarge reports whether a value is a number from 2^53 on, which doubles can't tell from its neighbours. A negative
// double counts, a negative long doesn't.
func isLarge(v any) bool {
	if n, ok := v.(int64); ok {
		return n >= 1<<53
	}
	f, ok := v.(float64)
	return ok && math.Abs(f) >= 1<<53
}

// isTenDigits reports whether a value is a finite double from 1e10 on. Rules on large amounts and on texts of doubles
// ask for it.
func isTenDigits(v any) bool {
	f, ok := v.(float64)
	return ok && math.Abs(f) >= 1e10 && !math.IsInf(f, 0)
}

// isFraction reports whether a value is a number between -1 and 1 other than 0. The server takes such a number for 0
// where it needs a truth. A decimal above -1 and up to -0.1 isn't found, because its sign is counted as a digit.
func isFraction(v any) bool {
	if f, ok := v.(float64); ok {
		return f != 0 && math.Abs(f) < 1
	}
	n, ok := v.(bson.Decimal128)
	if !ok {
		return false
	}
	digits, exp, err := n.BigInt()
	return err == nil && digits.Sign() != 0 && exp < 0 && len(digits.String()) <= -exp
}

// isBrokenDecimal reports whether a value is a decimal that isn't an integer, or isn't finite. 1.5, NaN and Infinity
// are such decimals, 1.0 and 150 are not.
func isBrokenDecimal(v any) bool {
	n, ok := v.(bson.Decimal128)
	if !ok {
		return false
	}
	significand, exp, err := n.BigInt()
	if err != nil {
		return true
	}
	f, _ := significand.Float64()
	return exp < 0 && math.Mod(f, math.Pow10(-exp)) != 0
}

// isLongDecimal reports whether a decimal is 0, or has the zeros that computing with 0E-15 gives.
func isLongDecimal(v any) bool {
	d, ok := v.(bson.Decimal128)
	if !ok {
		return false
	}
	n, exp, err := d.BigInt()
	return err == nil && (n.Sign() == 0 || exp <= -13)
}

// isExtreme reports whether a value is MinKey or MaxKey.
func isExtreme(v any) bool {
	switch v.(type) {
	case bson.MinKey, bson.MaxKey:
		return true
	}
	return false
}

// hasExponent reports whether a value is a text with a number such as 1e+15.
func hasExponent(v any) bool {
	s, _ := v.(string)
	return strings.Contains(strings.ToLower(s), "e+")
}

// isZoneFormat reports whether a value is a format of $dateToString with the offset of the time zone in minutes, as
// %H:%M%Z is.
func isZoneFormat(v any) bool {
	s, ok := v.(string)
	return ok && strings.Contains(s, "%Z")
}

// isAnchored reports whether a value is a regular expression that begins with ^.
func isAnchored(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.HasPrefix(v, "^")
	case bson.Regex:
		return strings.HasPrefix(v.Pattern, "^")
	}
	return false
}

// isDottedIndex reports whether a value is the dotted path that the grammar uses for the index of $unwind.
func isDottedIndex(v any) bool { return v == "d.i" }

// isNested reports whether a value is an array with an array in it.
func isNested(v any) bool {
	list, _ := v.(bson.A)
	return slices.ContainsFunc(list, func(v any) bool { _, isArray := v.(bson.A); return isArray })
}

// isMixed reports whether a value is an array with GeoJSON in it, or an array that begins with two numbers beside
// something else. [[1, 2], "x"] and [{type: "Point", coordinates: [1, 2]}] are such arrays.
func isMixed(v any) bool {
	list, _ := v.(bson.A)
	pair := func(v any) bool {
		list, _ := v.(bson.A)
		return len(list) >= 2 && bsonval.IsNumber(list[0]) && bsonval.IsNumber(list[1])
	}
	return slices.ContainsFunc(list, func(v any) bool { return tree.Lookup(v, "coordinates") != nil }) ||
		slices.ContainsFunc(list, pair) && slices.ContainsFunc(list, func(v any) bool { return !pair(v) })
}

// isFarOff reports whether a value is a pair of numbers that are no place on the sphere. [500, 500] is such a pair,
// [180, 90] is not. Every decimal counts as too large.
func isFarOff(v any) bool {
	list, ok := v.(bson.A)
	if !ok || len(list) < 2 {
		return false
	}
	far := false
	for i, limit := range []float64{180, 90} {
		switch n := list[i].(type) {
		case int32:
			far = far || math.Abs(float64(n)) > limit
		case int64:
			far = far || math.Abs(float64(n)) > limit
		case float64:
			far = far || math.Abs(n) > limit
		case bson.Decimal128:
			far = true
		default:
			return false
		}
	}
	return far
}

// isEmptyDocument reports whether a value is {}.
func isEmptyDocument(v any) bool {
	doc, ok := v.(bson.D)
	return ok && len(doc) == 0
}

// isHollow reports whether a value is a document without scalars and arrays, at any depth: {}, {a: {}}.
func isHollow(v any) bool {
	doc, ok := v.(bson.D)
	return ok && !slices.ContainsFunc(doc, func(e bson.E) bool { return !isHollow(e.Value) })
}
