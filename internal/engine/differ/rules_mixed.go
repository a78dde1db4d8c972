package differ

import (
	"slices"
	"strings"
)

// mixedRules come last: cases of two of the differences above, and what else there is.
var mixedRules = []rule{
	{
		"$geoWithin takes other conditions beside it",
		"MongoDB refuses what stands beside $geoWithin in one document ($geoWithin, syntax).",
		func(x difference) bool {
			return x.kind == OnlyEngine && strings.HasPrefix(x.engine.Text, "can't parse extra field")
		},
	},
	{
		"a changed _id is noticed before a conflict",
		"MongoDB parses an update, and finds conflicts, before it applies it (Update Operators).",
		func(x difference) bool {
			return x.updates() && x.kind == Codes && x.engine.Code == 40 && x.server.Code == 66
		},
	},
	{
		"what $graphLookup starts with isn't computed for an empty collection",
		"An aggregation fails when one of its expressions does ($graphLookup).",
		func(x difference) bool {
			return x.kind == OnlyEngine && x.engine.Code > 10000 && x.uses("$graphLookup")
		},
	},
	{
		"an empty array that was computed sorts as null does",
		"MongoDB sorts an empty array before null (Comparison/Sort Order, \"Arrays\").",
		func(x difference) bool {
			return x.kind == Replies && x.uses("$sort") && hasEmptyArray(x.engine.Reply) && x.sameAfter(sortElements)
		},
	},
	{
		"$addFields takes an empty document",
		"MongoDB refuses it; {$literal: {}} is one ($literal).",
		func(x difference) bool { return x.kind == OnlyEngine && x.engine.Code == 40180 },
	},
	{
		"sets come in another order, and constants last",
		"See there.",
		func(x difference) bool {
			return x.uses("$setUnion", "$setIntersection", "$setDifference") &&
				x.sameAfter(func(v any) any { return sortElements(sortFields(v)) })
		},
	},
	{
		"a depth of $graphLookup is an int, and constants are placed last",
		"See there.",
		func(x difference) bool {
			return x.uses("$graphLookup") && x.sameAfter(func(v any) any { return sortFields(widened(v)) })
		},
	},
	{
		"$avg returns the type of what it averages, and constants are placed last",
		"See there.",
		func(x difference) bool {
			return x.uses("$avg") && x.sameAfter(func(v any) any { return sortFields(dropNumbers(v)) })
		},
	},
}

var rules = slices.Concat(updateRules, findRules, aggregateRules, mixedRules)
