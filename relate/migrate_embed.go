package relate

import (
	"bytes"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// embedding is what Extract and Absorb have in common: owners that embed elements at a path, or refer to the documents of
// another collection that hold the same.
type embedding struct {
	owners, docs string
	path         string // of the elements, in the owners
	single       bool   // one subdocument, not an array
	key          string // the field of an element that is the document's _id; "" for none
	refs         string // in the owners: the ids of the documents; "" when the documents hold the owner
	parent       string // in the documents: the owner's _id
	order        string // in the documents: their place; "" for none
	mark         string // in the documents: that they are copies; "" for none
	size         int
	state        migrationState
}

func (e embedding) elements(owner bson.Raw) []bson.RawValue {
	return listed(valueAt(owner, e.path))
}

// ids are the references that an owner holds.
func (e embedding) ids(owner bson.Raw) []bson.RawValue {
	if e.refs == "" {
		return nil
	}
	return listed(valueAt(owner, e.refs))
}

// listed are the elements of an array, a single value as one, and none for nothing or null.
func listed(v bson.RawValue) []bson.RawValue {
	if v.Type == bson.TypeArray {
		return valuesOf(v)
	}
	if !isID(v) {
		return nil
	}
	return []bson.RawValue{v}
}

// stored is a list as it is stored: an array, or for a single one the value; of type 0 for no single one.
func (e embedding) stored(list []bson.RawValue) bson.RawValue {
	switch {
	case !e.single:
		return arrayOf(list)
	case len(list) > 0:
		return list[0]
	}
	return bson.RawValue{}
}

// setOrUnset is the update that stores a value, or nothing.
func setOrUnset(path string, v bson.RawValue) bson.D {
	if v.Type == 0 {
		return unsetOf(path)
	}
	return set(path, v)
}

// body are the fields of a document other than those that the migration keeps there.
func (e embedding) body(doc bson.Raw) map[string]bson.RawValue {
	out := map[string]bson.RawValue{}
	elems, _ := doc.Elements()
	for _, f := range elems {
		switch f.Key() {
		case "_id", e.parent, e.order, e.mark:
		default:
			out[f.Key()] = f.Value()
		}
	}
	return out
}

// elementBody is body of an element.
func (e embedding) elementBody(v bson.RawValue) map[string]bson.RawValue {
	out := map[string]bson.RawValue{}
	doc, _ := v.DocumentOK()
	elems, _ := doc.Elements()
	for _, f := range elems {
		if f.Key() != e.key {
			out[f.Key()] = f.Value()
		}
	}
	return out
}

func sameBody(a, b map[string]bson.RawValue) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		w, ok := b[k]
		if !ok || v.Type != w.Type || !bytes.Equal(v.Value, w.Value) {
			return false
		}
	}
	return true
}

// keyOf is the id of an element, of type 0 when it has none.
func (e embedding) keyOf(element bson.RawValue) bson.RawValue {
	doc, ok := element.DocumentOK()
	if !ok || e.key == "" {
		return bson.RawValue{}
	}
	v, err := doc.LookupErr(e.key)
	if err != nil {
		return bson.RawValue{}
	}
	return v
}

// docsOrder is the order of an owner's documents, total.
func (e embedding) docsOrder() bson.D {
	if e.order == "" {
		return bson.D{{Key: "_id", Value: 1}}
	}
	return bson.D{{Key: e.order, Value: 1}, {Key: "_id", Value: 1}}
}

// docsOf reads the documents that belong to owners, whole and in order, by the key of the owner, for the parent form.
func (e embedding) docsOf(b *batchReader, owners []bson.Raw) (map[string][]bson.Raw, error) {
	docs, err := b.read(e.docs, e.parent, idsOf(owners, "_id"), nil, e.docsOrder())
	out := map[string][]bson.Raw{}
	for _, d := range docs {
		k := bsonval.Key(valueAt(d, e.parent))
		out[k] = append(out[k], d)
	}
	return out, err
}

// holdsAt is the condition that something is stored at a path of the owners.
func (e embedding) holdsAt(path string) bson.D {
	if e.single {
		return holdsID(path)
	}
	return exists(path+".0", true)
}

func (e embedding) indexes() []model.Index {
	if e.parent == "" {
		x := model.NewIndex(e.owners, bson.D{{Key: e.refs, Value: 1}})
		x.Why = "the documents of " + e.owners + " that refer to a document of " + e.docs
		return []model.Index{x}
	}
	x := model.NewIndex(e.docs, append(bson.D{{Key: e.parent, Value: 1}}, e.docsOrder()...))
	x.Why = "the " + e.docs + " of a document of " + e.owners + ", in order"
	return []model.Index{x}
}

func (e embedding) relations() []model.Relation {
	many := model.Many
	if e.single {
		many = model.ZeroOrOne
	}
	if e.refs != "" {
		return []model.Relation{{
			From: e.owners, FromPath: e.refs, To: e.docs, ToPath: "_id", FromEnd: model.ZeroOrOne, ToEnd: many, Label: "child references",
		}}
	}
	return []model.Relation{{
		From: e.docs, FromPath: e.parent, To: e.owners, ToPath: "_id", FromEnd: many, ToEnd: model.ZeroOrOne, Label: "parent reference",
	}}
}

// verify compares owner by owner. In extract the elements are the old form, in absorb the documents.
func (e embedding) verify(extract bool) model.Aggregate[Mismatch] {
	lacking, beyond := MismatchExtra, MismatchMissing
	if extract {
		lacking, beyond = MismatchMissing, MismatchExtra
	}
	lists := []foundList{
		{beyond, notAmong("$ids", "$keys")},
		{MismatchDiffering, e.differing()},
		{MismatchOrder, orderOf(among("$ids", "$keys"), among("$keys", "$ids"))},
	}
	elementsAlone := any(notAmong("$keys", "$ids"))
	if e.key == "" { // elements without ids are compared by their place
		elementsAlone = mql.Op("$range", mql.Op("$size", "$ids"), mql.Op("$max", bson.A{mql.Op("$size", "$elems"), mql.Op("$size", "$ids")}))
	}
	if !extract && e.refs == "" { // a document that is gone has been dropped
		elementsAlone = mql.Cond(mql.Op("$eq", "$dropping", bson.A{}), elementsAlone, bson.A{})
	}
	lists = append(lists, foundList{lacking, elementsAlone}, foundList{MismatchDuplicate, repeated("$keys")})
	if e.refs != "" {
		lists = append(lists, foundList{MismatchDangling, notAmong("$ids", "$docs._id")})
	}
	stages := append(e.compared(extract), rows(e.owners, lists...)...)
	switch {
	case e.mark != "":
		stages = append(stages, danglingRefs(e.docs, e.mark+".of", e.owners, beyond))
	case e.parent != "":
		stages = append(stages, danglingRefs(e.docs, e.parent, e.owners, beyond))
	}
	return model.AggregateAs[Mismatch](model.NewCollection[bson.D, any](e.owners), stages)
}

// compared are the stages that put both forms of an owner side by side: elems with their keys, ids, and docs.
func (e embedding) compared(extract bool) mongo.Pipeline {
	row := bson.D{{Key: "elems", Value: listAt(e.path)}, {Key: "has", Value: mql.Op("$ne", mql.Op("$type", "$"+e.path), "missing")}}
	lookup := lookupDocs(e.docs, "_id", e.parent, "docs", e.docsOrder())
	ids := any("$docs._id")
	if e.refs != "" {
		row = append(row, bson.E{Key: "refs", Value: listAt(e.refs)})
		if !extract {
			row[1].Value = mql.Op("$ne", mql.Op("$type", "$"+e.refs), "missing")
		}
		lookup, ids = lookupDocs(e.docs, "refs", "_id", "docs", nil), "$refs"
	}
	keys := mql.Map("$elems", "e", mql.Op("$ifNull", "$$e."+e.key, nil))
	if e.key == "" {
		keys = mql.Op("$slice", "$ids", mql.Op("$max", bson.A{1, mql.Op("$size", "$elems")}))
		keys = mql.Cond(mql.Op("$eq", "$elems", bson.A{}), bson.A{}, keys)
	}
	stages := mongo.Pipeline{{{Key: "$project", Value: row}}, lookup, e.state.lookup()}
	if extract || e.refs != "" {
		stages = append(stages, bson.D{{Key: "$match", Value: bson.D{{Key: "$or", Value: bson.A{
			bson.D{{Key: "has", Value: true}}, bson.D{{Key: "dropping", Value: bson.D{{Key: "$size", Value: 0}}}},
		}}}}})
	}
	stages = append(stages, bson.D{{Key: "$set", Value: bson.D{{Key: "ids", Value: ids}}}})
	stages = append(stages, bson.D{{Key: "$set", Value: bson.D{{Key: "keys", Value: keys}}}})
	if extract && e.refs == "" && e.order == "" { // no order is kept
		stages = append(stages, bson.D{{Key: "$set", Value: bson.D{{Key: "ids", Value: mql.Op("$concatArrays", among("$keys", "$ids"), notAmong("$ids", "$keys"))}}}})
	}
	return stages
}

// listAt is the list at a path: an array, a single value as one, or nothing.
func listAt(path string) bson.D {
	return mql.Cond(mql.Op("$isArray", "$"+path), "$"+path,
		mql.Cond(mql.Op("$in", mql.Op("$ifNull", "$"+path, nil), noID()), bson.A{}, bson.A{"$" + path}))
}

// differing are the ids of the elements whose document holds something else.
func (e embedding) differing() bson.D {
	element := mql.Op("$arrayElemAt", "$elems", "$$i")
	id := mql.Op("$arrayElemAt", "$keys", "$$i")
	doc := mql.Op("$arrayElemAt", "$docs", mql.Op("$indexOfArray", "$docs._id", id))
	aside := bson.A{"_id"}
	for _, f := range []string{e.parent, e.order, e.mark} {
		if f != "" {
			aside = append(aside, f)
		}
	}
	same := mql.Op("$setEquals", fieldsLess(element, bson.A{e.key}), fieldsLess(doc, aside))
	known := mql.Op("$in", id, "$docs._id")
	places := filterThe(mql.Op("$range", 0, mql.Op("$size", "$keys")), "i", mql.Op("$and", known, mql.Op("$not", bson.A{same})))
	return mql.Map(places, "i", id)
}

// fieldsLess are the fields of a document less some, as {k, v}; of anything else, the value itself.
func fieldsLess(doc any, names bson.A) bson.D {
	return mql.Cond(mql.Op("$eq", mql.Op("$type", doc), "object"),
		filterThe(mql.Op("$objectToArray", doc), "f", mql.Op("$not", bson.A{mql.Op("$in", "$$f.k", mql.Op("$literal", names))})),
		bson.A{doc})
}
