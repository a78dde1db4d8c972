package rules

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// updateOperatorRules are of single update operators, such as $inc and $rename. They stand behind updateRules.
var updateOperatorRules = []rule{
	{
		// {$addToSet: {a: Decimal128("1.5")}} on {a: [1.5]}: the server adds it.
		"$addToSet takes a decimal for another value than the double that is equal to it",
		"They are equal (Comparison/Sort Order, \"Numeric Types\").",
		func(x difference) bool {
			return x.IsUpdate() && x.hasEqualDecimals() && x.sameOutside(simplifyUpdate, "$addToSet")
		},
	},
	{
		// {$rename: {z: "a.b"}} on {a: [1]}: a.b isn't a possible place, and there is nothing to rename.
		"$rename of a field that isn't there looks where it would go",
		"MongoDB does nothing when the field doesn't exist ($rename).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Uses("$rename") &&
				(strings.HasPrefix(x.server.Text, "Invalid array index path") ||
					strings.HasPrefix(x.server.Text, "The destination field is an invalid array element"))
		},
	},
	{
		// {$unset: {"a.$[]": ""}} on {_id: 1}: the server does nothing.
		"$unset of every element doesn't need the array",
		"MongoDB fails when the path before $[] doesn't exist ($[]).",
		func(x difference) bool {
			return (x.kind == outcome.OnlyEngine || x.kind == outcome.Codes) && x.Uses("$unset") &&
				(strings.Contains(x.engine.Text, "must exist in the document in order to apply array updates") ||
					strings.HasPrefix(x.engine.Text, "Cannot apply array updates to non-array"))
		},
	},
	{
		// {$unset: {_id: ""}} in an upsert that inserts. Code 66 is ImmutableField.
		"an upsert can't remove an _id that isn't there yet",
		"MongoDB does nothing when the field doesn't exist ($unset, $pull).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.server.Code == 66 &&
				x.Uses("$unset", "$pull", "$pullAll", "$pop", "$rename")
		},
	},
	{
		// {$unset: {"a.b": ""}} on {a: [1]}: an array has no field b.
		"$unset below an array fails for a name that is no index",
		"MongoDB does nothing when the field doesn't exist ($unset).",
		func(x difference) bool {
			return x.onlyServer() && x.Uses("$unset") &&
				(strings.HasPrefix(x.server.Text, "Invalid array index path") ||
					strings.HasPrefix(x.server.Text, "Failed to create the field"))
		},
	},
	{
		// {$inc: {a: 1}} on {a: true}. Code 14 is TypeMismatch.
		"$inc and $mul take a boolean for a number",
		"MongoDB fails when the field isn't numeric ($inc, $mul).",
		func(x difference) bool {
			return x.onlyEngine() && x.engine.Code == 14 && strings.HasSuffix(x.engine.Text, "of non-numeric type bool")
		},
	},
	{
		// {$rename: {"a.b": "c"}} on {a: []}: MongoDB fails for every array.
		"$rename from below an empty array does nothing",
		"MongoDB doesn't rename what is in an array, and says so ($rename, \"Behavior\").",
		func(x difference) bool {
			return x.onlyEngine() && x.Uses("$rename") &&
				(strings.HasPrefix(x.engine.Text, "The source field cannot be") ||
					strings.HasPrefix(x.engine.Text, "Cannot use the part"))
		},
	},
	{
		// {a: {$all: [1, 2]}}. Code 54 is NotSingleValueField.
		"an upsert takes nothing from $all of several values",
		"MongoDB refuses a field that equality conditions give twice (update, \"Upsert with Operator Expressions\").",
		func(x difference) bool {
			return x.engine.Code == 54 && x.Uses("$all")
		},
	},
	{
		// The server's 0 has the type of the operand, double or decimal, so NaN is mapped to the 0 of its type.
		"$mul of a missing field by NaN or infinity stores 0",
		"MongoDB multiplies by zero of the same type, which gives NaN ($mul, \"Missing Field\").",
		func(x difference) bool {
			replaceNaN := func(v any) any {
				if bsonval.IsNaN(v) {
					_, isDecimal := v.(bson.Decimal128)
					v = any(0.0)
					if isDecimal {
						v = tree.ParseDecimal("0")
					}
				}
				return simplifyUpdate(v)
			}
			return x.IsUpdate() && x.Uses("$mul") && x.sameAfter(replaceNaN)
		},
	},
	{
		// {$setOnInsert: {"a.$[]": 1}} on a document without a, which exists: the engine fails only because of
		// $setOnInsert.
		"$setOnInsert by an array operator isn't checked unless it inserts",
		"MongoDB's paths lead into arrays that are there ($[]).",
		func(x difference) bool {
			return x.failsBecauseOf("$setOnInsert") &&
				(strings.HasSuffix(x.engine.Text, "must exist in the document in order to apply array updates.") ||
					strings.HasPrefix(x.engine.Text, "Cannot apply array updates to non-array"))
		},
	},
	{
		// {$inc: {a: Decimal128("0.00")}} on {a: Decimal128("1.5")}: MongoDB stores 1.50, the server doesn't write.
		// So a findAndModify of the server also says that it updated nothing, in lastErrorObject.
		"$inc and $mul by which a decimal stays equal don't write it",
		"MongoDB stores what it computes, with its digits ($inc, $mul).",
		func(x difference) bool {
			return x.IsUpdate() && x.Uses("$inc", "$mul") && x.sameAfter(func(v any) any {
				if doc, ok := v.(bson.D); ok {
					v = dropField(doc, "lastErrorObject")
				}
				return simplifyDecimals(v)
			})
		},
	},
	{
		// {$mul: {a: -0.0}} on {_id: 1}: MongoDB stores -0.
		"$mul of a missing field by -0 stores 0",
		"MongoDB multiplies by zero of the same type ($mul, \"Missing Field\").",
		func(x difference) bool { return x.Uses("$mul") && x.kind != outcome.Same && x.sameAfter(simplifyZeros) },
	},
	{
		// [{$replaceWith: "$$ROOT"}].
		"an update by $replaceWith of the whole document stores _id twice",
		"A field name is unique in a document (Documents, \"Field Names\").",
		func(x difference) bool {
			return x.Uses("$replaceWith", "$replaceRoot") && slices.ContainsFunc(x.server.State, hasIDTwice)
		},
	},
	{
		// [{$unset: "_id"}, {$replaceWith: {a: "$_id"}}]: a is missing for MongoDB, because the first stage removed
		// _id.
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
		// The projection {b: {$divide: [1, 0]}} fails for the document that was changed. The server has the documents
		// as before.
		"findAndModify whose projection fails changes nothing",
		"MongoDB's manual doesn't say whether the change stays (findAndModify, \"fields\").",
		func(x difference) bool {
			return x.Verb() == "findAndModify" && x.Get("fields") != nil && x.engine.Fails() && x.server.Fails() &&
				outcome.EqualDocs(x.server.State, x.Docs)
		},
	},
	{
		// {$inc: {"a.$[x]": "y"}}, where no element matches x. The engine's text names the path, which must be one of
		// the update.
		"$inc and $mul check their operand only for an element that is there",
		"MongoDB parses an update before it looks for documents (Update Operators).",
		func(x difference) bool {
			_, argument, _ := strings.Cut(x.engine.Text, "with non-numeric argument: {")
			path, _, _ := strings.Cut(argument, ":")
			return strings.Contains(path, ".$") && x.hasPathEnd(path) && x.failsBecauseOf("$inc", "$mul")
		},
	},
	{
		// u_… are the collections with unique indexes. The server stores a document that the engine refuses, or the
		// engine then updates another document. Code 11000 is a duplicate key.
		"a unique index tells 1.5 from 1.50, and a NaN from that of another type",
		"MongoDB compares numbers by value (Comparison/Sort Order, \"Numeric Types\").",
		func(x difference) bool {
			return strings.HasPrefix(x.Collection, "u_") && x.hasEqualDecimals() &&
				(x.kind == outcome.States &&
					(x.differsInChoice() || x.engine.Code == 11000 && len(x.engine.State) < len(x.server.State)) ||
					x.kind == outcome.OnlyEngine && x.engine.Code == 11000)
		},
	},
	{
		// simplifyUpdate removes the order of new fields, empty paths, zeros of decimals and the sign of zero at once.
		"an update shows several of the differences above",
		"See there.",
		func(x difference) bool {
			return x.IsUpdate() && x.HasOperators() && (x.kind == outcome.States || x.kind == outcome.Replies) &&
				x.sameAfter(simplifyUpdate)
		},
	},
	{
		// {$pull: {a: {b: {$exists: false}}}} on {a: [1, {c: 1}]}: the server also removes the 1.
		"$pull by conditions on fields removes what is no document",
		"MongoDB removes the documents that match as in a filter ($pull, \"Remove Items from an Array of Documents\").",
		func(x difference) bool {
			return x.IsUpdate() && (pullsAll(x.Change()) || x.HasValue(isNested)) &&
				x.sameOutside(simplifyUpdate, "$pull")
		},
	},
	{
		// {$set: {"a.$.b": 5}}, where the query matched the element 0 of another array, and a is a document: MongoDB
		// sets a.0.b.
		"the positional operator makes no field that isn't there",
		"MongoDB's $ is the index that the query matched, which becomes a field's name where there is no array ($ " +
			"(update)).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.IsUpdate() && (x.hasPath(".$.") || x.hasPathEnd(".$")) &&
				(strings.HasPrefix(x.server.Text, "The specified path '") &&
					strings.HasSuffix(x.server.Text,
						"does not exist within the document. Cannot apply array update operations.") ||
					strings.HasPrefix(x.server.Text,
						"Array updates cannot be applied to an element that is not an array "))
		},
	},
}
