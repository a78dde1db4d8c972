package rules

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// expressionRules are of expressions too, as valueRules are. They stand behind them in DIFFERENCES.md.
var expressionRules = []rule{
	{
		// {$add: [null, {$divide: [1, 0]}]}: the server fails.
		"a constant is computed though an operand before it is null, or decides",
		"MongoDB's manual doesn't say when an expression without fields is computed.",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.failsOnConstant() &&
				laterOperand(x.Command, hasConstantOperator, "$add", "$multiply", "$concat",
					"$concatArrays", "$setUnion", "$setIntersection", "$indexOfArray", "$indexOfCP",
					"$indexOfBytes", "$or", "$and",
					"$bitAnd", "$bitOr", "$bitXor")
		},
	},
	{
		// {$indexOfCP: [null, {$substrCP: ["x", 0, -1]}]}: the server fails.
		"$indexOfBytes, $indexOfCP and $add compute what follows a null",
		"MongoDB returns null for a string that is null or missing, and as soon as an operand of a sum is " +
			"($indexOfBytes, $indexOfCP, $add).",
		func(x difference) bool {
			return x.computesEagerly("$indexOfBytes", "$indexOfCP", "$add")
		},
	},
	{
		// {$range: [2000000000, 0]}. Code 146 is ExceededMemoryLimit.
		"$range whose end is before its start is too large",
		"MongoDB's range is empty then ($range).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.Code == 146 &&
				strings.HasPrefix(x.server.Text, "$range requires excessive memory")
		},
	},
	{
		// The engine's command matches a document, so it ends before it comes to the document that makes $expr fail.
		"findAndModify computes $expr for documents after the one that it finds",
		"MongoDB's manual doesn't say for which documents the filter is computed.",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Verb() == "findAndModify" && x.Uses("$expr") &&
				x.server.FailsComputing() &&
				x.failsOnAnother() && x.matchesCount(1)
		},
	},
	{
		// {$toUpper: Infinity}: the server returns "Infinity", MongoDB "INFINITY".
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
		// {$setEquals: [[1], [2], {$divide: [1, 0]}]}.
		"$setEquals computes every operand",
		"MongoDB's ends at the first that isn't the same set; its manual doesn't say so ($setEquals).",
		func(x difference) bool {
			third := false
			tree.Walk(x.Command, func(key string, v any) {
				list, _ := v.(bson.A)
				third = third || key == "$setEquals" && len(list) > 2
			})
			return x.kind == outcome.OnlyServer && third && x.failsFor(compareEach)
		},
	},
	{
		// {$second: ISODate("1969-12-31T23:59:58.999Z")}: the server returns another second.
		"a part of a date before 1970 isn't that of its second",
		"MongoDB's dates are milliseconds, before 1970 too: -1001 is at 23:59:58.999 ($second).",
		func(x difference) bool {
			return x.hasDateBefore1970() && x.sameOutside(sortFields, "$second", "$minute", "$hour")
		},
	},
	{
		// The server has no year 0: the year before the year 1 is -1.
		"a year before the first is one less",
		"MongoDB's manual doesn't say how those years are counted; here there is a year 0, as in ISO 8601 ($year).",
		func(x difference) bool {
			return x.Uses("$year") && x.sameFor(skipYear0)
		},
	},
	{
		// Codes 28656 and 28657 are of an index within a character. The server cuts the text before it replaces.
		"$substr and $substrBytes cut what $replaceOne made of a longer text",
		"MongoDB refuses an index within a character of the text itself ($substrBytes).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && (x.server.Code == 28656 || x.server.Code == 28657) &&
				x.Uses("$replaceOne", "$replaceAll")
		},
	},
	{
		// {$toDate: {$avg: [1, 3]}} and {$bitNot: {$avg: [1, 3]}}: one of the two types is refused.
		"$avg of whole numbers is a whole number where another operator takes it",
		"MongoDB's average is a double, or a decimal of decimals ($avg, \"Result Data Type\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$avg") &&
				strings.HasPrefix(x.server.Text, "Unsupported conversion from int to date") ||
				x.failsBecauseOf("$avg") && strings.Contains(x.engine.Text, "only supports int and long")
		},
	},
	{
		// {$setField: {field: {$literal: "a.b"}, …}}: the server sets b in the document a.
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
			return dotted && x.sameOutside(sortFields, "$setField")
		},
	},
	{
		// {$round: Decimal128("1.50")} is 2 for MongoDB, 2E+0 or 2.0 for the server.
		"a decimal that is rounded to whole numbers keeps its exponent",
		"MongoDB's result is a whole number without one; numbers with more zeros are equal (Comparison/Sort Order, " +
			"\"Numeric Types\").",
		func(x difference) bool {
			return x.Uses("$floor", "$ceil", "$round", "$trunc") &&
				x.sameAfter(func(v any) any { return sortFields(simplifyDecimals(v)) })
		},
	},
	{
		// {$toDecimal: 0.0}: the server returns 0E-15.
		"a double's zero becomes a decimal with 15 places",
		"MongoDB's is 0 without any, and every other double has 15 digits; numbers with more zeros are equal " +
			"(Comparison/Sort Order, \"Numeric Types\").",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.server.HasValue(isLongDecimal) &&
				x.sameAfter(simplifyDecimals)
		},
	},
}
