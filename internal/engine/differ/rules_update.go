package differ

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

var updateRules = []rule{
	{
		"updateMany is all or nothing",
		"MongoDB updates document by document and keeps what it did before an error (Bulk Write Operations: " +
			"each write is atomic for a single document).",
		func(x difference) bool {
			return x.statement("multi") == true && x.engine.failed() && x.server.failed() &&
				sameCode(x.engine.Code, x.server.Code) && equalDocs(x.server.State, x.Docs)
		},
	},
	{
		"an update that meets no document isn't checked",
		"MongoDB parses an update before it looks for documents (Update Operators).",
		func(x difference) bool {
			return x.updates() && x.kind == OnlyEngine && x.engine.Code != 11000 && lookup(x.server.Reply, "n") == int32(0) ||
				x.verb() == "findAndModify" && x.kind == OnlyEngine && lookup(lookup(x.server.Reply, "lastErrorObject"), "n") == int32(0)
		},
	},
	{
		"new fields keep the given order",
		"MongoDB adds fields in lexicographic order (Update Operators, \"Behavior\").",
		func(x difference) bool {
			return x.updates() && x.operators() && (x.kind == States || x.kind == Replies) && x.sameAfter(sortFields)
		},
	},
	{
		"$push and $addToSet of nothing don't create the array",
		"MongoDB adds the array field if it is absent ($push: \"If the field is absent in the document to update, " +
			"$push adds the array field\").",
		func(x difference) bool {
			return x.updates() && x.uses("$each") && (x.kind == States || x.kind == Replies) && x.sameAfter(dropEmptyArrays)
		},
	},
	{
		"findAndModify that changes nothing says that it found nothing",
		"MongoDB's lastErrorObject says updatedExisting: true when a document matched (findAndModify, \"lastErrorObject\").",
		func(x difference) bool {
			return x.verb() == "findAndModify" && x.kind == Replies && equalDocs(x.engine.State, x.Docs) &&
				equalDoc(without(x.engine.Reply, "lastErrorObject"), without(x.server.Reply, "lastErrorObject")) &&
				lookup(lookup(x.server.Reply, "lastErrorObject"), "updatedExisting") == false
		},
	},
	{
		"a compound unique index lets missing fields differ",
		"MongoDB stores null for a missing field, and enforces uniqueness on the combination (Unique Indexes, " +
			"\"Missing Document Field in a Unique Compound Index\").",
		func(x difference) bool {
			return x.Collection == "u_ab" && x.kind == OnlyEngine && x.engine.Code == 11000 &&
				strings.Contains(x.engine.Text, "null")
		},
	},
	{
		"the positional operator is ignored when nothing matched",
		"MongoDB fails when the query doesn't match an array field ($ (update), \"Behavior\").",
		func(x difference) bool {
			return x.kind == OnlyEngine && strings.Contains(x.engine.Text, "positional operator did not find the match")
		},
	},
	{
		"operators that remove create the path to what isn't there",
		"MongoDB does nothing when the path doesn't exist ($pull, $pop, $rename, $unset: \"Behavior\").",
		func(x difference) bool {
			return x.updates() && x.uses("$pull", "$pullAll", "$pop", "$rename", "$unset") &&
				(x.kind == States || x.kind == Replies) && x.sameAfter(dropEmptyDocs)
		},
	},
	{
		"$inc and $mul of a double count a modification that isn't one",
		"nModified counts the documents that changed (update, \"update.nModified\").",
		func(x difference) bool {
			return x.uses("$inc", "$mul") && x.kind == Replies && equalDocs(x.engine.State, x.server.State) &&
				equalDoc(without(x.engine.Reply, "nModified"), without(x.server.Reply, "nModified"))
		},
	},
	{
		"the positional operator conflicts with an index of the same array",
		"MongoDB looks for conflicts between the paths as they resolve (Update Operators Conflict).",
		func(x difference) bool {
			return x.kind == OnlyServer && x.server.Code == 40 && strings.Contains(x.server.Text, ".$")
		},
	},
	{
		"$setOnInsert conflicts with nothing unless it inserts",
		"MongoDB refuses two operators on one path (Update Operators Conflict).",
		func(x difference) bool {
			return x.kind == OnlyEngine && x.engine.Code == 40 && x.uses("$setOnInsert")
		},
	},
	{
		"an identifier that only $setOnInsert uses counts as unused, or its path as a value",
		"MongoDB accepts an array filter whose identifier an operator uses ($[<identifier>]).",
		func(x difference) bool {
			return x.kind == OnlyServer && x.uses("$setOnInsert") && (x.get("arrayFilters") != nil || x.statement("arrayFilters") != nil)
		},
	},
	{
		"$expr can't stand beside the positional operator",
		"MongoDB takes $expr at the top level of any filter ($expr).",
		func(x difference) bool {
			return x.kind == OnlyServer && x.updates() && strings.HasPrefix(x.server.Text, "$expr can only be applied to the top-level")
		},
	},
	{
		"an upsert stores $elemMatch of $all as a value",
		"MongoDB sets fields from equality conditions alone (update, \"Upsert with Operator Expressions\").",
		func(x difference) bool {
			return x.kind == States && x.uses("$all") && x.uses("$elemMatch") && x.sameAfter(dropElemMatch)
		},
	},
	{
		"an upsert takes nothing from $in of one value given twice",
		"MongoDB sets fields from equality conditions, and $in of one value is one (update, \"Upsert with " +
			"Operator Expressions\").",
		func(x difference) bool {
			return x.kind == States && x.updates() && x.get("upsert") != false && repeatedIn(x.Command)
		},
	},
	{
		"$unset of every element doesn't need the array",
		"MongoDB fails when the path before $[] doesn't exist ($[]).",
		func(x difference) bool {
			return x.kind == OnlyEngine && x.uses("$unset") && (strings.Contains(x.engine.Text, "must exist in the document in order to apply array updates") ||
				strings.HasPrefix(x.engine.Text, "Cannot apply array updates to non-array"))
		},
	},
	{
		"an upsert can't unset an _id that isn't there yet",
		"MongoDB does nothing when the field doesn't exist ($unset).",
		func(x difference) bool {
			return x.kind == OnlyServer && x.server.Code == 66 && x.uses("$unset")
		},
	},
	{
		"$unset below an array fails for a name that is no index",
		"MongoDB does nothing when the field doesn't exist ($unset).",
		func(x difference) bool {
			return x.kind == OnlyServer && x.uses("$unset") && strings.HasPrefix(x.server.Text, "Invalid array index path")
		},
	},
	{
		"$inc by a decimal overwrites what is no number",
		"MongoDB fails when the field isn't numeric ($inc).",
		func(x difference) bool {
			return x.kind == OnlyEngine && x.engine.Code == 14 && x.uses("$inc", "$mul") && x.holds(isDecimal)
		},
	},
	{
		"$rename from below an empty array does nothing",
		"MongoDB doesn't rename what is in an array, and says so ($rename, \"Behavior\").",
		func(x difference) bool {
			return x.kind == OnlyEngine && x.uses("$rename") && (strings.HasPrefix(x.engine.Text, "The source field cannot be") ||
				strings.HasPrefix(x.engine.Text, "Cannot use the part"))
		},
	},
	{
		"an upsert takes nothing from $all of several values",
		"MongoDB refuses a field that equality conditions give twice (update, \"Upsert with Operator Expressions\").",
		func(x difference) bool {
			return x.engine.Code == 54 && x.uses("$all")
		},
	},
	{
		"decimals keep the digits that a double doesn't have",
		"MongoDB turns a double into a decimal of 15 digits before it computes with both ($mul, $inc, $add).",
		func(x difference) bool { return x.sameAfter(plainDecimals) },
	},
}

// holds reports whether a value of the command or of its documents is of a kind.
func (c Case) holds(is func(any) bool) bool {
	found := false
	for _, v := range []any{c.Command, c.Docs, c.Other} {
		values(v, func(v any) { found = found || is(v) })
	}
	return found
}

func isDecimal(v any) bool { _, ok := v.(bson.Decimal128); return ok }

func isExtreme(v any) bool {
	switch v.(type) {
	case bson.MinKey, bson.MaxKey:
		return true
	}
	return false
}

func isEmptyArray(v any) bool {
	list, ok := v.(bson.A)
	return ok && len(list) == 0
}

// updates reports whether the command is an update or a findAndModify.
func (c Case) updates() bool {
	return c.verb() == "update" || c.verb() == "findAndModify" && c.get("update") != nil
}

// statement is a field of the only statement of an update.
func (c Case) statement(key string) any {
	statements, _ := c.get("updates").(bson.A)
	if len(statements) == 0 {
		return nil
	}
	return lookup(statements[0], key)
}

// change is what an update or findAndModify does: operators, a replacement or a pipeline.
func (c Case) change() any {
	if c.verb() == "findAndModify" {
		return c.get("update")
	}
	return c.statement("u")
}

// operators reports whether the update has operators.
func (c Case) operators() bool {
	u, _ := c.change().(bson.D)
	return len(u) > 0 && strings.HasPrefix(u[0].Key, "$")
}

func sortFields(v any) any {
	if doc, ok := v.(bson.D); ok {
		slices.SortStableFunc(doc, func(x, y bson.E) int { return cmp.Compare(x.Key, y.Key) })
	}
	return v
}

func dropEmptyArrays(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	return slices.DeleteFunc(doc, func(e bson.E) bool {
		a, ok := e.Value.(bson.A)
		return ok && len(a) == 0 || e.Key == "nModified"
	})
}

func dropEmptyDocs(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	return slices.DeleteFunc(doc, func(e bson.E) bool {
		inner, ok := e.Value.(bson.D)
		return ok && len(inner) == 0
	})
}

// repeatedIn reports whether an $in holds one value several times, and no other.
func repeatedIn(command bson.D) bool {
	found := false
	walk(command, func(key string, v any) {
		list, _ := v.(bson.A)
		if key != "$in" || len(list) < 2 {
			return
		}
		same := true
		for _, x := range list {
			same = same && string(encode(x)) == string(encode(list[0]))
		}
		found = found || same
	})
	return found
}

func dropElemMatch(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	doc = slices.DeleteFunc(doc, func(e bson.E) bool { return e.Key == "$elemMatch" })
	return dropEmptyDocs(doc)
}

// without is a document without one of its fields.
func without(doc bson.D, key string) bson.D {
	return slices.DeleteFunc(slices.Clone(doc), func(e bson.E) bool { return e.Key == key })
}

// plainDecimals writes decimals without their trailing zeros.
func plainDecimals(v any) any {
	decimal, ok := v.(bson.Decimal128)
	if !ok {
		return v
	}
	n, exp, err := decimal.BigInt()
	if err != nil {
		return v
	}
	return stripped(n, exp)
}
