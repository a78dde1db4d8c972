package migrate

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// verify compares owner by owner. In extract the elements are the old form, in absorb the documents.
func (e Embedding) verify(extract bool) mongo.Pipeline {
	lacking, beyond := mismatchExtra, mismatchMissing
	if extract {
		lacking, beyond = mismatchMissing, mismatchExtra
	}
	lists := []foundList{
		{beyond, notAmong("$ids", "$keys")},
		{mismatchDiffering, e.differing()},
		{mismatchOrder, orderOf(among("$ids", "$keys"), among("$keys", "$ids"))},
	}
	elementsAlone := any(notAmong("$keys", "$ids"))
	if e.Key == "" { // elements without ids are compared by their place
		elementsAlone = mql.Op("$range", mql.Op("$size", "$ids"), mql.Op("$max", bson.A{mql.Op("$size", "$elems"), mql.Op("$size", "$ids")}))
	}
	if !extract && e.refs == "" { // a document that is gone has been dropped
		elementsAlone = mql.Cond(mql.Op("$eq", "$dropping", bson.A{}), elementsAlone, bson.A{})
	}
	lists = append(lists, foundList{lacking, elementsAlone}, foundList{mismatchDuplicate, repeated("$keys")})
	if e.refs != "" {
		lists = append(lists, foundList{mismatchDangling, notAmong("$ids", "$docs._id")})
	}
	stages := append(e.compared(extract), rows(e.owners, lists...)...)
	switch {
	case e.mark != "":
		stages = append(stages, danglingRefs(e.docs, e.mark+".of", e.owners, beyond))
	case e.parent != "":
		stages = append(stages, danglingRefs(e.docs, e.parent, e.owners, beyond))
	}
	return stages
}

// compared are the stages that put both forms of an owner side by side: elems with their keys, ids, and docs.
func (e Embedding) compared(extract bool) mongo.Pipeline {
	row := bson.D{{Key: "elems", Value: listAt(e.path)}, {Key: "has", Value: has(e.path)}}
	lookup := lookupDocs(e.docs, "_id", e.parent, "docs", e.docsOrder())
	ids := any("$docs._id")
	if e.refs != "" {
		row = append(row, bson.E{Key: "refs", Value: listAt(e.refs)})
		if !extract {
			row[1].Value = has(e.refs)
		}
		lookup, ids = lookupDocs(e.docs, "refs", "_id", "docs", nil), "$refs"
	}
	keys := mql.Map("$elems", "e", mql.IfNull("$$e."+e.Key, nil))
	if e.Key == "" {
		keys = mql.Op("$slice", "$ids", mql.Op("$max", bson.A{1, mql.Op("$size", "$elems")}))
		keys = mql.Cond(mql.Op("$eq", "$elems", bson.A{}), bson.A{}, keys)
	}
	stages := mongo.Pipeline{{{Key: "$project", Value: row}}, lookup, e.state.lookup()}
	if extract || e.refs != "" {
		stages = append(stages, hasOldForm)
	}
	stages = append(stages, stmt.Set("ids", ids), stmt.Set("keys", keys))
	if extract && e.refs == "" && e.order == "" { // no order is kept
		stages = append(stages, stmt.Set("ids", mql.Op("$concatArrays", among("$keys", "$ids"), notAmong("$ids", "$keys"))))
	}
	return stages
}

// listAt is the list at a path: an array, a single value as one, or nothing.
func listAt(path string) bson.D {
	return mql.Cond(mql.Op("$isArray", "$"+path), "$"+path,
		mql.Cond(mql.Op("$in", mql.IfNull("$"+path, nil), noID()), bson.A{}, bson.A{"$" + path}))
}

// differing are the ids of the elements whose document holds something else.
func (e Embedding) differing() bson.D {
	element := mql.Op("$arrayElemAt", "$elems", "$$i")
	id := mql.Op("$arrayElemAt", "$keys", "$$i")
	doc := mql.Op("$arrayElemAt", "$docs", mql.Op("$indexOfArray", "$docs._id", id))
	aside := bson.A{"_id"}
	for _, f := range []string{e.parent, e.order, e.mark} {
		if f != "" {
			aside = append(aside, f)
		}
	}
	same := mql.Op("$setEquals", fieldsLess(element, bson.A{e.Key}), fieldsLess(doc, aside))
	known := mql.Op("$in", id, "$docs._id")
	places := stmt.Filtered(mql.Op("$range", 0, mql.Op("$size", "$keys")), "i", mql.Op("$and", known, stmt.Not(same)))
	return mql.Map(places, "i", id)
}

// fieldsLess are the fields of a document less some, as {k, v}; of anything else, the value itself.
func fieldsLess(doc any, names bson.A) bson.D {
	return mql.Cond(mql.Op("$eq", mql.Op("$type", doc), "object"),
		stmt.Filtered(mql.Op("$objectToArray", doc), "f", stmt.Not(mql.Op("$in", "$$f.k", mql.Literal(names)))),
		bson.A{doc})
}
