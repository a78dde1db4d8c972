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
		"decimals keep the digits that a double doesn't have",
		"MongoDB turns a double into a decimal of 15 digits before it computes with both ($mul, $inc, $add).",
		func(x difference) bool { return x.sameAfter(plainDecimals) },
	},
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
