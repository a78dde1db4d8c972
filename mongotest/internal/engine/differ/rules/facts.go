package rules

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// hasPath reports whether a path of the update has the text in it.
func (x difference) hasPath(text string) bool {
	found := false
	tree.Walk(x.Change(), func(key string, _ any) { found = found || strings.Contains(key, text) })
	return found
}

func twiceID(doc bson.D) bool {
	n := 0
	for _, e := range doc {
		if e.Key == "_id" {
			n++
		}
	}
	return n > 1
}

func plainZeros(v any) any {
	if doc, ok := v.(bson.D); ok {
		return without(doc, "nModified")
	}
	if f, ok := v.(float64); ok && f == 0 {
		return 0.0
	}
	return v
}

// equalDecimals reports whether two decimals of the documents are equal but written in different ways, a
// double is equal to a decimal, or there are NaNs of both types.
func (x difference) equalDecimals() bool {
	written := map[bson.Decimal128]any{}
	found := false
	tree.WalkValues(bson.A{x.Docs, x.Command}, func(v any) {
		plain, ok := plainDecimals(v).(bson.Decimal128)
		if f, isFloat := v.(float64); isFloat && math.IsNaN(f) {
			plain, ok = tree.ParseDecimal("NaN"), true
		} else if isFloat && !math.IsInf(f, 0) {
			n, err := bson.ParseDecimal128(strconv.FormatFloat(f, 'g', -1, 64))
			plain, ok = plainDecimals(n).(bson.Decimal128)
			ok = ok && err == nil
		}
		if !ok {
			return
		}
		before, seen := written[plain]
		found = found || seen && !bytes.Equal(tree.Encode(before), tree.Encode(v))
		written[plain] = v
	})
	return found
}

func isExtreme(v any) bool {
	switch v.(type) {
	case bson.MinKey, bson.MaxKey:
		return true
	}
	return false
}

// isDottedIndex reports whether a value is the path below another field that $unwind stores an index at.
func isDottedIndex(v any) bool { return v == "d.i" }

// hasIndex reports whether a path of a filter has a place in an array in it.
func hasIndex(filter any) bool {
	found := false
	tree.Walk(filter, func(key string, _ any) { found = found || strings.ContainsAny(key, "012") })
	return found
}

// addsNothing reports whether the update adds no element to an array, or keeps none: {$each: []}, {$slice: 0}.
func (x difference) addsNothing() bool {
	found := false
	tree.Walk(x.Change(), func(key string, v any) {
		found = found || key == "$each" && tree.IsEmptyArray(v) || key == "$slice" && v == int32(0)
	})
	return found
}

// before1970 reports whether a date of the case is.
func (x difference) before1970() bool {
	return x.HasValue(func(v any) bool { t, ok := v.(bson.DateTime); return ok && t < 0 })
}

// hasRegexIn reports whether $all, or $in of one value, has a regular expression.
func hasRegexIn(filter any) bool {
	found := false
	tree.Walk(filter, func(key string, v any) {
		list, _ := v.(bson.A)
		for _, x := range list {
			_, isRegex := x.(bson.Regex)
			found = found || isRegex && (key == "$all" || key == "$in" && len(list) == 1)
		}
	})
	return found
}

// hasElemMatchIn reports whether $all has $elemMatch in it.
func hasElemMatchIn(filter any) bool {
	found := false
	tree.Walk(filter, func(key string, v any) {
		found = found || key == "$all" && (cases.Case{Command: bson.D{{Key: key, Value: v}}}).Uses("$elemMatch")
	})
	return found
}

// dottedArrayFilter reports whether an array filter is on a field of the elements.
func dottedArrayFilter(lists ...any) bool {
	found := false
	for _, v := range lists {
		filters, _ := v.(bson.A)
		for _, f := range filters {
			tree.Walk(f, func(key string, _ any) { found = found || strings.Contains(key, ".") })
		}
	}
	return found
}

// encodesAlike reports whether two documents are equal once both have gone through f.
func encodesAlike(f func(any) any, x, y bson.D) bool {
	return bytes.Equal(tree.Encode(tree.Map(x, f)), tree.Encode(tree.Map(y, f)))
}

// picksOneBy reports whether the case is a findAndModify that sorts by values of a kind: another order is another
// document, and anything may differ.
func (x difference) picksOneBy(is func(any) bool) bool {
	keys, _ := x.Get("sort").(bson.D)
	return x.Verb() == "findAndModify" && slices.ContainsFunc(keys, func(key bson.E) bool {
		return slices.ContainsFunc(x.Docs, func(doc bson.D) bool { return reaches(doc, key.Key, is) })
	})
}

// reaches reports whether a path leads to a value of a kind: names and places in arrays, or through each of their
// elements.
func reaches(v any, path string, is func(any) bool) bool {
	if path == "" {
		return is(v)
	}
	name, rest, _ := strings.Cut(path, ".")
	list, isArray := v.(bson.A)
	if !isArray {
		return reaches(tree.Lookup(v, name), rest, is)
	}
	if i, err := strconv.Atoi(name); err == nil && i < len(list) && reaches(list[i], rest, is) {
		return true
	}
	return slices.ContainsFunc(list, func(v any) bool { _, isDoc := v.(bson.D); return isDoc && reaches(v, path, is) })
}
