package rules

import (
	"strings"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// mixedRules come last: cases of two of the differences above, and what else there is.
var mixedRules = []rule{
	{
		// {a: {$geoWithin: {$centerSphere: …, $eq: 1}}}.
		"$geoWithin takes other conditions beside it",
		"MongoDB refuses what stands beside $geoWithin in one document ($geoWithin, syntax).",
		func(x difference) bool {
			return (x.kind == outcome.OnlyEngine || x.kind == outcome.Codes) &&
				strings.Contains(x.engine.Text, "can't parse extra field")
		},
	},
	{
		// One of the two sides has code 66 (ImmutableField), the other another error. Neither has a duplicate key.
		"of two mistakes one of which changes the _id, the other is told",
		"MongoDB finds conflicts first, and then applies an update in the order of its paths (Update Operators).",
		func(x difference) bool {
			return x.IsUpdate() && x.kind == outcome.Codes && (x.engine.Code == 66) != (x.server.Code == 66) &&
				x.engine.Code != 11000 && x.server.Code != 11000
		},
	},
	{
		// startWith: {$divide: [1, 0]} on an empty collection: the engine fails, and only because of $graphLookup.
		"what $graphLookup starts with isn't computed for an empty collection",
		"An aggregation fails when one of its expressions does ($graphLookup).",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.failsBecauseOf("$graphLookup")
		},
	},
	{
		// {$sort: {a: 1}} after {$set: {a: []}}. A $skip or $limit then leaves out other documents. So the server may
		// fail for a document that the engine leaves out.
		"an empty array that was computed sorts as null does",
		"MongoDB sorts an empty array before null (Comparison/Sort Order, \"Arrays\").",
		func(x difference) bool {
			sortRounded := func(v any) any { return sortElements(roundDigits(v)) }
			return x.kind == outcome.Replies && x.Uses("$sort") && hasEmptyArray(x.engine.Reply) &&
				(x.sameAfter(sortElements) || x.Uses(roundedOperators...) && x.sameAfter(sortRounded)) ||
				x.kind == outcome.OnlyServer && x.Uses("$sort") &&
					hasEmptyArray(x.run(x.cutBefore("$skip", "$limit")).Reply) &&
					x.failsLike(x.removeOperators("$skip", "$limit"))
		},
	},
	{
		// {$addFields: {}}. Code 40180 is of it.
		"$addFields takes an empty document",
		"MongoDB refuses it; {$literal: {}} is one ($literal).",
		func(x difference) bool { return x.kind == outcome.OnlyEngine && x.engine.Code == 40180 },
	},
	{
		// Each of both has a rule above. Here both happen to one outcome.
		"sets come in another order, and constants last",
		"See there.",
		func(x difference) bool {
			return x.Uses("$setUnion", "$setIntersection", "$setDifference") &&
				(x.sameAfter(func(v any) any { return sortElements(sortFields(v)) }) ||
					x.Uses("$group") && x.sameAfter(func(v any) any { return sortElements(dropNullFields(v)) }))
		},
	},
	{
		// {$top: {sortBy: {a: 1}, output: {$divide: [1, "$b"]}}}: the engine computes the output of each document of
		// the group.
		"what is below the top of a group isn't computed",
		"MongoDB's manual doesn't say whether it is ($top, $bottom).",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.failsBecauseOf("$top", "$topN", "$bottom", "$bottomN")
		},
	},
	{
		// Also with depths that are ints on the server.
		"$graphLookup finds in another order",
		"MongoDB gives the found documents in no order ($graphLookup, \"Considerations\").",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$graphLookup") &&
				x.sameAfter(func(v any) any { return sortElements(widenInts(v)) })
		},
	},
	{
		// {$dateAdd: {startDate: "$d", unit: "month", amount: 1, timezone: "America/New_York"}}. Fields that depend on
		// it aren't compared.
		"years, quarters and months are added in a time zone a day off",
		"MongoDB adds them by the calendar of the time zone ($dateAdd, \"Time Zones\").",
		func(x difference) bool {
			return x.Uses("$dateAdd", "$dateSubtract") && x.Uses("timezone") &&
				x.HasValue(func(v any) bool { return v == "year" || v == "quarter" || v == "month" }) &&
				x.sameOutside(sortFields, "$dateAdd", "$dateSubtract")
		},
	},
	{
		// 1 or 1.0 for the documents {a: 1} and {a: 1.0}.
		"distinct gives another of several equal numbers",
		"MongoDB's manual doesn't say which of them it gives (distinct).",
		func(x difference) bool {
			return x.Verb() == "distinct" && x.kind == outcome.Replies && x.sameAfter(dropNumbers) &&
				x.differsInChoice()
		},
	},
	{
		// {$sortByCount: {$divide: [1, 0]}} on an empty collection.
		"$sortByCount computes a constant for an empty collection",
		"MongoDB's manual doesn't say when an expression without fields is computed.",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$sortByCount") && x.failsOnConstant()
		},
	},
	{
		// [{$facet: {x: [{$project: {a: {$divide: [1, 0]}}}, {$count: "n"}]}}]: the engine fails, and only because of
		// $facet.
		"what $facet only counts isn't computed",
		"MongoDB's manual doesn't say whether it is.",
		func(x difference) bool { return x.engine.FailsComputing() && x.failsBecauseOf("$facet") },
	},
	{
		// [{$project: {a: {$divide: [1, "$b"]}}}, {$limit: 1}]: the server fails for the second document, as the engine
		// does without the limit.
		"what $limit leaves out is computed",
		"MongoDB's manual says that $limit is moved before stages that keep every document (Aggregation Pipeline " +
			"Optimization).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$limit") && x.failsLike(x.removeOperators("$limit"))
		},
	},
	{
		// {$group: {_id: null, f: {$first: "$z"}}}: MongoDB returns f: null.
		"$first, $last, $top and $bottom of what is missing in a group or a window leave the field out",
		"MongoDB's is null ($last (aggregation accumulator), \"Missing Values\").",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) &&
				x.Uses("$first", "$last", "$top", "$bottom") &&
				x.Uses("$group", "$bucket", "$setWindowFields") && x.sameAfter(dropNullFields)
		},
	},
	{
		// {$toDate: ""}.
		"an empty text is a date",
		"MongoDB fails for a text that is no date ($toDate, $convert).",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && strings.HasPrefix(x.engine.Text, "Error parsing date string ''")
		},
	},
	{
		// {groupBy: "a"}. Code 40202 is of a groupBy that isn't an expression.
		"$bucket groups by a constant text",
		"MongoDB's groupBy is a path with its $, or an expression ($bucket).",
		func(x difference) bool { return x.kind == outcome.OnlyEngine && x.engine.Code == 40202 },
	},
	{
		// {$add: ["$d", Long(9e18)]}.
		"a date that overflows wraps around",
		"A date is a 64-bit number of milliseconds (BSON Types, \"Date\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && strings.HasPrefix(x.engine.Text, "date overflow")
		},
	},
	{
		// {$dateAdd: {startDate: null, unit: "day", amount: {$divide: [1, 0]}}}. An amount that isn't an integer makes
		// the server fail too.
		"$dateDiff, $dateAdd and $dateSubtract compute what follows a start that is null",
		"MongoDB returns null if a part is null or missing ($dateDiff, $dateAdd, $dateSubtract).",
		func(x difference) bool {
			return x.computesEagerly("$dateDiff", "$dateAdd", "$dateSubtract") ||
				x.kind == outcome.OnlyServer && strings.HasPrefix(x.server.Text, "Invalid $date") &&
					strings.Contains(x.server.Text, "for 'amount' parameter")
		},
	},
	{
		// It is the rule "JavaScript isn't a string, and a timestamp is one" (find.go) for any other code of the
		// server.
		"JavaScript isn't a string in updates either",
		"MongoDB's manual doesn't name it among what becomes a string by itself ($substrBytes).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && strings.Contains(x.server.Text, "javascript")
		},
	},
	{
		// {$dateAdd: {startDate: "$d", unit: "millisecond", amount: 1}}: the server adds fractions of a second as
		// doubles.
		"milliseconds are added to dates inexactly",
		"A date is a 64-bit number of milliseconds (BSON Types, \"Date\").",
		func(x difference) bool {
			return x.Uses("$dateAdd", "$dateSubtract") && x.HasValue(func(v any) bool { return v == "millisecond" }) &&
				x.sameOutside(sortFields, "$dateAdd", "$dateSubtract")
		},
	},
	{
		// {$eq: [{$setUnion: ["$a", "$b"]}, [1, 2]]}: the order of the union decides. Then the comparison's result may
		// be any truth.
		"sets are compared in another order",
		"MongoDB leaves the order of the elements unspecified ($setUnion, $setIntersection, $setDifference).",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) &&
				(x.differsInChoice() || x.sameOutside(sortFields, "$setUnion", "$setIntersection", "$setDifference")) &&
				x.Uses("$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$cmp", "$min", "$max", "$in", "$indexOfArray")
		},
	},
	{
		// {$setUnion: [[1.5], [Decimal128("1.5")]]}: the server returns both. So arrays of scalars aren't compared.
		"sets take a decimal for another value than the double that is equal to it",
		"They are equal (Comparison/Sort Order, \"Numeric Types\").",
		func(x difference) bool {
			return x.Uses("$setUnion", "$setIntersection", "$setDifference") && x.HasValue(isDecimal) &&
				x.sameAfter(dropElements)
		},
	},
	{
		// The key "a.0" on {a: [[1, 2]]}: MongoDB returns 1 and 2, the server [1, 2].
		"distinct doesn't look into an array within an array",
		"MongoDB takes each element of an array for a value (distinct, \"Array Fields\").",
		func(x difference) bool {
			key, _ := x.Get("key").(string)
			return x.Verb() == "distinct" && x.kind == outcome.Replies && strings.ContainsAny(key, "012")
		},
	},
	{
		// The rules are "a depth of $graphLookup is an int" and "constants and joined documents are placed last".
		"a depth of $graphLookup is an int, and constants are placed last",
		"See there.",
		func(x difference) bool {
			return x.Uses("$graphLookup") && x.sameAfter(func(v any) any { return sortFields(widenInts(v)) })
		},
	},
	{
		// {$project: {b: {$toDecimal: 0.0}, a: 1}}: the server returns {a: 1, b: 0E-15}.
		"constants are placed last, and decimals have other zeros at their end",
		"See there.",
		func(x difference) bool {
			return x.Uses("$project", "$addFields", "$set") && x.server.HasValue(isLongDecimal) &&
				x.sameAfter(func(v any) any { return sortFields(simplifyDecimals(v)) })
		},
	},
	{
		"powers and their kin are off in the last digit, and constants are placed last or decimals have other zeros " +
			"at their end",
		"See there.",
		func(x difference) bool {
			simplify := func(v any) any {
				if x.server.HasValue(isLongDecimal) {
					v = simplifyDecimals(v)
				}
				if x.Uses("$project", "$addFields", "$set") {
					v = sortFields(v)
				}
				return roundDigits(v)
			}
			return x.Uses(roundedOperators...) && x.sameAfter(simplify)
		},
	},
	{
		// A find with the sort {a: 1} and the projection {b: 5, a: 1} on {a: []} and {a: null}.
		"an empty array sorts as null does, and constants of a projection are placed last",
		"See there.",
		func(x difference) bool {
			return x.kind == outcome.Replies && x.Get("sort") != nil && x.Get("projection") != nil &&
				x.HasValue(tree.IsEmptyArray) &&
				x.sameAfter(func(v any) any { return sortElements(sortFields(v)) })
		},
	},
	{
		// As the rule on $facet and $lookup. The joined documents are also at another place among the fields.
		"an empty document is lost in $lookup, and joined documents are placed last",
		"See there.",
		func(x difference) bool {
			return x.kind == outcome.Replies && x.Uses("$lookup") &&
				x.sameAfter(func(v any) any { return sortFields(dropEmptyDocuments(v)) })
		},
	},
	{
		// [{$lookup: {…, pipeline: [{$count: "n"}]}}]: the server joins {n: 0}, and places the field with it last.
		"$count of nothing is zero, and joined documents are placed last",
		"See there.",
		func(x difference) bool {
			return x.kind == outcome.Replies && x.Uses("$count") && cases.HasStage(x.Case, "$lookup") &&
				x.sameAfter(func(v any) any { return sortFields(dropZeroCounts(v)) })
		},
	},
	{
		// {$unset: {"d.e": ""}} beside an operator with an index in its path: the server stores the empty document d
		// and nulls in an array. Each has a rule in update.go.
		"operators that remove create the path or the element, both in one update",
		"See there.",
		func(x difference) bool {
			return x.IsUpdate() && x.Uses("$pull", "$pullAll", "$pop", "$rename", "$unset") &&
				x.kind == outcome.States &&
				x.sameAfter(func(v any) any { return simplifyUpdate(dropNullElements(v)) })
		},
	},
	{
		// The group of null and the group of missing keys are one group on one side only, and a later stage counts or
		// changes it.
		"a key of $group that is missing, in documents that go into another group",
		"See there.",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) &&
				(groupsAgain(x.Case) && x.differsInChoice() ||
					x.Uses("$group") && x.sameAfter(func(v any) any { return sortElements(dropNullFields(v)) }))
		},
	},
	{
		// [{$unionWith: {pipeline: [{$count: "n"}]}}]: the engine gives the server's outcome, or its error, if it also
		// counts 0.
		"a count of nothing is zero, where it is one of several documents",
		"See there.",
		func(x difference) bool {
			return x.Uses("$count") && x.Uses("$unionWith") &&
				(x.kind == outcome.OnlyServer && x.failsFor(countAnyway) || x.kind == outcome.Replies) &&
				(x.Uses("$project", "$setWindowFields") && x.differsInChoice() || x.sameFor(countAnyway) ||
					x.Uses("$group") && x.sameAfter(dropCountKeys))
		},
	},
	{
		"$avg returns the type of what it averages, and constants are placed last",
		"See there.",
		func(x difference) bool {
			return x.sameOutside(sortFields, "$avg")
		},
	},
}
