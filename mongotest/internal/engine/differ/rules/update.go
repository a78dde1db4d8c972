package rules

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

var updateRules = []rule{
	{
		"$expr in an upsert is refused only when it inserts",
		"MongoDB refuses $expr in the query of any upsert ($expr, \"Behavior\").",
		func(x difference) bool {
			return x.engine.Code == 224 && x.onlyEngine()
		},
	},
	{
		"updateMany is all or nothing",
		"MongoDB updates document by document and keeps what it did before an error (Bulk Write Operations: " +
			"each write is atomic for a single document).",
		func(x difference) bool {
			return x.Statement("multi") == true && x.engine.Fails() && x.server.Fails() &&
				outcome.SameCode(x.engine.Code, x.server.Code) && outcome.EqualDocs(x.server.State, x.Docs)
		},
	},
	{
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
		"new fields keep the given order",
		"MongoDB adds fields in lexicographic order (Update Operators, \"Behavior\").",
		func(x difference) bool {
			return x.IsUpdate() && x.HasOperators() &&
				(x.kind == outcome.States || x.kind == outcome.Replies) && x.sameAfter(sortFields)
		},
	},
	{
		"$push and $addToSet of nothing don't create the array",
		"MongoDB adds the array field if it is absent ($push: \"If the field is absent in the document to update, " +
			"$push adds the array field\").",
		func(x difference) bool {
			return x.IsUpdate() && x.Uses("$each") && (x.kind == outcome.States || x.kind == outcome.Replies) &&
				(x.sameAfter(dropEmptyArrays) ||
					x.addsNothing() && (x.sameAfter(dropFound) || x.within(dropFound, "$push", "$addToSet")))
		},
	},
	{
		"findAndModify that changes nothing says that it found nothing",
		"MongoDB's lastErrorObject says updatedExisting: true when a document matched (findAndModify, \"lastErrorObject\").",
		func(x difference) bool {
			return x.Verb() == "findAndModify" && x.kind == outcome.Replies &&
				outcome.EqualDocs(x.engine.State, x.Docs) &&
				encodesAlike(sortFields, without(x.engine.Reply, "lastErrorObject"),
					without(x.server.Reply, "lastErrorObject")) &&
				tree.Lookup(tree.Lookup(x.server.Reply, "lastErrorObject"), "updatedExisting") == false
		},
	},
	{
		"a unique index on several fields or below an array lets missing fields differ",
		"MongoDB stores null for a missing field, and enforces uniqueness on the combination (Unique Indexes, " +
			"\"Missing Document Field in a Unique Compound Index\").",
		func(x difference) bool {
			return slices.Contains([]string{"u_ab", "u_deep"}, x.Collection) && x.engine.Code == 11000 &&
				strings.Contains(x.engine.Text, "null") && x.Verb() != "aggregate"
		},
	},
	{
		"the positional operator is ignored when nothing matched",
		"MongoDB fails when the query doesn't match an array field ($ (update), \"Behavior\").",
		func(x difference) bool {
			return (x.kind == outcome.OnlyEngine || x.kind == outcome.Codes) &&
				strings.Contains(x.engine.Text, "positional operator did not find the match")
		},
	},
	{
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
		"$inc, $mul and $replaceWith count a modification that isn't one",
		"nModified counts the documents that changed (update, \"update.nModified\").",
		func(x difference) bool {
			return x.Uses("$inc", "$mul", "$replaceWith", "$replaceRoot") && x.kind == outcome.Replies &&
				outcome.EqualDocs(x.engine.State, x.server.State) &&
				outcome.EqualDoc(without(x.engine.Reply, "nModified"), without(x.server.Reply, "nModified"))
		},
	},
	{
		"the positional operator conflicts with an index of the same array",
		"MongoDB looks for conflicts between the paths as they resolve (Update Operators Conflict).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.Code == 40 && x.hasPath(".$")
		},
	},
	{
		"$setOnInsert conflicts with nothing unless it inserts",
		"MongoDB refuses two operators on one path (Update Operators Conflict).",
		func(x difference) bool {
			return x.onlyEngine() && x.engine.Code == 40 && x.Uses("$setOnInsert")
		},
	},
	{
		"two operators may give an upsert its _id",
		"MongoDB refuses two operators on one path (Update Operators Conflict).",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && x.IsUpsert() &&
				strings.HasSuffix(x.engine.Text, "would create a conflict at '_id'")
		},
	},
	{
		"$[] conflicts with no other way into the same array",
		"MongoDB refuses two operators on one path (Update Operators Conflict).",
		func(x difference) bool {
			return x.onlyEngine() && x.engine.Code == 40 && x.hasPath(".$[")
		},
	},
	{
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
		"$type of an element, and what stands at an index, are no match for the positional operator",
		"MongoDB's $ is the index of the element that the query matched ($ (update), \"Behavior\").",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && (x.Uses("$type") || hasIndex(x.Filter())) && x.hasPath(".$") &&
				strings.HasPrefix(x.server.Text, "The positional operator failed to locate")
		},
	},
	{
		"$expr and $jsonSchema can't stand beside the positional operator",
		"MongoDB takes both at the top level of any filter ($expr, $jsonSchema).",
		func(x difference) bool {
			_, refused, _ := strings.Cut(x.server.Text, " ")
			return x.kind == outcome.OnlyServer && x.IsUpdate() && x.Uses("$expr", "$jsonSchema") &&
				strings.HasPrefix(refused, "can only be applied to the top-level")
		},
	},
	{
		"an upsert stores $elemMatch of $all as a value",
		"MongoDB sets fields from equality conditions alone (update, \"Upsert with Operator Expressions\").",
		func(x difference) bool {
			return x.IsUpsert() && hasElemMatchIn(x.Filter()) && x.storesAll()
		},
	},
	{
		"an upsert takes nothing from $in of one value given twice",
		"MongoDB sets fields from equality conditions, and $in of one value is one (update, \"Upsert with " +
			"Operator Expressions\").",
		func(x difference) bool {
			return (x.kind == outcome.States || x.kind == outcome.OnlyEngine) && x.IsUpdate() &&
				x.IsUpsert() && repeatedIn(x.Command)
		},
	},
	{
		"an upsert takes the regular expression of $all, or of $in of nothing else, for a value",
		"MongoDB sets fields from equality conditions alone (update, \"Upsert with Operator Expressions\").",
		func(x difference) bool {
			return x.IsUpsert() && hasRegexIn(x.Filter()) && x.storesAll()
		},
	},
	{
		"an array filter on a field that is missing doesn't match an element that is no document",
		"MongoDB matches the element as a filter does a field (Update Operators: arrayFilters).",
		func(x difference) bool {
			return x.IsUpdate() && dottedArrayFilter(x.Get("arrayFilters"), x.Statement("arrayFilters")) &&
				(x.between(plainUpdate, x.unfiltered()...) ||
					x.kind == outcome.OnlyServer && x.server.Code == 28 &&
						slices.Contains([]int32{2, 28}, x.run(x.unfiltered()[1]).Code) ||
					x.kind == outcome.OnlyEngine &&
						(x.engine.Code == 28 ||
							strings.HasPrefix(x.engine.Text, "Cannot apply $") && !x.run(x.unfiltered()[0]).Fails() ||
							strings.HasSuffix(x.engine.Text,
								"must exist in the document in order to apply array updates.")))
		},
	},
	{
		"$addToSet takes a decimal for another value than the double that is equal to it",
		"They are equal (Comparison/Sort Order, \"Numeric Types\").",
		func(x difference) bool {
			return x.IsUpdate() && x.equalDecimals() && x.within(plainUpdate, "$addToSet")
		},
	},
	{
		"$rename of a field that isn't there looks where it would go",
		"MongoDB does nothing when the field doesn't exist ($rename).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$rename") &&
				(strings.HasPrefix(x.server.Text, "Invalid array index path") ||
					strings.HasPrefix(x.server.Text, "The destination field is an invalid array element"))
		},
	},
	{
		"$unset of every element doesn't need the array",
		"MongoDB fails when the path before $[] doesn't exist ($[]).",
		func(x difference) bool {
			return (x.kind == outcome.OnlyEngine || x.kind == outcome.Codes) && x.Uses("$unset") &&
				(strings.Contains(x.engine.Text, "must exist in the document in order to apply array updates") ||
					strings.HasPrefix(x.engine.Text, "Cannot apply array updates to non-array"))
		},
	},
	{
		"an upsert can't remove an _id that isn't there yet",
		"MongoDB does nothing when the field doesn't exist ($unset, $pull).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.Code == 66 &&
				x.Uses("$unset", "$pull", "$pullAll", "$pop", "$rename")
		},
	},
	{
		"$unset below an array fails for a name that is no index",
		"MongoDB does nothing when the field doesn't exist ($unset).",
		func(x difference) bool {
			return x.onlyServer() && x.Uses("$unset") &&
				(strings.HasPrefix(x.server.Text, "Invalid array index path") ||
					strings.HasPrefix(x.server.Text, "Failed to create the field"))
		},
	},
	{
		"$inc and $mul take a boolean for a number",
		"MongoDB fails when the field isn't numeric ($inc, $mul).",
		func(x difference) bool {
			return x.onlyEngine() && x.engine.Code == 14 && strings.HasSuffix(x.engine.Text, "of non-numeric type bool")
		},
	},
	{
		"$rename from below an empty array does nothing",
		"MongoDB doesn't rename what is in an array, and says so ($rename, \"Behavior\").",
		func(x difference) bool {
			return x.onlyEngine() && x.Uses("$rename") &&
				(strings.HasPrefix(x.engine.Text, "The source field cannot be") ||
					strings.HasPrefix(x.engine.Text, "Cannot use the part"))
		},
	},
	{
		"an upsert takes nothing from $all of several values",
		"MongoDB refuses a field that equality conditions give twice (update, \"Upsert with Operator Expressions\").",
		func(x difference) bool {
			return x.engine.Code == 54 && x.Uses("$all")
		},
	},
	{
		"$mul of a missing field by NaN or infinity stores 0",
		"MongoDB multiplies by zero of the same type, which gives NaN ($mul, \"Missing Field\").",
		func(x difference) bool {
			return x.IsUpdate() && x.Uses("$mul") && x.sameAfter(func(v any) any {
				if isNaN(v) {
					_, isDecimal := v.(bson.Decimal128)
					v = any(0.0)
					if isDecimal {
						v = tree.ParseDecimal("0")
					}
				}
				return plainUpdate(v)
			})
		},
	},
	{
		"$setOnInsert by an array operator isn't checked unless it inserts",
		"MongoDB's paths lead into arrays that are there ($[]).",
		func(x difference) bool {
			return x.because("$setOnInsert") &&
				(strings.HasSuffix(x.engine.Text, "must exist in the document in order to apply array updates.") ||
					strings.HasPrefix(x.engine.Text, "Cannot apply array updates to non-array"))
		},
	},
	{
		"$inc and $mul by which a decimal stays equal don't write it",
		"MongoDB stores what it computes, with its digits ($inc, $mul).",
		func(x difference) bool {
			return x.IsUpdate() && x.Uses("$inc", "$mul") && x.sameAfter(func(v any) any {
				if doc, ok := v.(bson.D); ok {
					v = without(doc, "lastErrorObject")
				}
				return plainDecimals(v)
			})
		},
	},
	{
		"$mul of a missing field by -0 stores 0",
		"MongoDB multiplies by zero of the same type ($mul, \"Missing Field\").",
		func(x difference) bool { return x.Uses("$mul") && x.kind != outcome.Same && x.sameAfter(plainZeros) },
	},
	{
		"an update by $replaceWith of the whole document stores _id twice",
		"A field name is unique in a document (Documents, \"Field Names\").",
		func(x difference) bool {
			return x.Uses("$replaceWith", "$replaceRoot") && slices.ContainsFunc(x.server.State, twiceID)
		},
	},
	{
		"a stage of an update sees the _id that one before it removed",
		"MongoDB puts the _id back into the result of all stages (Updates with Aggregation Pipeline).",
		func(x difference) bool {
			stages, ok := x.Change().(bson.A)
			return ok && len(stages) > 1 && x.Uses("$replaceWith", "$replaceRoot") && mentions(stages, "$_id") &&
				(x.kind == outcome.States ||
					(x.kind == outcome.Codes || x.kind == outcome.OnlyServer) && x.server.FailsComputing())
		},
	},
	{
		"findAndModify whose projection fails changes nothing",
		"MongoDB's manual doesn't say whether the change stays (findAndModify, \"fields\").",
		func(x difference) bool {
			return x.Verb() == "findAndModify" && x.Get("fields") != nil && x.engine.Fails() && x.server.Fails() &&
				outcome.EqualDocs(x.server.State, x.Docs)
		},
	},
	{
		"$inc and $mul check their operand only for an element that is there",
		"MongoDB parses an update before it looks for documents (Update Operators).",
		func(x difference) bool {
			_, argument, _ := strings.Cut(x.engine.Text, "with non-numeric argument: {")
			path, _, _ := strings.Cut(argument, ":")
			return strings.Contains(path, ".$") && x.hasPathEnd(path) && x.because("$inc", "$mul")
		},
	},
	{
		"a unique index tells 1.5 from 1.50, and a NaN from that of another type",
		"MongoDB compares numbers by value (Comparison/Sort Order, \"Numeric Types\").",
		func(x difference) bool {
			return strings.HasPrefix(x.Collection, "u_") && x.equalDecimals() &&
				(x.kind == outcome.States &&
					(x.chosen() || x.engine.Code == 11000 && len(x.engine.State) < len(x.server.State)) ||
					x.kind == outcome.OnlyEngine && x.engine.Code == 11000)
		},
	},
	{
		"an update shows several of the differences above",
		"See there.",
		func(x difference) bool {
			return x.IsUpdate() && x.HasOperators() && (x.kind == outcome.States || x.kind == outcome.Replies) &&
				x.sameAfter(plainUpdate)
		},
	},
}
