package migrate

// The comparison of embedded elements with documents, on the server.

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// compareForms compares owner by owner. For extract the elements are the old form, for
// absorb the documents are: that decides what is missing and what is extra.
func (e embedding) compareForms(extract bool) mongo.Pipeline {
	// lacking: an element without a document. beyond: a document without an element.
	lacking, beyond := mismatchExtra, mismatchMissing
	if extract {
		lacking, beyond = mismatchMissing, mismatchExtra
	}
	lists := []foundList{
		{beyond, keepOthers("$ids", "$keys")},
		{mismatchDiffering, e.listDiffering()},
		{mismatchOrder, compareOrder(keepAmong("$ids", "$keys"), keepAmong("$keys", "$ids"))},
	}
	elementsAlone := any(keepOthers("$keys", "$ids"))
	// Elements without ids are compared by their index.
	if e.Key == "" {
		elementsAlone = mql.Op(
			"$range", mql.Op("$size", "$ids"),
			mql.Op("$max", bson.A{mql.Op("$size", "$elems"), mql.Op("$size", "$ids")}),
		)
	}
	// Once a drop has begun, a missing document has been dropped.
	if !extract && e.refs == "" {
		elementsAlone = mql.Cond(mql.Op("$eq", "$dropping", bson.A{}), elementsAlone, bson.A{})
	}
	lists = append(lists, foundList{lacking, elementsAlone}, foundList{mismatchDuplicate, listRepeated("$keys")})
	if e.refs != "" {
		lists = append(lists, foundList{mismatchDangling, keepOthers("$ids", "$docs._id")})
	}
	stages := append(e.joinForms(extract), makeRows(e.owners, lists...)...)
	switch {
	// Copies name their owner in the mark, other documents in the parent's field.
	case e.mark != "":
		stages = append(stages, unionDangling(e.docs, e.mark+".of", e.owners, beyond))
	case e.parent != "":
		stages = append(stages, unionDangling(e.docs, e.parent, e.owners, beyond))
	}
	return stages
}

// joinForms returns the stages that put both forms of an owner side by side: elems with
// keys, and ids with docs.
func (e embedding) joinForms(extract bool) mongo.Pipeline {
	row := bson.D{{Key: "elems", Value: readListAt(e.path)}, {Key: "has", Value: testStored(e.path)}}
	lookup := lookupDocs(e.docs, "_id", e.parent, "docs", e.sortDocs())
	ids := any("$docs._id")
	if e.refs != "" {
		row = append(row, bson.E{Key: "refs", Value: readListAt(e.refs)})
		if !extract {
			row[1].Value = testStored(e.refs)
		}
		lookup, ids = lookupDocs(e.docs, "refs", "_id", "docs", nil), "$refs"
	}
	keys := mql.Map("$elems", "e", mql.IfNull("$$e."+e.Key, nil))
	if e.Key == "" {
		keys = mql.Op("$slice", "$ids", mql.Op("$max", bson.A{1, mql.Op("$size", "$elems")}))
		keys = mql.Cond(mql.Op("$eq", "$elems", bson.A{}), bson.A{}, keys)
	}
	stages := mongo.Pipeline{{{Key: "$project", Value: row}}, lookup, e.state.lookupState()}
	if extract || e.refs != "" {
		stages = append(stages, hasOldForm)
	}
	stages = append(stages, stmt.SetField("ids", ids), stmt.SetField("keys", keys))
	if extract && e.refs == "" && e.order == "" { // no order is kept
		stages = append(
			stages,
			stmt.SetField("ids", mql.Op("$concatArrays", keepAmong("$keys", "$ids"), keepOthers("$ids", "$keys"))),
		)
	}
	return stages
}

// readListAt is the expression of a list at a path: an array, a single value, or nothing.
func readListAt(path string) bson.D {
	return mql.Cond(mql.Op("$isArray", "$"+path), "$"+path,
		mql.Cond(mql.Op("$in", mql.IfNull("$"+path, nil), listNoIDs()), bson.A{}, bson.A{"$" + path}))
}

// listDiffering is the expression of the ids of the elements whose document has other
// fields. The order of fields doesn't count.
func (e embedding) listDiffering() bson.D {
	element := mql.Op("$arrayElemAt", "$elems", "$$i")
	id := mql.Op("$arrayElemAt", "$keys", "$$i")
	doc := mql.Op("$arrayElemAt", "$docs", mql.Op("$indexOfArray", "$docs._id", id))
	aside := bson.A{"_id"}
	for _, f := range []string{e.parent, e.order, e.mark} {
		if f != "" {
			aside = append(aside, f)
		}
	}
	same := mql.Op("$setEquals", excludeFields(element, bson.A{e.Key}), excludeFields(doc, aside))
	known := mql.Op("$in", id, "$docs._id")
	places := stmt.FilterList(
		mql.Op("$range", 0, mql.Op("$size", "$keys")), "i", mql.Op("$and", known, stmt.Negate(same)),
	)
	return mql.Map(places, "i", id)
}

// excludeFields is the expression of a document's fields without some, as {k, v}. Another
// value stays as it is, in a list.
func excludeFields(doc any, names bson.A) bson.D {
	return mql.Cond(mql.Op("$eq", mql.Op("$type", doc), "object"),
		stmt.FilterList(mql.Op("$objectToArray", doc), "f", stmt.Negate(mql.Op("$in", "$$f.k", mql.Literal(names)))),
		bson.A{doc})
}
