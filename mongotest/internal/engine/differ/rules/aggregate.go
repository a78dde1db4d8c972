package rules

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

var aggregateRules = []rule{
	{
		"$merge is all or nothing",
		"MongoDB writes document by document and keeps what it did before an error ($merge).",
		func(x difference) bool {
			return cases.HasStage(x.Case, "$merge") && x.engine.Fails() && x.server.Fails() &&
				outcome.SameCode(x.engine.Code, x.server.Code) && outcome.EqualDocs(x.server.State, x.Docs)
		},
	},
	{
		"a depth of $graphLookup is an int",
		"MongoDB's depthField is a long ($graphLookup).",
		func(x difference) bool { return x.Uses("$graphLookup") && x.sameAfter(widenInts) },
	},
	{
		"a restriction of $graphLookup is computed for what isn't reached",
		"MongoDB's manual says only that restrictSearchWithMatch is a condition of the search ($graphLookup).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$graphLookup") && x.Uses("$expr") && x.failsRestricting()
		},
	},
	{
		"$merge stores names that begin with a dollar sign",
		"MongoDB's updates and replacements take none (Field Names with Periods and Dollar Signs).",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && x.engine.Code == 52 && cases.HasStage(x.Case, "$merge")
		},
	},
	{
		"$merge takes a name with dots for a name",
		"MongoDB merges by an update, for which it is a path (Update Operators).",
		func(x difference) bool {
			dotted := slices.ContainsFunc(x.server.State, func(doc bson.D) bool {
				return slices.ContainsFunc(doc, func(e bson.E) bool { return strings.Contains(e.Key, ".") })
			})
			return cases.HasStage(x.Case, "$merge") && dotted &&
				(x.kind == outcome.States || x.kind == outcome.OnlyEngine &&
					(x.engine.Code == 40 || x.engine.Code == 28))
		},
	},
	{
		"$merge adds fields in the given order",
		"MongoDB merges by an update, which adds fields in lexicographic order (Update Operators, \"Behavior\").",
		func(x difference) bool {
			return cases.HasStage(x.Case, "$merge") && x.kind == outcome.States && x.sameAfter(sortFields)
		},
	},
	{
		"what is set within an empty array's elements is computed",
		"MongoDB's manual doesn't say whether it is ($set, \"Add an Element to an Array\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$set", "$addFields", "$project") &&
				x.server.FailsComputing() &&
				(hasEmptyArray(x.engine.Reply) || x.HasValue(tree.IsEmptyArray) && x.failsOnConstant() ||
					slices.ContainsFunc(x.engine.State, func(doc bson.D) bool { return hasEmptyArray(doc) }))
		},
	},
	{
		"an empty document is lost in $facet and $lookup",
		"MongoDB gathers all documents of each pipeline ($facet, $lookup).",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$facet", "$lookup") &&
				x.sameAfter(dropEmptyDocuments)
		},
	},
	{
		"$lookup with a field and a pipeline doesn't match missing with missing",
		"MongoDB treats a missing field as null on both sides ($lookup, \"Equality Match with a Single Join Condition\").",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$lookup") && x.Uses("pipeline") &&
				x.Uses("localField") &&
				x.sameAfter(func(v any) any { return sortFields(dropArrays(v)) })
		},
	},
	{
		"$count of nothing is zero",
		"MongoDB's $count is a $group, which returns no document for none ($count).",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$count") &&
				(x.sameAfter(dropZeroCounts) || countedNothing(x.server) && !countedNothing(x.engine) ||
					countsCount(x.Case))
		},
	},
	{
		"$group makes null of a missing field in its key or in what it gathers",
		"MongoDB leaves out a field of a document expression that is missing ($group, expression objects).",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$group") &&
				x.sameAfter(dropNullFields)
		},
	},
	{
		"$addToSet of a group or a window adds null for a missing field",
		"MongoDB adds nothing for a document without the field ($addToSet (aggregation), \"Missing Fields\").",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) &&
				x.Uses("$group", "$bucket", "$setWindowFields") &&
				x.Uses("$addToSet") && x.sameAfter(dropNullElements)
		},
	},
	{
		"$setWindowFields can't be partitioned by a missing field",
		"A missing field partitions as null does ($setWindowFields).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.Code == 1 && x.Uses("$setWindowFields") &&
				x.Uses("partitionBy")
		},
	},
	{
		"what the server says that it doesn't support",
		"MongoDB has it, as the page of each stage and operator says (Aggregation Operators).",
		func(x difference) bool {
			return (x.kind == outcome.OnlyServer || x.kind == outcome.Codes) && x.server.Code == 115
		},
	},
	{
		"the key of $group is missing when an operator gives nothing",
		"MongoDB groups missing values under null ($group).",
		func(x difference) bool {
			return x.Uses("$group", "$sortByCount") && (x.sameAfter(dropNullID) || lacksID(x.server) &&
				!lacksID(x.engine))
		},
	},
	{
		"a variable of $let can't be used in a variable of $lookup",
		"The variables of \"let\" are any expressions ($lookup).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.Code == 17276 && x.Uses("$lookup")
		},
	},
	{
		"an expression in $facet whose value isn't needed isn't computed",
		"MongoDB's manual doesn't say whether it is.",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.failsBecauseOf("$facet")
		},
	},
	{
		"$lookup by fields with variables doesn't join what is missing in both",
		"MongoDB takes a missing field for null on both sides ($lookup, localField and foreignField).",
		func(x difference) bool {
			return x.Uses("localField") && x.Uses("let") && x.sameOutside(sortFields, "$lookup")
		},
	},
	{
		"a removal and a constant after it become one wrong stage",
		"MongoDB's $unset adds nothing, and the next stage sees what it removed ($unset (aggregation)).",
		func(x difference) bool {
			return hasConstantAfterRemoval(x.Case) && !x.engine.Fails() && !x.server.Fails() &&
				x.dropDependent(sortFields, x.removeOperators("$set", "$addFields"),
					x.removeOperators("$unset", "$project"),
					x.removeOperators("$set", "$addFields", "$unset", "$project"),
					x.MapCommand(unsetWhole)).sameButEmptied() ||
				hasConstantAfterRemoval(x.Case) && x.kind == outcome.OnlyServer &&
					x.failsLike(x.removeOperators("$unset", "$project")) ||
				x.kind == outcome.OnlyServer && x.server.Code == 31249 && x.Uses("$project", "$unset")
		},
	},
	{
		"$out and $merge give a duplicate key the code of any error, and $merge doesn't see what it wrote itself",
		"MongoDB answers 11000 (Error Codes), and merges document after document ($merge).",
		func(x difference) bool {
			return (x.kind == outcome.Codes && x.engine.Code == 11000 || x.kind == outcome.OnlyServer &&
				cases.HasStage(x.Case, "$merge")) &&
				x.server.Code == 1 && strings.HasPrefix(x.server.Text, "duplicate key value violates unique constraint")
		},
	},
	{
		"$unwind can't store an index below the array's path, nor below another array",
		"MongoDB stores the index at the path that is named; its manual doesn't say what becomes of an array there ($unwind, includeArrayIndex).",
		func(x difference) bool {
			return x.Uses("$unwind") && x.Uses("includeArrayIndex") &&
				(x.kind == outcome.OnlyServer && x.server.Code == 31249 ||
					x.kind == outcome.Replies && (x.HasValue(tree.IsEmptyArray) || x.HasValue(isDottedIndex)))
		},
	},
	{
		"$merge takes null for the field that identifies a document",
		"MongoDB refuses a document whose \"on\" field is null ($merge, \"on\").",
		func(x difference) bool { return x.kind == outcome.OnlyEngine && x.engine.Code == 51132 },
	},
	{
		"$lookup with variables joins nothing where nobody uses them, or as a field below another",
		"MongoDB joins what the pipeline returns ($lookup).",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("let") &&
				cases.HasStage(x.Case, "$lookup") &&
				(!mentions(x.Command, "$$v") || mentions(x.Command, "d.j")) &&
				x.sameAfter(func(v any) any { return sortFields(dropArrays(v)) })
		},
	},
	{
		"$lookup by fields joins a missing field with an empty array",
		"MongoDB takes a missing field for null, which no element of an empty array is ($lookup, localField and foreignField).",
		func(x difference) bool {
			return cases.HasStage(x.Case, "$lookup") && x.Uses("localField") && x.HasValue(tree.IsEmptyArray) &&
				(x.kind == outcome.Replies && x.sameAfter(dropArrays) || x.kind == outcome.OnlyServer &&
					x.failsFor(joinAll))
		},
	},
	{
		"$merge takes modes together that mean nothing",
		"MongoDB refuses to keep or fail on what is matched unless what isn't is inserted ($merge).",
		func(x difference) bool { return x.kind == outcome.OnlyEngine && x.engine.Code == 51181 },
	},
	{
		"an error inside $lookup is lost",
		"An aggregation fails when one of its expressions does ($lookup).",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.failsBecauseOf("$lookup")
		},
	},
	{
		"$first and $last of $group are computed for one document, $firstN and $lastN for n",
		"MongoDB's manual doesn't say for which documents they are.",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.Uses("$group", "$bucket") &&
				x.failsBecauseOf("$first", "$last", "$firstN", "$lastN")
		},
	},
}
