package rules

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// updateRules are of updates as a whole: atomicity, upserts, unique indexes, the order of fields, positional paths and
// array filters. The commands are update and findAndModify.
var updateRules = []rule{
	{
		// Code 224 is QueryFeatureNotAllowed. The server gives it too if the upsert inserts.
		"$expr in an upsert is refused only when it inserts",
		"MongoDB refuses $expr in the query of any upsert ($expr, \"Behavior\").",
		func(x difference) bool {
			return x.engine.Code == 224 && x.onlyEngine()
		},
	},
	{
		// Both fail with the same class of code. The server has none of the changes, the engine the changes before the
		// error.
		"updateMany is all or nothing",
		"MongoDB updates document by document and keeps what it did before an error (Bulk Write Operations: " +
			"each write is atomic for a single document).",
		func(x difference) bool {
			return x.Statement("multi") == true && x.engine.Fails() && x.server.Fails() &&
				outcome.SameCode(x.engine.Code, x.server.Code) && outcome.EqualDocs(x.server.State, x.Docs)
		},
	},
	{
		// {$inc: {a: "x"}} with a filter that matches nothing: the server answers n: 0, MongoDB an error.
		// An upsert's duplicate key (11000) isn't an error of parsing.
		"an update that meets no document isn't checked",
		"MongoDB parses an update before it looks for documents (Update Operators).",
		func(x difference) bool {
			return x.IsUpdate() && x.kind == outcome.OnlyEngine && x.engine.Code != 11000 &&
				tree.Lookup(x.server.Reply, "n") == int32(0) ||
				x.Verb() == "findAndModify" && x.kind == outcome.OnlyEngine &&
					tree.Lookup(tree.Lookup(x.server.Reply, "lastErrorObject"), "n") == int32(0)
		},
	},
	{
		// {$set: {c: 1, b: 2}} on {_id: 1}: the server stores {_id: 1, c: 1, b: 2}, MongoDB {_id: 1, b: 2, c: 1}.
		"new fields keep the given order",
		"MongoDB adds fields in lexicographic order (Update Operators, \"Behavior\").",
		func(x difference) bool {
			return x.IsUpdate() && x.HasOperators() &&
				(x.kind == outcome.States || x.kind == outcome.Replies) && x.sameAfter(sortFields)
		},
	},
	{
		// {$push: {a: {$each: []}}} on {_id: 1}: the server stores {_id: 1}, MongoDB {_id: 1, a: []}.
		// The array may be below a document or an index that is created with it, so other fields are empty or null too.
		"$push and $addToSet of nothing don't create the array",
		"MongoDB adds the array field if it is absent ($push: \"If the field is absent in the document to update, " +
			"$push adds the array field\").",
		func(x difference) bool {
			return x.IsUpdate() && x.Uses("$each") && (x.kind == outcome.States || x.kind == outcome.Replies) &&
				(x.sameAfter(dropEmptyArrays) ||
					x.addsNothing() && (x.sameAfter(dropFound) || x.sameOutside(dropFound, "$push", "$addToSet")))
		},
	},
	{
		// {$set: {a: 5}} on {_id: 1, a: 5}: nothing is stored otherwise, and the replies are equal without
		// lastErrorObject.
		"findAndModify that changes nothing says that it found nothing",
		"MongoDB's lastErrorObject says updatedExisting: true when a document matched (findAndModify, " +
			"\"lastErrorObject\").",
		func(x difference) bool {
			return x.Verb() == "findAndModify" && x.kind == outcome.Replies &&
				outcome.EqualDocs(x.engine.State, x.Docs) &&
				encodesAlike(sortFields, dropField(x.engine.Reply, "lastErrorObject"),
					dropField(x.server.Reply, "lastErrorObject")) &&
				tree.Lookup(tree.Lookup(x.server.Reply, "lastErrorObject"), "updatedExisting") == false
		},
	},
	{
		// {_id: 1, b: 5} and {_id: 2, b: 5} under the unique index {a: 1, b: 1}: both have a: null for MongoDB.
		// u_ab and u_deep are the collections of package cases with such indexes.
		"a unique index on several fields or below an array lets missing fields differ",
		"MongoDB stores null for a missing field, and enforces uniqueness on the combination (Unique Indexes, " +
			"\"Missing Document Field in a Unique Compound Index\").",
		func(x difference) bool {
			return slices.Contains([]string{"u_ab", "u_deep"}, x.Collection) && x.engine.Code == 11000 &&
				strings.Contains(x.engine.Text, "null") && x.Verb() != "aggregate"
		},
	},
	{
		// {$set: {"a.$": 5}} with the filter {_id: 1}: the server changes nothing.
		"the positional operator is ignored when nothing matched",
		"MongoDB fails when the query doesn't match an array field ($ (update), \"Behavior\").",
		func(x difference) bool {
			return (x.kind == outcome.OnlyEngine || x.kind == outcome.Codes) &&
				strings.Contains(x.engine.Text, "positional operator did not find the match")
		},
	},
	{
		// {$unset: {"d.e": ""}} on {_id: 1}: the server stores {_id: 1, d: {}}. With an index in the path, it stores
		// nulls before it. A findAndModify with computed fields may show something else of such a document, so there
		// only the stored documents count.
		"operators that remove create the path to what isn't there",
		"MongoDB does nothing when the path doesn't exist ($pull, $pop, $rename, $unset: \"Behavior\").",
		func(x difference) bool {
			return x.IsUpdate() && x.Uses("$pull", "$pullAll", "$pop", "$rename", "$unset") &&
				(x.kind == outcome.States || x.kind == outcome.Replies) &&
				(x.sameAfter(dropCreated) || x.sameAfter(dropPadding) ||
					mentions(x.Get("fields"), "$") && x.sameStored(dropCreated))
		},
	},
	{
		// {$inc: {a: 0}} on {a: 5}: the server answers nModified: 1.
		"$inc, $mul and $replaceWith count a modification that isn't one",
		"nModified counts the documents that changed (update, \"update.nModified\").",
		func(x difference) bool {
			return x.Uses("$inc", "$mul", "$replaceWith", "$replaceRoot") && x.kind == outcome.Replies &&
				outcome.EqualDocs(x.engine.State, x.server.State) &&
				outcome.EqualDoc(dropField(x.engine.Reply, "nModified"), dropField(x.server.Reply, "nModified"))
		},
	},
	{
		// {$set: {"a.$": 1, "a.0": 2}}, where $ is the element 1. Code 40 is ConflictingUpdateOperators.
		"the positional operator conflicts with an index of the same array",
		"MongoDB looks for conflicts between the paths as they resolve (Update Operators Conflict).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.Code == 40 && x.hasPath(".$")
		},
	},
	{
		// {$set: {a: 1}, $setOnInsert: {a: 2}} on a document that exists. Code 40 is ConflictingUpdateOperators.
		"$setOnInsert conflicts with nothing unless it inserts",
		"MongoDB refuses two operators on one path (Update Operators Conflict).",
		func(x difference) bool {
			return x.onlyEngine() && x.engine.Code == 40 && x.Uses("$setOnInsert")
		},
	},
	{
		// {$set: {_id: 1}, $setOnInsert: {_id: 1}} in an upsert.
		"two operators may give an upsert its _id",
		"MongoDB refuses two operators on one path (Update Operators Conflict).",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && x.IsUpsert() &&
				strings.HasSuffix(x.engine.Text, "would create a conflict at '_id'")
		},
	},
	{
		// {$set: {"a.$[]": 1, "a.0": 2}}. Code 40 is ConflictingUpdateOperators.
		"$[] conflicts with no other way into the same array",
		"MongoDB refuses two operators on one path (Update Operators Conflict).",
		func(x difference) bool {
			return x.onlyEngine() && x.engine.Code == 40 && x.hasPath(".$[")
		},
	},
	{
		// {$setOnInsert: {"a.$[x]": 5}} with arrayFilters [{x: 1}].
		"an identifier that only $setOnInsert uses counts as unused, or its path as a value",
		"MongoDB accepts an array filter whose identifier an operator uses ($[<identifier>]).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer &&
				(strings.HasPrefix(x.server.Text, "The filter array for identifier") ||
					strings.HasPrefix(x.server.Text, "Expected Numeric, document") ||
					strings.HasPrefix(x.server.Text, "Decimal 128 operations")) && x.Uses("$setOnInsert") &&
				(x.Get("arrayFilters") != nil || x.Statement("arrayFilters") != nil)
		},
	},
	{
		// {$set: {"a.$": 5}} with the filter {a: {$type: "int"}}, or {"a.0": 1}: the server finds no element.
		"$type of an element, and what stands at an index, are no match for the positional operator",
		"MongoDB's $ is the index of the element that the query matched ($ (update), \"Behavior\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && (x.Uses("$type") || hasIndex(x.Filter())) && x.hasPath(".$") &&
				strings.HasPrefix(x.server.Text, "The positional operator failed to locate")
		},
	},
	{
		// {$set: {"a.$": 5}} with the filter {a: 1, $expr: true}.
		"$expr and $jsonSchema can't stand beside the positional operator",
		"MongoDB takes both at the top level of any filter ($expr, $jsonSchema).",
		func(x difference) bool {
			_, refused, _ := strings.Cut(x.server.Text, " ")
			return x.kind == outcome.OnlyServer && x.IsUpdate() && x.Uses("$expr", "$jsonSchema") &&
				strings.HasPrefix(refused, "can only be applied to the top-level")
		},
	},
	{
		// {a: {$all: [{$elemMatch: {b: 1}}]}}: the server inserts {a: {$elemMatch: {b: 1}}}.
		"an upsert stores $elemMatch of $all as a value",
		"MongoDB sets fields from equality conditions alone (update, \"Upsert with Operator Expressions\").",
		func(x difference) bool {
			return x.IsUpsert() && hasElemMatchIn(x.Filter()) && x.storesAllAsEquality()
		},
	},
	{
		// {a: {$in: [5, 5]}}: MongoDB inserts {a: 5}, the server a document without a, which an index may refuse or
		// not.
		"an upsert takes nothing from $in of one value given twice",
		"MongoDB sets fields from equality conditions, and $in of one value is one (update, \"Upsert with " +
			"Operator Expressions\").",
		func(x difference) bool {
			return (x.kind == outcome.States || x.kind == outcome.OnlyEngine) && x.IsUpdate() &&
				x.IsUpsert() && hasRepeatedIn(x.Command)
		},
	},
	{
		// {a: {$in: [/x/]}}: the server inserts {a: /x/}.
		"an upsert takes the regular expression of $all, or of $in of nothing else, for a value",
		"MongoDB sets fields from equality conditions alone (update, \"Upsert with Operator Expressions\").",
		func(x difference) bool {
			return x.IsUpsert() && hasRegexIn(x.Filter()) && x.storesAllAsEquality()
		},
	},
	{
		// {"x.b": null} on the elements [1, {b: 2}]: 1 has no field b, so it matches for MongoDB. The fields that don't
		// depend on the array filters must be equal. If one side fails, an operator on an element is the cause: the
		// engine fails as well if every element matches, or doesn't fail if no element does. Code 28 is PathNotViable.
		"an array filter on a field that is missing doesn't match an element that is no document",
		"MongoDB matches the element as a filter does a field (Update Operators: arrayFilters).",
		func(x difference) bool {
			return x.IsUpdate() && hasDottedArrayFilter(x.Get("arrayFilters"), x.Statement("arrayFilters")) &&
				(x.sameOutsideCases(simplifyUpdate, x.replaceArrayFilters()...) ||
					x.kind == outcome.OnlyServer && x.server.Code == 28 &&
						slices.Contains([]int32{2, 28}, x.run(x.replaceArrayFilters()[1]).Code) ||
					x.kind == outcome.OnlyEngine &&
						(x.engine.Code == 28 ||
							strings.HasPrefix(x.engine.Text, "Cannot apply $") &&
								!x.run(x.replaceArrayFilters()[0]).Fails() ||
							strings.HasSuffix(x.engine.Text,
								"must exist in the document in order to apply array updates.")))
		},
	},
}
