// Facts about a case: its command, its filter or update, and its documents. They run nothing.

package rules

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// mentions reports whether a string in v begins with the prefix. With the prefix "$" it finds field paths and
// variables.
func mentions(v any, prefix string) bool {
	found := false
	tree.WalkValues(v, func(v any) {
		s, ok := v.(string)
		found = found || ok && strings.HasPrefix(s, prefix)
	})
	return found
}

// mentionsField reports whether an expression has a field path or a variable, outside $literal. "$a" and "$$v" are
// such, {$literal: "$a"} is not.
func mentionsField(v any) bool {
	return mentions(tree.Map(v, func(v any) any {
		if doc, ok := v.(bson.D); ok && len(doc) == 1 && doc[0].Key == "$literal" {
			return nil
		}
		return v
	}), "$")
}

// unwrapOperand returns the only operand of an operator, which may be written as it is or in an array. {$toUpper: "x"}
// and {$toUpper: ["x"]} both have the operand "x".
func unwrapOperand(v any) any {
	if list, ok := v.(bson.A); ok && len(list) == 1 {
		return list[0]
	}
	return v
}

// hasConstant reports whether a value is, or contains, a document without field paths and variables. It serves
// hasConstantInDotted (withheld.go).
func hasConstant(v any) bool {
	found := false
	tree.WalkValues(v, func(v any) {
		_, ok := v.(bson.D)
		found = found || ok && !mentions(v, "$")
	})
	return found
}

// hasConstantOperator reports whether a value is, or contains, an operator without field paths and variables, such as
// the $divide in:
//
//	{$add: ["$a", {$divide: [1, 0]}]}
func hasConstantOperator(v any) bool {
	found := false
	tree.WalkValues(v, func(v any) {
		doc, ok := v.(bson.D)
		found = found ||
			ok && len(doc) == 1 && strings.HasPrefix(doc[0].Key, "$") && doc[0].Key != "$literal" && !mentionsField(doc)
	})
	return found
}

// laterOperand reports whether one of the operators has a second or later operand for which is reports true.
func laterOperand(command bson.D, is func(any) bool, operators ...string) bool {
	found := false
	tree.Walk(command, func(key string, v any) {
		list, _ := v.(bson.A)
		for i := 1; slices.Contains(operators, key) && i < len(list); i++ {
			found = found || is(list[i])
		}
	})
	return found
}

// hasUnused reports whether a $let has a variable that its "in" doesn't use. In {$let: {vars: {v: 1, w: 2}, in: "$$v"}}
// it is w.
func hasUnused(command bson.D) bool {
	found := false
	tree.Walk(command, func(key string, v any) {
		vars, _ := tree.Lookup(v, "vars").(bson.D)
		for _, e := range vars {
			found = found || key == "$let" && !usesVariable(tree.Lookup(v, "in"), e.Key)
		}
	})
	return found
}

// usesVariable reports whether an expression uses a variable. A $let inside may set a variable of the same name: only
// its "vars" can use the outer variable.
func usesVariable(v any, name string) bool {
	switch v := v.(type) {
	case string:
		return v == "$$"+name || strings.HasPrefix(v, "$$"+name+".")
	case bson.A:
		return slices.ContainsFunc(v, func(v any) bool { return usesVariable(v, name) })
	case bson.D:
		if vars, ok := tree.Lookup(v, "vars").(bson.D); ok && tree.HasField(vars, name) {
			return usesVariable(vars, name)
		}
		return slices.ContainsFunc(v, func(e bson.E) bool { return usesVariable(e.Value, name) })
	}
	return false
}

// hasPath reports whether a path of the update contains the text, such as ".$[".
func (x difference) hasPath(text string) bool {
	found := false
	tree.Walk(x.Change(), func(key string, _ any) { found = found || strings.Contains(key, text) })
	return found
}

// hasPathEnd reports whether a path of the update ends with the text. It finds ".$" in {$set: {"a.$": 5}}, and the path
// that an error of the engine names.
func (x difference) hasPathEnd(text string) bool {
	found := false
	tree.Walk(x.Change(), func(key string, _ any) { found = found || strings.HasSuffix(key, text) })
	return found
}

// hasIndex reports whether a path of a filter contains an index. The grammar's field names have no digits, and its
// indexes are 0 to 2. "a.0" is such a path.
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

// pullsAll reports whether a $pull has an empty document as its condition.
func pullsAll(update any) bool {
	fields, _ := tree.Lookup(update, "$pull").(bson.D)
	return slices.ContainsFunc(fields, func(e bson.E) bool { doc, ok := e.Value.(bson.D); return ok && len(doc) == 0 })
}

// hasDateBefore1970 reports whether the case has a date before 1970, whose number of milliseconds is negative.
func (x difference) hasDateBefore1970() bool {
	return x.HasValue(func(v any) bool { t, ok := v.(bson.DateTime); return ok && t < 0 })
}

// hasRegexIn reports whether $all, or $in of one value, contains a regular expression:
//
//	{a: {$in: [/x/]}}
//	{a: {$all: [/x/, 5]}}
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

// hasElemMatchIn reports whether $all contains $elemMatch.
func hasElemMatchIn(filter any) bool {
	found := false
	tree.Walk(filter, func(key string, v any) {
		found = found || key == "$all" && (cases.Case{Command: bson.D{{Key: key, Value: v}}}).Uses("$elemMatch")
	})
	return found
}

// hasRepeatedIn reports whether an $in has one value several times, and no other value. In {a: {$in: [5, 5.0]}} the
// values are equal, in {a: {$in: [5, 6]}} they are not.
func hasRepeatedIn(command bson.D) bool {
	found := false
	compareElements := func(key string, v any) {
		list, _ := v.(bson.A)
		if key != "$in" || len(list) < 2 {
			return
		}
		same := true
		for _, x := range list {
			same = same && bsonval.Compare(x, list[0]) == 0
		}
		found = found || same
	}
	tree.Walk(command, compareElements)
	return found
}

// hasDottedArrayFilter reports whether an array filter is on a field of the elements: {"x.a": 5}.
func hasDottedArrayFilter(lists ...any) bool {
	found := false
	for _, v := range lists {
		filters, _ := v.(bson.A)
		for _, f := range filters {
			tree.Walk(f, func(key string, _ any) { found = found || strings.Contains(key, ".") })
		}
	}
	return found
}

// comparesExtreme reports whether MinKey or MaxKey is an operand of an operator in the filter or pipeline:
//
//	{a: {$gt: MinKey}}
//	{$expr: {$gt: ["$a", MinKey]}}
func comparesExtreme(filter any) bool {
	found := false
	tree.Walk(filter, func(key string, v any) {
		list, _ := v.(bson.A)
		found = found || strings.HasPrefix(key, "$") && (isExtreme(v) || slices.ContainsFunc(list, isExtreme))
	})
	return found
}

// asksForMissing reports whether a filter compares a field in a document with null, which a missing field equals.
// {"a.b": null} and {"a.b": {$in: [null, 1]}} are such filters.
func asksForMissing(filter any) bool {
	found := false
	tree.Walk(filter, func(key string, v any) {
		null := v == nil
		tree.WalkValues(v, func(v any) { null = null || v == nil })
		found = found || strings.Contains(key, ".") && null
	})
	return found
}

// hasEqualDecimals reports whether the case has two equal numbers of which one is a decimal, and which aren't written
// with the same bytes: 1.5 and 1.50, a double and a decimal, or NaNs of both types.
func (x difference) hasEqualDecimals() bool {
	written := map[bson.Decimal128]any{}
	found := false
	noteNumber := func(v any) {
		plain, ok := simplifyDecimals(v).(bson.Decimal128)
		if f, isFloat := v.(float64); isFloat && math.IsNaN(f) {
			plain, ok = tree.ParseDecimal("NaN"), true
		} else if isFloat && !math.IsInf(f, 0) {
			n, err := bson.ParseDecimal128(strconv.FormatFloat(f, 'g', -1, 64))
			plain, ok = simplifyDecimals(n).(bson.Decimal128)
			ok = ok && err == nil
		}
		if !ok {
			return
		}
		before, seen := written[plain]
		found = found || seen && !bytes.Equal(tree.Encode(before), tree.Encode(v))
		written[plain] = v
	}
	tree.WalkValues(bson.A{x.Docs, x.Command}, noteNumber)
	return found
}

// picksOneBy reports whether the case is a findAndModify that sorts by values of a kind. If the two sides sort such
// values in another order, they change another document, and anything may differ.
func (x difference) picksOneBy(is func(any) bool) bool {
	keys, _ := x.Get("sort").(bson.D)
	return x.Verb() == "findAndModify" && slices.ContainsFunc(keys, func(key bson.E) bool {
		return slices.ContainsFunc(x.Docs, func(doc bson.D) bool { return reaches(doc, key.Key, is) })
	})
}

// reaches reports whether a path leads to a value of a kind. As in a filter, a part of a path is a field's name, or an
// index, or leads through each element of an array. The path a.b leads to 1 and 2 in {a: [{b: 1}, {b: 2}]}, and a.0 to
// the first element.
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
