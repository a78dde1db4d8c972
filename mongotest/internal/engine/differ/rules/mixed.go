package rules

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// mixedRules come last: cases of two of the differences above, and what else there is.
var mixedRules = []rule{
	{
		"$geoWithin takes other conditions beside it",
		"MongoDB refuses what stands beside $geoWithin in one document ($geoWithin, syntax).",
		func(x difference) bool {
			return (x.kind == outcome.OnlyEngine || x.kind == outcome.Codes) &&
				strings.Contains(x.engine.Text, "can't parse extra field")
		},
	},
	{
		"of two mistakes one of which changes the _id, the other is told",
		"MongoDB finds conflicts first, and then applies an update in the order of its paths (Update Operators).",
		func(x difference) bool {
			return x.IsUpdate() && x.kind == outcome.Codes && (x.engine.Code == 66) != (x.server.Code == 66) &&
				x.engine.Code != 11000 && x.server.Code != 11000
		},
	},
	{
		"what $graphLookup starts with isn't computed for an empty collection",
		"An aggregation fails when one of its expressions does ($graphLookup).",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.because("$graphLookup")
		},
	},
	{
		"an empty array that was computed sorts as null does",
		"MongoDB sorts an empty array before null (Comparison/Sort Order, \"Arrays\").",
		func(x difference) bool {
			return x.kind == outcome.Replies && x.Uses("$sort") && hasEmptyArray(x.engine.Reply) &&
				(x.sameAfter(sortElements) ||
					x.Uses(rounded...) && x.sameAfter(func(v any) any { return sortElements(fewerDigits(v)) })) ||
				x.kind == outcome.OnlyServer && x.Uses("$sort") &&
					hasEmptyArray(x.run(x.before("$skip", "$limit")).Reply) &&
					x.failsLike(x.less("$skip", "$limit"))
		},
	},
	{
		"$addFields takes an empty document",
		"MongoDB refuses it; {$literal: {}} is one ($literal).",
		func(x difference) bool { return x.kind == outcome.OnlyEngine && x.engine.Code == 40180 },
	},
	{
		"sets come in another order, and constants last",
		"See there.",
		func(x difference) bool {
			return x.Uses("$setUnion", "$setIntersection", "$setDifference") &&
				(x.sameAfter(func(v any) any { return sortElements(sortFields(v)) }) ||
					x.Uses("$group") && x.sameAfter(func(v any) any { return sortElements(dropNullFields(v)) }))
		},
	},
	{
		"what is below the top of a group isn't computed",
		"MongoDB's manual doesn't say whether it is ($top, $bottom).",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.because("$top", "$topN", "$bottom", "$bottomN")
		},
	},
	{
		"$graphLookup finds in another order",
		"MongoDB gives the found documents in no order ($graphLookup, \"Considerations\").",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$graphLookup") &&
				x.sameAfter(func(v any) any { return sortElements(widened(v)) })
		},
	},
	{
		"years, quarters and months are added in a time zone a day off",
		"MongoDB adds them by the calendar of the time zone ($dateAdd, \"Time Zones\").",
		func(x difference) bool {
			return x.Uses("$dateAdd", "$dateSubtract") && x.Uses("timezone") &&
				x.HasValue(func(v any) bool { return v == "year" || v == "quarter" || v == "month" }) &&
				x.within(sortFields, "$dateAdd", "$dateSubtract")
		},
	},
	{
		"distinct gives another of several equal numbers",
		"MongoDB's manual doesn't say which of them it gives (distinct).",
		func(x difference) bool {
			return x.Verb() == "distinct" && x.kind == outcome.Replies && x.sameAfter(dropNumbers) && x.chosen()
		},
	},
	{
		"$sortByCount computes a constant for an empty collection",
		"MongoDB's manual doesn't say when an expression without fields is computed.",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$sortByCount") && x.constant()
		},
	},
	{
		"what $facet only counts isn't computed",
		"MongoDB's manual doesn't say whether it is.",
		func(x difference) bool { return x.engine.FailsComputing() && x.because("$facet") },
	},
	{
		"what $limit leaves out is computed",
		"MongoDB's manual says that $limit is moved before stages that keep every document (Aggregation Pipeline Optimization).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$limit") && x.failsLike(x.less("$limit"))
		},
	},
	{
		"$first, $last, $top and $bottom of what is missing in a group or a window leave the field out",
		"MongoDB's is null ($last (aggregation accumulator), \"Missing Values\").",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) &&
				x.Uses("$first", "$last", "$top", "$bottom") &&
				x.Uses("$group", "$bucket", "$setWindowFields") && x.sameAfter(dropNullFields)
		},
	},
	{
		"an empty text is a date",
		"MongoDB fails for a text that is no date ($toDate, $convert).",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && strings.HasPrefix(x.engine.Text, "Error parsing date string ''")
		},
	},
	{
		"$bucket groups by a constant text",
		"MongoDB's groupBy is a path with its $, or an expression ($bucket).",
		func(x difference) bool { return x.kind == outcome.OnlyEngine && x.engine.Code == 40202 },
	},
	{
		"a date that overflows wraps around",
		"A date is a 64-bit number of milliseconds (BSON Types, \"Date\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && strings.HasPrefix(x.engine.Text, "date overflow")
		},
	},
	{
		"$dateDiff, $dateAdd and $dateSubtract compute what follows a start that is null",
		"MongoDB returns null if a part is null or missing ($dateDiff, $dateAdd, $dateSubtract).",
		func(x difference) bool {
			return x.eager("$dateDiff", "$dateAdd", "$dateSubtract") ||
				x.kind == outcome.OnlyServer && strings.HasPrefix(x.server.Text, "Invalid $date") &&
					strings.Contains(x.server.Text, "for 'amount' parameter")
		},
	},
	{
		"JavaScript isn't a string in updates either",
		"MongoDB's manual doesn't name it among what becomes a string by itself ($substrBytes).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && strings.Contains(x.server.Text, "javascript")
		},
	},
	{
		"milliseconds are added to dates inexactly",
		"A date is a 64-bit number of milliseconds (BSON Types, \"Date\").",
		func(x difference) bool {
			return x.Uses("$dateAdd", "$dateSubtract") && x.HasValue(func(v any) bool { return v == "millisecond" }) &&
				x.within(sortFields, "$dateAdd", "$dateSubtract")
		},
	},
	{
		"sets are compared in another order",
		"MongoDB leaves the order of the elements unspecified ($setUnion, $setIntersection, $setDifference).",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) &&
				(x.chosen() || x.within(sortFields, "$setUnion", "$setIntersection", "$setDifference")) &&
				x.Uses("$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$cmp", "$min", "$max", "$in", "$indexOfArray")
		},
	},
	{
		"sets take a decimal for another value than the double that is equal to it",
		"They are equal (Comparison/Sort Order, \"Numeric Types\").",
		func(x difference) bool {
			return x.Uses("$setUnion", "$setIntersection", "$setDifference") && x.HasValue(isDecimal) &&
				x.sameAfter(dropElements)
		},
	},
	{
		"distinct doesn't look into an array within an array",
		"MongoDB takes each element of an array for a value (distinct, \"Array Fields\").",
		func(x difference) bool {
			key, _ := x.Get("key").(string)
			return x.Verb() == "distinct" && x.kind == outcome.Replies && strings.ContainsAny(key, "012")
		},
	},
	{
		"a depth of $graphLookup is an int, and constants are placed last",
		"See there.",
		func(x difference) bool {
			return x.Uses("$graphLookup") && x.sameAfter(func(v any) any { return sortFields(widened(v)) })
		},
	},
	{
		"constants are placed last, and decimals have other zeros at their end",
		"See there.",
		func(x difference) bool {
			return x.Uses("$project", "$addFields", "$set") && x.server.HasValue(isLongDecimal) &&
				x.sameAfter(func(v any) any { return sortFields(plainDecimals(v)) })
		},
	},
	{
		"powers and their kin are off in the last digit, and constants are placed last or decimals have other zeros at their end",
		"See there.",
		func(x difference) bool {
			return x.Uses(rounded...) && x.sameAfter(func(v any) any {
				if x.server.HasValue(isLongDecimal) {
					v = plainDecimals(v)
				}
				if x.Uses("$project", "$addFields", "$set") {
					v = sortFields(v)
				}
				return fewerDigits(v)
			})
		},
	},
	{
		"an empty array sorts as null does, and constants of a projection are placed last",
		"See there.",
		func(x difference) bool {
			return x.kind == outcome.Replies && x.Get("sort") != nil && x.Get("projection") != nil &&
				x.HasValue(tree.IsEmptyArray) &&
				x.sameAfter(func(v any) any { return sortElements(sortFields(v)) })
		},
	},
	{
		"an empty document is lost in $lookup, and joined documents are placed last",
		"See there.",
		func(x difference) bool {
			return x.kind == outcome.Replies && x.Uses("$lookup") &&
				x.sameAfter(func(v any) any { return sortFields(dropEmptyDocuments(v)) })
		},
	},
	{
		"$count of nothing is zero, and joined documents are placed last",
		"See there.",
		func(x difference) bool {
			return x.kind == outcome.Replies && x.Uses("$count") && cases.HasStage(x.Case, "$lookup") &&
				x.sameAfter(func(v any) any { return sortFields(dropZeroCounts(v)) })
		},
	},
	{
		"operators that remove create the path or the element, both in one update",
		"See there.",
		func(x difference) bool {
			return x.IsUpdate() && x.Uses("$pull", "$pullAll", "$pop", "$rename", "$unset") &&
				x.kind == outcome.States &&
				x.sameAfter(func(v any) any { return plainUpdate(dropNullElements(v)) })
		},
	},
	{
		"a key of $group that is missing, in documents that go into another group",
		"See there.",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) &&
				(regrouped(x.Case) && x.chosen() ||
					x.Uses("$group") && x.sameAfter(func(v any) any { return sortElements(dropNullFields(v)) }))
		},
	},
	{
		"a count of nothing is zero, where it is one of several documents",
		"See there.",
		func(x difference) bool {
			return x.Uses("$count") && x.Uses("$unionWith") &&
				(x.kind == outcome.OnlyServer && x.failsFor(countAnyway) || x.kind == outcome.Replies) &&
				(x.Uses("$project", "$setWindowFields") && x.chosen() || x.sameFor(countAnyway) ||
					x.Uses("$group") && x.sameAfter(dropCountKeys))
		},
	},
	{
		"$avg returns the type of what it averages, and constants are placed last",
		"See there.",
		func(x difference) bool {
			return x.within(sortFields, "$avg")
		},
	},
}

var rules = slices.Concat(updateRules, laterUpdateRules, findRules, valueRules, laterRules, numberRules, aggregateRules,
	stageRules, placeRules, mixedRules)

// regrouped reports whether groups by a field are counted, cut off or made anew by a later stage.
func regrouped(c cases.Case) bool {
	stages, _ := c.Get("pipeline").(bson.A)
	grouped := false
	for _, stage := range stages {
		s := cases.Case{Command: bson.D{{Key: "stage", Value: stage}}}
		if grouped &&
			s.Uses("$group", "$sortByCount", "$count", "$limit", "$skip", "$replaceWith", "$replaceRoot", "$facet",
				"$bucket", "$bucketAuto") {
			return true
		}
		grouped = grouped || s.Uses("$group", "$sortByCount") && mentions(stage, "$")
	}
	return false
}

// countAnyway makes of $count what gives a document for none too.
func countAnyway(v any) any {
	stages, _ := v.(bson.A)
	for i, stage := range stages {
		if name, ok := tree.Lookup(stage, "$count").(string); ok {
			return slices.Concat(stages[:i],
				bson.A{
					tree.D("$facet", tree.D("z", bson.A{})),
					tree.D("$project", tree.D(name, tree.D("$size", "$z"))),
				}, stages[i+1:])
		}
	}
	return v
}

func isDecimal(v any) bool {
	_, ok := v.(bson.Decimal128)
	return ok
}

// dropCountKeys removes the groups whose key is a count of zero.
func dropCountKeys(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool {
		key, _ := tree.Lookup(v, "_id").(bson.D)
		return len(key) == 1 && key[0].Value == int32(0)
	})
}

// dropElements makes all arrays equal that hold no documents.
func dropElements(v any) any {
	list, ok := v.(bson.A)
	if ok && !slices.ContainsFunc(list, func(v any) bool { _, isDocument := v.(bson.D); return isDocument }) {
		return nil
	}
	return v
}
