package rules

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// valueRules are of expressions and what they compute with.
var valueRules = []rule{
	{
		// {$expr: 0.5}: the server computes the truth of 0. It fails for NaN, and for numbers that no int can hold.
		"a fraction is true in $expr if its whole part isn't 0, and NaN and what is too large are errors",
		"Every number but 0 is true (Boolean Expression Operators).",
		func(x difference) bool {
			return x.Uses("$expr") && (strings.HasPrefix(x.server.Text, "Attempt to convert NaN value to integer") ||
				x.HasValue(isFraction) && x.differsInChoice() || x.sameFor(truncateExpr) ||
				x.kind == outcome.OnlyServer && x.failsFor(convertExpr))
		},
	},
	{
		// A pipeline [{$match: {$expr: "$a"}}] in $lookup: the server joins nothing. So the joined arrays aren't
		// compared.
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
		// {$min: {a: NaN}} on {a: 5}: MongoDB stores NaN. The fields of one of the operators are left out, or of both.
		"$min and $max don't take NaN for the least of all numbers",
		"NaN is less than any other number (Comparison/Sort Order, \"Numeric Types\").",
		func(x difference) bool {
			return x.IsUpdate() && x.HasValue(bsonval.IsNaN) &&
				(x.sameOutside(sortFields, "$min", "$max") || x.sameOutside(sortFields, "$min") ||
					x.sameOutside(sortFields, "$max"))
		},
	},
	{
		// 2^53 + 1 isn't a double.
		"$sum adds a large long as a double",
		"MongoDB's manual doesn't say how exactly numbers are added; it keeps what each addition rounds off.",
		func(x difference) bool { return x.HasValue(isLarge) && x.sameOutside(sortFields, "$sum") },
	},
	{
		// {$toDate: Long(2^53 + 1)}.
		"$toDate goes through a double",
		"A date is a 64-bit number of milliseconds (BSON Types, \"Date\").",
		func(x difference) bool {
			return x.HasValue(isLarge) && x.sameOutside(sortFields, "$toDate", "$convert", "$avg")
		},
	},
	{
		// {$regexFindAll: {input: "é", regex: ""}}: é has one code point and two bytes. Empty matches
		// aren't compared.
		"$regexFindAll of empty matches counts bytes",
		"MongoDB finds a match at each code point ($regexFindAll).",
		func(x difference) bool {
			return x.Uses("$regexFindAll") && x.sameAfter(dropEmptyMatches)
		},
	},
	{
		// {$firstN: {n: 2, input: {$arrayElemAt: [[], 0]}}} of a group: MongoDB returns [null, null], the server [].
		"$topN, $bottomN, $firstN and $lastN leave out what an operator gives nothing for",
		"MongoDB gathers null for a missing value ($bottomN, $firstN, \"Null and Missing Values\").",
		func(x difference) bool {
			return x.Uses("$topN", "$bottomN", "$firstN", "$lastN") &&
				(x.kind == outcome.Replies || x.kind == outcome.States) &&
				x.sameAfter(dropNullElements)
		},
	},
	{
		// {a: {$geoWithin: {$centerSphere: [[0, 0], 1]}}} on {a: [500, 500]}. The server matches the document or not.
		// It fails as the engine does if the condition matches each document, because a later clause or stage is
		// computed then.
		"$centerSphere, $geoIntersects and $geometry take a place that isn't on the sphere",
		"A longitude is between -180 and 180, a latitude between -90 and 90 ($centerSphere, $geoIntersects).",
		func(x difference) bool {
			return x.Uses("$centerSphere", "$geoIntersects", "$geometry") && x.HasValue(isFarOff) &&
				(x.differsInChoice() ||
					x.kind == outcome.OnlyServer &&
						(x.failsFor(acceptAnyPlace) || x.server.Code == 28 &&
							x.run(x.MapCommand(acceptAnyPlace)).Code == 28))
		},
	},
	{
		// {a: {$nin: [1.5]}} on {a: Decimal128("1.5")}: the server matches it.
		"$nin tells a decimal from one that is equal to it, and so within arrays of arrays any number",
		"MongoDB compares numbers by value (Comparison/Sort Order, \"Numeric Types\").",
		func(x difference) bool {
			return x.Uses("$nin", "$in", "$nor", "$not") &&
				((x.hasEqualDecimals() || x.HasValue(isNested)) && x.differsInChoice() ||
					x.hasEqualDecimals() && x.sameFor(dropListDecimals))
		},
	},
	{
		// The sort {"a.0": 1} on {a: [[1, 2]]}. As with an empty array, another order can be another choice of
		// documents.
		"a path with an index doesn't lead into an array within an array when it sorts",
		"MongoDB sorts by the least or greatest element of the array (Comparison/Sort Order, \"Arrays\").",
		func(x difference) bool {
			keys, _ := x.Get("sort").(bson.D)
			byStage := false
			tree.Walk(x.Get("pipeline"), func(key string, v any) { byStage = byStage || key == "$sort" && hasIndex(v) })
			if byStage {
				return x.HasValue(isNested) && (x.kind == outcome.Replies || x.kind == outcome.States) &&
					x.differsInChoice()
			}
			indexed := slices.ContainsFunc(keys, func(e bson.E) bool { return strings.ContainsAny(e.Key, "012") })
			return indexed &&
				(x.picksOneBy(tree.IsArray) && (x.differsInChoice() || x.failsOnAnother()) ||
					x.HasValue(isNested) && x.kind == outcome.Replies &&
						(x.Verb() == "find" && x.Get("limit") != nil && x.differsInChoice() ||
							x.sameAfter(sortElements)))
		},
	},
	{
		// {$shift: {output: "$z", by: 1}}: MongoDB's field is missing.
		"$shift of a missing field is null",
		"MongoDB returns what the expression does for that document ($shift).",
		func(x difference) bool {
			return x.kind == outcome.Replies && x.Uses("$shift") && x.sameAfter(dropNullFields)
		},
	},
	{
		// {$setUnion: [[2, 1], [3]]}. An operator that picks elements of a set picks others, so what depends on it
		// isn't compared.
		"sets come in another order",
		"MongoDB's manual doesn't say in which order the elements are; unions and intersections come sorted from it.",
		func(x difference) bool {
			return x.Uses("$setUnion", "$setIntersection", "$setDifference") &&
				(x.sameAfter(sortElements) || x.sameAfter(func(v any) any { return dropPadding(sortElements(v)) }) ||
					x.Uses("$slice", "$first", "$last", "$firstN", "$lastN", "$arrayElemAt", "$zip",
						"$filter", "$reduce") &&
						x.sameOutside(sortFields, "$setUnion", "$setIntersection", "$setDifference"))
		},
	},
	{
		// {$setIntersection: [[1], [1.0]]}: 1 or 1.0.
		"an intersection gives another of several equal numbers",
		"MongoDB's manual doesn't say which of them it gives; it is that of the smaller set.",
		func(x difference) bool { return x.sameOutside(sortFields, "$setIntersection") },
	},
	{
		// {$map: {input: [], in: {$divide: [1, 0]}}}: the server fails.
		"a constant in $filter, $map or $reduce is computed though there is no element",
		"MongoDB's manual doesn't say when an expression without fields is computed.",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$filter", "$map", "$reduce") && x.failsOnConstant()
		},
	},
	{
		// {a: {$in: []}, $expr: {$divide: [1, 0]}}: the engine fails, and only because of $expr.
		"what stands beside a condition that can't hold isn't computed",
		"MongoDB's manual doesn't say in which order conditions are computed.",
		func(x difference) bool {
			never := false
			tree.Walk(x.Command, func(key string, v any) {
				never = never || key == "$in" && tree.IsEmptyArray(v) || key == "$alwaysFalse"
			})
			return never && x.engine.FailsComputing() && x.failsBecauseOf("$expr")
		},
	},
	{
		// {a: {$geoWithin: …}} on {a: [[1, 1], "x"]}: the server doesn't match it.
		"a place in an array isn't found beside what is no place, nor in GeoJSON",
		"MongoDB looks at each element of an array ($geoWithin).",
		func(x difference) bool {
			return x.Uses("$geoWithin", "$within", "$geoIntersects") &&
				(cases.Case{Docs: x.Docs, Other: x.Other}).HasValue(isMixed) && x.differsInChoice()
		},
	},
	{
		// PostgreSQL estimates the number of rows.
		"count without a condition is an estimate",
		"MongoDB counts the documents (count).",
		func(x difference) bool {
			query, _ := x.Get("query").(bson.D)
			return x.Verb() == "count" && x.kind == outcome.Replies && len(query) == 0
		},
	},
	{
		// {a: [1], b: [2]} under {a: 1, b: 1}. Code 171 is CannotIndexParallelArrays.
		"an insert into a compound index may have two arrays",
		"At most one indexed field may be an array (Multikey Indexes).",
		func(x difference) bool {
			return (x.kind == outcome.OnlyEngine || x.kind == outcome.Codes) && x.engine.Code == 171
		},
	},
	{
		// The server loads more of the case's documents. The reason must be one of the rules on unique indexes: a
		// compound index, an index below an array, or numbers that are equal.
		"a unique index lets in what it should refuse",
		"MongoDB stores null for a missing field, and compares numbers by value (Unique Indexes; see the rules of " +
			"unique indexes above).",
		func(x difference) bool {
			lax := x.Collection == "u_ab" || x.Collection == "u_deep" || x.hasEqualDecimals() ||
				slices.ContainsFunc(x.Docs, func(doc bson.D) bool { return tree.IsArray(tree.Lookup(doc, "a")) })
			return strings.HasPrefix(x.Collection, "u_") && lax && x.engine.Loaded < x.server.Loaded
		},
	},
}
