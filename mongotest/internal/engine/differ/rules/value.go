package rules

import (
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// valueRules are of expressions and what they compute with.
var valueRules = []rule{
	{
		"a fraction is true in $expr if its whole part isn't 0, and NaN and what is too large are errors",
		"Every number but 0 is true (Boolean Expression Operators).",
		func(x difference) bool {
			return x.Uses("$expr") && (strings.HasPrefix(x.server.Text, "Attempt to convert NaN value to integer") ||
				x.HasValue(isFraction) && x.chosen() || x.sameFor(wholeTruth) ||
				x.kind == outcome.OnlyServer && x.failsFor(intTruth))
		},
	},
	{
		"$expr inside $lookup is false unless it is an operator",
		"A value is true unless it is false, 0, null or missing (Boolean Expression Operators).",
		func(x difference) bool {
			found := false
			tree.Walk(x.Command, func(key string, v any) {
				_, isDocument := v.(bson.D)
				found = found || key == "$expr" && !isDocument
			})
			return x.kind == outcome.Replies && found && x.Uses("$lookup") && x.sameAfter(dropArrays)
		},
	},
	{
		"$min and $max don't take NaN for the least of all numbers",
		"NaN is less than any other number (Comparison/Sort Order, \"Numeric Types\").",
		func(x difference) bool {
			return x.IsUpdate() && x.HasValue(isNaN) &&
				(x.within(sortFields, "$min", "$max") || x.within(sortFields, "$min") || x.within(sortFields, "$max"))
		},
	},
	{
		"$sum adds a large long as a double",
		"MongoDB's manual doesn't say how exactly numbers are added; it keeps what each addition rounds off.",
		func(x difference) bool { return x.HasValue(isLarge) && x.within(sortFields, "$sum") },
	},
	{
		"$toDate goes through a double",
		"A date is a 64-bit number of milliseconds (BSON Types, \"Date\").",
		func(x difference) bool {
			return x.HasValue(isLarge) && x.within(sortFields, "$toDate", "$convert", "$avg")
		},
	},
	{
		"$regexFindAll of empty matches counts bytes",
		"MongoDB finds a match at each code point ($regexFindAll).",
		func(x difference) bool {
			return x.Uses("$regexFindAll") && x.sameAfter(dropEmptyMatches)
		},
	},
	{
		"$topN, $bottomN, $firstN and $lastN leave out what an operator gives nothing for",
		"MongoDB gathers null for a missing value ($bottomN, $firstN, \"Null and Missing Values\").",
		func(x difference) bool {
			return x.Uses("$topN", "$bottomN", "$firstN", "$lastN") &&
				(x.kind == outcome.Replies || x.kind == outcome.States) &&
				x.sameAfter(dropNullElements)
		},
	},
	{
		"$centerSphere, $geoIntersects and $geometry take a place that isn't on the sphere",
		"A longitude is between -180 and 180, a latitude between -90 and 90 ($centerSphere, $geoIntersects).",
		func(x difference) bool {
			return x.Uses("$centerSphere", "$geoIntersects", "$geometry") && x.HasValue(isFarOff) &&
				(x.chosen() ||
					x.kind == outcome.OnlyServer &&
						(x.failsFor(anywhere) || x.server.Code == 28 && x.run(x.MapCommand(anywhere)).Code == 28))
		},
	},
	{
		"$nin tells a decimal from one that is equal to it, and so within arrays of arrays any number",
		"MongoDB compares numbers by value (Comparison/Sort Order, \"Numeric Types\").",
		func(x difference) bool {
			return x.Uses("$nin", "$in", "$nor", "$not") &&
				((x.equalDecimals() || x.HasValue(isNested)) && x.chosen() ||
					x.equalDecimals() && x.sameFor(listsNoDecimals))
		},
	},
	{
		"a path with an index doesn't lead into an array within an array when it sorts",
		"MongoDB sorts by the least or greatest element of the array (Comparison/Sort Order, \"Arrays\").",
		func(x difference) bool {
			keys, _ := x.Get("sort").(bson.D)
			byStage := false
			tree.Walk(x.Get("pipeline"), func(key string, v any) { byStage = byStage || key == "$sort" && hasIndex(v) })
			if byStage {
				return x.HasValue(isNested) && (x.kind == outcome.Replies || x.kind == outcome.States) && x.chosen()
			}
			indexed := slices.ContainsFunc(keys, func(e bson.E) bool { return strings.ContainsAny(e.Key, "012") })
			return indexed &&
				(x.picksOneBy(tree.IsArray) && (x.chosen() || x.another()) ||
					x.HasValue(isNested) && x.kind == outcome.Replies &&
						(x.Verb() == "find" && x.Get("limit") != nil && x.chosen() || x.sameAfter(sortElements)))
		},
	},
	{
		"$shift of a missing field is null",
		"MongoDB returns what the expression does for that document ($shift).",
		func(x difference) bool {
			return x.kind == outcome.Replies && x.Uses("$shift") && x.sameAfter(dropNullFields)
		},
	},
	{
		"sets come in another order",
		"MongoDB's manual doesn't say in which order the elements are; unions and intersections come sorted from it.",
		func(x difference) bool {
			return x.Uses("$setUnion", "$setIntersection", "$setDifference") &&
				(x.sameAfter(sortElements) || x.sameAfter(func(v any) any { return dropPadding(sortElements(v)) }) ||
					x.Uses("$slice", "$first", "$last", "$firstN", "$lastN", "$arrayElemAt", "$zip",
						"$filter", "$reduce") &&
						x.within(sortFields, "$setUnion", "$setIntersection", "$setDifference"))
		},
	},
	{
		"an intersection gives another of several equal numbers",
		"MongoDB's manual doesn't say which of them it gives; it is that of the smaller set.",
		func(x difference) bool { return x.within(sortFields, "$setIntersection") },
	},
	{
		"a constant in $filter, $map or $reduce is computed though there is no element",
		"MongoDB's manual doesn't say when an expression without fields is computed.",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$filter", "$map", "$reduce") && x.constant()
		},
	},
	{
		"what stands beside a condition that can't hold isn't computed",
		"MongoDB's manual doesn't say in which order conditions are computed.",
		func(x difference) bool {
			never := false
			tree.Walk(x.Command, func(key string, v any) {
				never = never || key == "$in" && tree.IsEmptyArray(v) || key == "$alwaysFalse"
			})
			return never && x.engine.FailsComputing() && x.because("$expr")
		},
	},
	{
		"a place in an array isn't found beside what is no place, nor in GeoJSON",
		"MongoDB looks at each element of an array ($geoWithin).",
		func(x difference) bool {
			return x.Uses("$geoWithin", "$within", "$geoIntersects") &&
				(cases.Case{Docs: x.Docs, Other: x.Other}).HasValue(isMixed) && x.chosen()
		},
	},
	{
		"count without a condition is an estimate",
		"MongoDB counts the documents (count).",
		func(x difference) bool {
			query, _ := x.Get("query").(bson.D)
			return x.Verb() == "count" && x.kind == outcome.Replies && len(query) == 0
		},
	},
	{
		"an insert into a compound index may have two arrays",
		"At most one indexed field may be an array (Multikey Indexes).",
		func(x difference) bool {
			return (x.kind == outcome.OnlyEngine || x.kind == outcome.Codes) && x.engine.Code == 171
		},
	},
	{
		"a unique index lets in what it should refuse",
		"MongoDB stores null for a missing field, and compares numbers by value (Unique Indexes; see the rules of unique indexes above).",
		func(x difference) bool {
			lax := x.Collection == "u_ab" || x.Collection == "u_deep" || x.equalDecimals() ||
				slices.ContainsFunc(x.Docs, func(doc bson.D) bool { return tree.IsArray(tree.Lookup(doc, "a")) })
			return strings.HasPrefix(x.Collection, "u_") && lax && x.engine.Loaded < x.server.Loaded
		},
	},
}

// listsNoDecimals takes the decimals from the lists of $in and $nin.
func listsNoDecimals(v any) any {
	doc, _ := v.(bson.D)
	for i, e := range doc {
		if list, ok := e.Value.(bson.A); ok && (e.Key == "$in" || e.Key == "$nin") {
			doc = slices.Clone(doc)
			doc[i].Value = slices.DeleteFunc(slices.Clone(list), isDecimal)
		}
	}
	if doc == nil {
		return v
	}
	return doc
}

// datesOfTimestamps makes $convert take dates for timestamps.
func datesOfTimestamps(v any) any {
	doc, _ := v.(bson.D)
	in := tree.Lookup(doc, "input")
	if !tree.HasField(doc, "to") || in == nil {
		return v
	}
	date := tree.D("$add", bson.A{bson.DateTime(0), tree.D("$multiply", bson.A{tree.D("$tsSecond", in), int32(1000)})})
	return append(without(doc, "input"), bson.E{
		Key:   "input",
		Value: tree.D("$cond", bson.A{tree.D("$eq", bson.A{tree.D("$type", in), "timestamp"}), date, in}),
	})
}

// wholeTruth makes $expr of a number depend on its whole part.
func wholeTruth(v any) any { return exprThrough(v, "$trunc") }

// intTruth makes $expr of a number depend on the int that it becomes.
func intTruth(v any) any { return exprThrough(v, "$toInt") }

func exprThrough(v any, operator string) any {
	doc, _ := v.(bson.D)
	i := slices.IndexFunc(doc, func(e bson.E) bool { return e.Key == "$expr" })
	if i < 0 {
		return v
	}
	doc = slices.Clone(doc)
	e := doc[i].Value
	doc[i].Value = tree.D("$cond", bson.A{tree.D("$isNumber", e), tree.D(operator, e), e})
	return doc
}

// isFraction reports whether a value is a number between -1 and 1 other than 0.
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

// isNested reports whether a value is an array with an array in it.
func isNested(v any) bool {
	list, _ := v.(bson.A)
	return slices.ContainsFunc(list, func(v any) bool { _, isArray := v.(bson.A); return isArray })
}

// isMixed reports whether a value is an array with GeoJSON in it, or an array that begins with two numbers beside
// something else.
func isMixed(v any) bool {
	list, _ := v.(bson.A)
	pair := func(v any) bool {
		list, _ := v.(bson.A)
		return len(list) >= 2 && isNumber(list[0]) && isNumber(list[1])
	}
	return slices.ContainsFunc(list, func(v any) bool { return tree.Lookup(v, "coordinates") != nil }) ||
		slices.ContainsFunc(list, pair) && slices.ContainsFunc(list, func(v any) bool { return !pair(v) })
}

func isNaN(v any) bool {
	f, isFloat := v.(float64)
	n, isDecimal := v.(bson.Decimal128)
	return isFloat && math.IsNaN(f) || isDecimal && n.IsNaN()
}

func dropEmptyMatches(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool { return tree.Lookup(v, "match") == "" })
}

// isFarOff reports whether a value is a pair of numbers that are no place on the sphere.
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
