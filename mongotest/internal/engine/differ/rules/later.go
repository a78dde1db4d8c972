package rules

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// laterUpdateRules are of updates too.
var laterUpdateRules = []rule{
	{
		"$pull by conditions on fields removes what is no document",
		"MongoDB removes the documents that match as in a filter ($pull, \"Remove Items from an Array of Documents\").",
		func(x difference) bool {
			return x.IsUpdate() && (pullsAll(x.Change()) || x.HasValue(isNested)) && x.within(plainUpdate, "$pull")
		},
	},
	{
		"the positional operator makes no field that isn't there",
		"MongoDB's $ is the index that the query matched, which becomes a field's name where there is no array ($ (update)).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.IsUpdate() && (x.hasPath(".$.") || x.hasPathEnd(".$")) &&
				(strings.HasPrefix(x.server.Text, "The specified path '") &&
					strings.HasSuffix(x.server.Text,
						"does not exist within the document. Cannot apply array update operations.") ||
					strings.HasPrefix(x.server.Text,
						"Array updates cannot be applied to an element that is not an array "))
		},
	},
}

// pullsAll reports whether a $pull is by an empty document.
func pullsAll(update any) bool {
	fields, _ := tree.Lookup(update, "$pull").(bson.D)
	return slices.ContainsFunc(fields, func(e bson.E) bool { doc, ok := e.Value.(bson.D); return ok && len(doc) == 0 })
}

// laterRules are of expressions too.
var laterRules = []rule{
	{
		"a constant is computed though an operand before it is null, or decides",
		"MongoDB's manual doesn't say when an expression without fields is computed.",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.constant() &&
				laterOperand(x.Command, hasConstantOperator, "$add", "$multiply", "$concat",
					"$concatArrays", "$setUnion", "$setIntersection", "$indexOfArray", "$indexOfCP",
					"$indexOfBytes", "$or", "$and",
					"$bitAnd", "$bitOr", "$bitXor")
		},
	},
	{
		"$indexOfBytes, $indexOfCP and $add compute what follows a null",
		"MongoDB returns null for a string that is null or missing, and as soon as an operand of a sum is " +
			"($indexOfBytes, $indexOfCP, $add).",
		func(x difference) bool {
			return x.eager("$indexOfBytes", "$indexOfCP", "$add")
		},
	},
	{
		"$range whose end is before its start is too large",
		"MongoDB's range is empty then ($range).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.Code == 146 &&
				strings.HasPrefix(x.server.Text, "$range requires excessive memory")
		},
	},
	{
		"findAndModify computes $expr for documents after the one that it finds",
		"MongoDB's manual doesn't say for which documents the filter is computed.",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Verb() == "findAndModify" && x.Uses("$expr") &&
				x.server.FailsComputing() &&
				x.another() && x.finds(1)
		},
	},
	{
		"$toUpper and $toLower leave infinity and NaN as they are",
		"MongoDB's text is in capital or in small letters ($toUpper, $toLower).",
		func(x difference) bool {
			return x.Uses("$toUpper", "$toLower") && x.sameAfter(func(v any) any {
				if s, ok := v.(string); ok &&
					slices.Contains([]string{"infinity", "-infinity", "nan"}, strings.ToLower(s)) {
					return strings.ToLower(s)
				}
				return sortFields(v)
			})
		},
	},
	{
		"$setEquals computes every operand",
		"MongoDB's ends at the first that isn't the same set; its manual doesn't say so ($setEquals).",
		func(x difference) bool {
			third := false
			tree.Walk(x.Command, func(key string, v any) {
				list, _ := v.(bson.A)
				third = third || key == "$setEquals" && len(list) > 2
			})
			return x.kind == outcome.OnlyServer && third && x.failsFor(eachEqual)
		},
	},
	{
		"a part of a date before 1970 isn't that of its second",
		"MongoDB's dates are milliseconds, before 1970 too: -1001 is at 23:59:58.999 ($second).",
		func(x difference) bool {
			return x.before1970() && x.within(sortFields, "$second", "$minute", "$hour")
		},
	},
	{
		"a year before the first is one less",
		"MongoDB's manual doesn't say how those years are counted; here there is a year 0, as in ISO 8601 ($year).",
		func(x difference) bool {
			return x.Uses("$year") && x.sameFor(withoutYear0)
		},
	},
	{
		"$substr and $substrBytes cut what $replaceOne made of a longer text",
		"MongoDB refuses an index within a character of the text itself ($substrBytes).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && (x.server.Code == 28656 || x.server.Code == 28657) &&
				x.Uses("$replaceOne", "$replaceAll")
		},
	},
	{
		"$avg of whole numbers is a whole number where another operator takes it",
		"MongoDB's average is a double, or a decimal of decimals ($avg, \"Result Data Type\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$avg") &&
				strings.HasPrefix(x.server.Text, "Unsupported conversion from int to date") ||
				x.because("$avg") && strings.Contains(x.engine.Text, "only supports int and long")
		},
	},
	{
		"$setField splits a field's name at its dots",
		"MongoDB adds a field whose name has dots in it ($setField).",
		func(x difference) bool {
			dotted := false
			tree.Walk(x.Command, func(key string, v any) {
				tree.WalkValues(tree.Lookup(v, "field"), func(name any) {
					s, _ := name.(string)
					dotted = dotted || key == "$setField" && strings.Contains(s, ".")
				})
			})
			return dotted && x.within(sortFields, "$setField")
		},
	},
	{
		"a decimal that is rounded to whole numbers keeps its exponent",
		"MongoDB's result is a whole number without one; numbers with more zeros are equal (Comparison/Sort Order, \"Numeric Types\").",
		func(x difference) bool {
			return x.Uses("$floor", "$ceil", "$round", "$trunc") &&
				x.sameAfter(func(v any) any { return sortFields(plainDecimals(v)) })
		},
	},
	{
		"a double's zero becomes a decimal with 15 places",
		"MongoDB's is 0 without any, and every other double has 15 digits; numbers with more zeros are equal (Comparison/Sort Order, " +
			"\"Numeric Types\").",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.server.HasValue(isLongDecimal) &&
				x.sameAfter(plainDecimals)
		},
	},
}

// eachEqual compares every operand of $setEquals with the first.
func eachEqual(v any) any {
	doc, ok := v.(bson.D)
	list, _ := tree.Lookup(v, "$setEquals").(bson.A)
	if !ok || len(doc) != 1 || len(list) < 2 {
		return v
	}
	var pairs bson.A
	for _, x := range list[1:] {
		pairs = append(pairs, tree.D("$setEquals", bson.A{list[0], x}))
	}
	return tree.D("$arrayElemAt", bson.A{pairs, 0})
}

// exprAlone takes away what stands beside $expr in a filter, or in a $match before it, with a $redact between them or
// not.
func exprAlone(v any) any {
	if list, ok := v.(bson.A); ok {
		list = slices.Clone(list)
		for i := len(list) - 1; i > 0; i-- {
			before := i - 1
			if before > 0 && tree.Lookup(list[before], "$redact") != nil {
				before--
			}
			if (cases.Case{Command: tree.D("m", tree.Lookup(list[i], "$match"))}).Uses("$expr") &&
				tree.Lookup(list[before], "$match") != nil {
				list = slices.Delete(list, before, before+1)
			}
		}
		v = list
		if i := slices.IndexFunc(list, func(x any) bool { return tree.Lookup(x, "$expr") != nil }); i >= 0 {
			return list[i : i+1]
		}
	}
	doc, _ := v.(bson.D)
	for _, e := range doc {
		logical := slices.Contains([]string{"$and", "$or", "$nor"}, e.Key) &&
			(cases.Case{Command: bson.D{e}}).Uses("$expr")
		if len(doc) > 1 && (e.Key == "$expr" || logical) {
			return bson.D{e}
		}
	}
	return v
}

// constantRoot reports whether a new root is a constant that is no document.
func constantRoot(command bson.D) bool {
	found := false
	tree.Walk(command, func(key string, v any) {
		if literal := tree.Lookup(v, "$literal"); literal != nil {
			v = literal
		}
		_, isDoc := v.(bson.D)
		found = found || (key == "$replaceWith" || key == "newRoot") && !isDoc && !mentions(v, "$")
	})
	return found
}

// hasUnused reports whether a $let has a variable that its "in" doesn't use.
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

// withoutYear0 makes years before the first one less.
func withoutYear0(v any) any {
	if doc, ok := v.(bson.D); ok && len(doc) == 1 && doc[0].Key == "$year" {
		return tree.D("$let",
			tree.D("vars", tree.D("y", doc), "in",
				tree.D("$cond", bson.A{
					tree.D("$lte", bson.A{"$$y", int32(0)}), tree.D("$subtract", bson.A{"$$y", int32(1)}), "$$y",
				})))
	}
	return v
}

// inlined puts the variables of $let in their places.
func inlined(v any) any {
	let := tree.Lookup(v, "$let")
	vars, _ := tree.Lookup(let, "vars").(bson.D)
	if vars == nil {
		return v
	}
	return tree.Map(tree.Lookup(let, "in"), func(v any) any {
		if s, ok := v.(string); ok && strings.HasPrefix(s, "$$") && tree.HasField(vars, s[2:]) {
			return tree.Lookup(vars, s[2:])
		}
		return v
	})
}

// usesVariable reports whether an expression uses a variable, and not one of the same name of a $let inside.
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

// laterOperand reports whether one of the operators has an operand after its first of which the fact holds.
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

// hasConstantOperator reports whether a value is, or has inside, an operator without any field of the input.
func hasConstantOperator(v any) bool {
	found := false
	tree.WalkValues(v, func(v any) {
		doc, ok := v.(bson.D)
		found = found ||
			ok && len(doc) == 1 && strings.HasPrefix(doc[0].Key, "$") && doc[0].Key != "$literal" && !mentionsField(doc)
	})
	return found
}

// mentionsField reports whether an expression has a field or variable in it.
func mentionsField(v any) bool {
	return mentions(tree.Map(v, func(v any) any {
		if doc, ok := v.(bson.D); ok && len(doc) == 1 && doc[0].Key == "$literal" {
			return nil
		}
		return v
	}), "$")
}

// hasPathEnd reports whether a path of the update ends with the text.
func (x difference) hasPathEnd(text string) bool {
	found := false
	tree.Walk(x.Change(), func(key string, _ any) { found = found || strings.HasSuffix(key, text) })
	return found
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
