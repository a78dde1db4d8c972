package rules

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// aggregateRules are of the stages that join, group or store documents, such as $lookup, $group and $merge. More rules
// of stages are in stage.go.
var aggregateRules = []rule{
	{
		// Both fail with the same class of code. The server has none of the changes, the engine the changes before the
		// error.
		"$merge is all or nothing",
		"MongoDB writes document by document and keeps what it did before an error ($merge).",
		func(x difference) bool {
			return cases.HasStage(x.Case, "$merge") && x.engine.Fails() && x.server.Fails() &&
				outcome.SameCode(x.engine.Code, x.server.Code) && outcome.EqualDocs(x.server.State, x.Docs)
		},
	},
	{
		// The depthField of the first documents is Long(0) for MongoDB, 0 for the server.
		"a depth of $graphLookup is an int",
		"MongoDB's depthField is a long ($graphLookup).",
		func(x difference) bool { return x.Uses("$graphLookup") && x.sameAfter(widenInts) },
	},
	{
		// restrictSearchWithMatch: {$expr: {$divide: [1, "$b"]}} fails for a document {b: 0} that isn't connected.
		"a restriction of $graphLookup is computed for what isn't reached",
		"MongoDB's manual says only that restrictSearchWithMatch is a condition of the search ($graphLookup).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$graphLookup") && x.Uses("$expr") && x.failsRestricting()
		},
	},
	{
		// [{$replaceWith: {$setField: {field: {$literal: "$x"}, …}}}, {$merge: "o"}]. Code 52 is
		// DollarPrefixedFieldName.
		"$merge stores names that begin with a dollar sign",
		"MongoDB's updates and replacements take none (Field Names with Periods and Dollar Signs).",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && x.engine.Code == 52 && cases.HasStage(x.Case, "$merge")
		},
	},
	{
		// A document with the field "a.b": MongoDB sets b in the document a, which fails if a is a scalar (code 28) or
		// if a is also set (code 40).
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
		// As for updates: {c: 1, b: 2} adds b first for MongoDB.
		"$merge adds fields in the given order",
		"MongoDB merges by an update, which adds fields in lexicographic order (Update Operators, \"Behavior\").",
		func(x difference) bool {
			return cases.HasStage(x.Case, "$merge") && x.kind == outcome.States && x.sameAfter(sortFields)
		},
	},
	{
		// {$set: {"a.b": {$divide: [1, 0]}}} on {a: []}: there is no element to set b in. The server computes it and
		// fails.
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
		// {$facet: {x: [{$project: {z: 1, _id: 0}}]}}: MongoDB returns {x: [{}]}, the server {x: []}.
		"an empty document is lost in $facet and $lookup",
		"MongoDB gathers all documents of each pipeline ($facet, $lookup).",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$facet", "$lookup") &&
				x.sameAfter(dropEmptyDocuments)
		},
	},
	{
		// {localField: "z", foreignField: "z", pipeline: []}, where z is missing on both sides: the server joins
		// nothing.
		"$lookup with a field and a pipeline doesn't match missing with missing",
		"MongoDB treats a missing field as null on both sides ($lookup, \"Equality Match with a Single Join " +
			"Condition\").",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$lookup") && x.Uses("pipeline") &&
				x.Uses("localField") &&
				x.sameAfter(func(v any) any { return sortFields(dropArrays(v)) })
		},
	},
	{
		// [{$match: {a: "nothing"}}, {$count: "n"}]: the server returns {n: 0}. A stage after it may store or count
		// this document.
		"$count of nothing is zero",
		"MongoDB's $count is a $group, which returns no document for none ($count).",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$count") &&
				(x.sameAfter(dropZeroCounts) || countedNothing(x.server) && !countedNothing(x.engine) ||
					countsCount(x.Case))
		},
	},
	{
		// {$group: {_id: {a: "$z"}}}: MongoDB's key is {}, the server's {a: null}.
		"$group makes null of a missing field in its key or in what it gathers",
		"MongoDB leaves out a field of a document expression that is missing ($group, expression objects).",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) && x.Uses("$group") &&
				x.sameAfter(dropNullFields)
		},
	},
	{
		// {$group: {_id: null, s: {$addToSet: "$z"}}}: MongoDB returns [], the server [null].
		"$addToSet of a group or a window adds null for a missing field",
		"MongoDB adds nothing for a document without the field ($addToSet (aggregation), \"Missing Fields\").",
		func(x difference) bool {
			return (x.kind == outcome.Replies || x.kind == outcome.States) &&
				x.Uses("$group", "$bucket", "$setWindowFields") &&
				x.Uses("$addToSet") && x.sameAfter(dropNullElements)
		},
	},
	{
		// {partitionBy: "$z"}, where z is missing. Code 1 is InternalError.
		"$setWindowFields can't be partitioned by a missing field",
		"A missing field partitions as null does ($setWindowFields).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.Code == 1 && x.Uses("$setWindowFields") &&
				x.Uses("partitionBy")
		},
	},
	{
		// Code 115 is CommandNotSupported.
		"what the server says that it doesn't support",
		"MongoDB has it, as the page of each stage and operator says (Aggregation Operators).",
		func(x difference) bool {
			return (x.kind == outcome.OnlyServer || x.kind == outcome.Codes) && x.server.Code == 115
		},
	},
	{
		// {$group: {_id: {$arrayElemAt: [[], 0]}}}: MongoDB returns _id: null. The server's document has no _id, and
		// gets a new one when it is stored.
		"the key of $group is missing when an operator gives nothing",
		"MongoDB groups missing values under null ($group).",
		func(x difference) bool {
			return x.Uses("$group", "$sortByCount") && (x.sameAfter(dropNullID) || lacksID(x.server) &&
				!lacksID(x.engine))
		},
	},
	{
		// {$let: {vars: {w: 1}, in: …}} in "let". Code 17276 is of an unknown variable.
		"a variable of $let can't be used in a variable of $lookup",
		"The variables of \"let\" are any expressions ($lookup).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.Code == 17276 && x.Uses("$lookup")
		},
	},
	{
		// A field that the facet's next stage drops: the engine fails, and only because of what is in $facet.
		"an expression in $facet whose value isn't needed isn't computed",
		"MongoDB's manual doesn't say whether it is.",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.failsBecauseOf("$facet")
		},
	},
	{
		// As above, with "let". The field of the joined documents isn't compared.
		"$lookup by fields with variables doesn't join what is missing in both",
		"MongoDB takes a missing field for null on both sides ($lookup, localField and foreignField).",
		func(x difference) bool {
			return x.Uses("localField") && x.Uses("let") && x.sameOutside(sortFields, "$lookup")
		},
	},
	{
		// [{$unset: "a"}, {$set: {"a.b": 5}}]: the server makes one stage of both, and leaves {a: {}} or removes too
		// much. So fields that the stages touch aren't compared, and the rest may have empty documents. Code 31249 is
		// of a path collision.
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
		// PostgreSQL's own text tells that it is a duplicate key. Code 1 is InternalError.
		"$out and $merge give a duplicate key the code of any error, and $merge doesn't see what it wrote itself",
		"MongoDB answers 11000 (Error Codes), and merges document after document ($merge).",
		func(x difference) bool {
			return (x.kind == outcome.Codes && x.engine.Code == 11000 || x.kind == outcome.OnlyServer &&
				cases.HasStage(x.Case, "$merge")) &&
				x.server.Code == 1 && strings.HasPrefix(x.server.Text, "duplicate key value violates unique constraint")
		},
	},
	{
		// {path: "$a", includeArrayIndex: "a.i"}, or "d.i" where d is an array. Code 31249 is of a path collision.
		"$unwind can't store an index below the array's path, nor below another array",
		"MongoDB stores the index at the path that is named; its manual doesn't say what becomes of an array there " +
			"($unwind, includeArrayIndex).",
		func(x difference) bool {
			return x.Uses("$unwind") && x.Uses("includeArrayIndex") &&
				(x.kind == outcome.OnlyServer && x.server.Code == 31249 ||
					x.kind == outcome.Replies && (x.HasValue(tree.IsEmptyArray) || x.HasValue(isDottedIndex)))
		},
	},
	{
		// {on: "a"} with {a: null}. Code 51132 is of an "on" field that is missing, null or an array.
		"$merge takes null for the field that identifies a document",
		"MongoDB refuses a document whose \"on\" field is null ($merge, \"on\").",
		func(x difference) bool { return x.kind == outcome.OnlyEngine && x.engine.Code == 51132 },
	},
	{
		// {let: {v: "$a"}, pipeline: []}: the server joins nothing. The joined arrays aren't compared.
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
		// {localField: "z", foreignField: "a"} on {a: []}: the server joins it. If it then fails, the engine fails too
		// if it joins every document.
		"$lookup by fields joins a missing field with an empty array",
		"MongoDB takes a missing field for null, which no element of an empty array is ($lookup, localField and " +
			"foreignField).",
		func(x difference) bool {
			return cases.HasStage(x.Case, "$lookup") && x.Uses("localField") && x.HasValue(tree.IsEmptyArray) &&
				(x.kind == outcome.Replies && x.sameAfter(dropArrays) || x.kind == outcome.OnlyServer &&
					x.failsFor(joinAll))
		},
	},
	{
		// {whenMatched: "keepExisting", whenNotMatched: "discard"}. Code 51181 is of modes that don't go together.
		"$merge takes modes together that mean nothing",
		"MongoDB refuses to keep or fail on what is matched unless what isn't is inserted ($merge).",
		func(x difference) bool { return x.kind == outcome.OnlyEngine && x.engine.Code == 51181 },
	},
	{
		// A pipeline [{$project: {x: {$divide: [1, 0]}}}] in $lookup: the engine fails, and only because of $lookup.
		"an error inside $lookup is lost",
		"An aggregation fails when one of its expressions does ($lookup).",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.failsBecauseOf("$lookup")
		},
	},
	{
		// {$first: {$divide: [1, "$b"]}} with {b: 0} in a later document: the engine computes it for each document, and
		// fails.
		"$first and $last of $group are computed for one document, $firstN and $lastN for n",
		"MongoDB's manual doesn't say for which documents they are.",
		func(x difference) bool {
			return x.engine.FailsComputing() && x.Uses("$group", "$bucket") &&
				x.failsBecauseOf("$first", "$last", "$firstN", "$lastN")
		},
	},
}
