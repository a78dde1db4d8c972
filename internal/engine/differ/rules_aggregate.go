package differ

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

var aggregateRules = []rule{
	{
		"$merge is all or nothing",
		"MongoDB writes document by document and keeps what it did before an error ($merge).",
		func(x difference) bool {
			return hasStage(x.Case, "$merge") && x.engine.failed() && x.server.failed() &&
				sameCode(x.engine.Code, x.server.Code) && equalDocs(x.server.State, x.Docs)
		},
	},
	{
		"$count of nothing is zero",
		"MongoDB's $count is a $group, which returns no document for none ($count).",
		func(x difference) bool {
			return x.kind == Replies && x.uses("$count") && x.sameAfter(dropZeroCounts)
		},
	},
	{
		"$group makes null of a missing field in its key",
		"MongoDB leaves out a field of a document expression that is missing ($group, expression objects).",
		func(x difference) bool {
			return (x.kind == Replies || x.kind == States) && x.uses("$group") && x.sameAfter(dropNullsOfID)
		},
	},
	{
		"$addToSet of $group adds null for a missing field",
		"MongoDB adds nothing for a document without the field ($addToSet (aggregation), \"Missing Fields\").",
		func(x difference) bool {
			return (x.kind == Replies || x.kind == States) && hasStage(x.Case, "$group") && x.uses("$addToSet") && x.sameAfter(dropNullElements)
		},
	},
	{
		"what the server says that it doesn't support",
		"MongoDB has it; see the list in the package's documentation of servers.",
		func(x difference) bool { return x.kind == OnlyServer && x.server.Code == 115 },
	},
	{
		"$unset of a path creates what is above it when a constant follows",
		"MongoDB's $unset adds nothing ($unset (aggregation)).",
		func(x difference) bool {
			return (x.kind == Replies || x.kind == States) && x.uses("$unset") && x.uses("$addFields", "$set") && x.sameAfter(dropEmptyDocs)
		},
	},
	{
		"$out and $merge give a duplicate key the code of any error",
		"MongoDB answers 11000 (Error Codes).",
		func(x difference) bool {
			return x.kind == Codes && x.engine.Code == 11000 && x.server.Code == 1 &&
				strings.HasPrefix(x.server.Text, "duplicate key value violates unique constraint")
		},
	},
	{
		"$unwind can't store an index below the array's path",
		"MongoDB adds the field as $addFields would ($unwind, includeArrayIndex).",
		func(x difference) bool { return x.kind == OnlyServer && x.server.Code == 31249 && x.uses("$unwind") },
	},
	{
		"a variable of $lookup isn't computed when there's nothing to join",
		"MongoDB computes the variables of \"let\" for each document ($lookup).",
		func(x difference) bool {
			return x.kind == OnlyEngine && x.engine.Code > 10000 && x.uses("$lookup") && x.uses("let") && len(x.Other) == 0
		},
	},
}

// dropZeroCounts removes the documents that have nothing but a count of zero.
func dropZeroCounts(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool {
		doc, ok := v.(bson.D)
		return ok && len(doc) == 1 && doc[0].Value == int32(0)
	})
}

func dropNullElements(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool { return v == nil })
}

func dropNullsOfID(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	for i, e := range doc {
		if key, ok := e.Value.(bson.D); ok && e.Key == "_id" {
			doc[i].Value = slices.DeleteFunc(key, func(e bson.E) bool { return e.Value == nil })
		}
	}
	return doc
}
