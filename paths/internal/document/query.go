package document

// Queries of one owner's list. A query first makes a list of entries from the nodes, of
// both forms alike:
//
//	{n: <the node>, i: <its id>, p: <its parent's id, or null>, k: <its key among its siblings>}
//
// Elements that aren't nodes are left out. Then it chooses entries, and returns their nodes
// in the order of the keys. In the nested form, a node is returned without its list of
// children. All keys have the same form, so that joined keys sort in preorder.

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// firstPosition gives all positions the same number of digits, so that they sort as text.
// A document has room for fewer elements.
const firstPosition = 10_000_000

// maxNested is the greatest number of levels of a nested list that MongoDB can store.
const maxNested = 50

// queryEntries is a query of one owner. Its stages see the entries in the field all.
func (t *Tree) queryEntries(owner bson.RawValue, stages ...bson.D) model.Aggregation {
	a := model.Aggregation{Collection: t.Owners, Index: model.IDIndex}
	a.Pipeline = mongo.Pipeline{
		mql.Op("$match", bson.D{{Key: "_id", Value: mql.Eq(owner)}}),
		mql.Op("$project", bson.D{{Key: "_id", Value: 0}, {Key: "all", Value: t.makeAllEntries()}}),
	}
	a.Pipeline = append(a.Pipeline, stages...)
	return a
}

// RefuseQuery is a query that gives an error of its arguments, and sends nothing.
func (t *Tree) RefuseQuery(err error) model.Aggregation {
	return model.Aggregation{Collection: t.Owners, Index: model.IDIndex, Err: err}
}

// returnNodes returns the stages that return the nodes of chosen entries: sorted by their
// keys, or as they come.
func (t *Tree) returnNodes(chosen any, sorted bool) []bson.D {
	out := []bson.D{
		mql.Op("$project", bson.D{{Key: "e", Value: chosen}}),
		mql.Op("$unwind", "$e"),
	}
	if sorted {
		out = append(out, mql.Op("$sort", bson.D{{Key: "e.k", Value: 1}}))
	}
	if t.spec.Nested != "" {
		out = append(out, mql.Op("$unset", "e.n."+t.spec.Nested))
	}
	return append(out, mql.Op("$replaceRoot", bson.D{{Key: "newRoot", Value: "$e.n"}}))
}

// listNoIDs returns the stored values that mean that a node has no parent: see isNoID.
func listNoIDs() bson.D {
	return mql.Literal(bson.A{nil, "", bson.ObjectID{}, bson.D{}})
}

// testNoID is the expression of isNoID.
func testNoID(v any) bson.D { return mql.Op("$in", mql.Op("$ifNull", v, nil), listNoIDs()) }

// readArray is the expression of a list, which is empty if the field isn't an array.
func readArray(path string) bson.D {
	return mql.Cond(mql.Op("$isArray", path), path, bson.A{})
}

// makeEntries is the expression of the entries of a list. In the nested form, its nodes
// have the given parent.
func (t *Tree) makeEntries(list, parent any) bson.D {
	// The key begins with the order key, if there is one. The position decides between
	// equal keys.
	position := mql.Op("$toString", mql.Op("$add", "$$at", firstPosition))
	key := any(position)
	// A space sorts before all characters of keys, so that a key sorts before its
	// extensions.
	if t.spec.Order != "" {
		order := "$$n." + t.spec.Order
		text := mql.Cond(mql.Op("$eq", mql.Op("$type", order), "string"), order, "")
		key = mql.Op("$concat", text, " ", position, " ")
	}
	if t.spec.Nested == "" {
		parent = mql.Cond(testNoID("$$n."+t.spec.Parent), nil, "$$n."+t.spec.Parent)
	}
	entry := bson.D{
		{Key: "n", Value: "$$n"}, {Key: "i", Value: "$$n." + t.spec.ID}, {Key: "p", Value: parent},
		{Key: "k", Value: key},
	}
	// An entry for each position; elements that aren't nodes are filtered out after it,
	// so that the positions are those of the list.
	made := mapEach(mql.Op("$range", 0, mql.Op("$size", "$$list")), "at",
		let(bson.D{{Key: "n", Value: mql.Op("$arrayElemAt", "$$list", "$$at")}}, entry))
	isNode := mql.Op(
		"$and", mql.Op("$eq", mql.Op("$type", "$$e.n"), "object"), mql.Op("$not", bson.A{testNoID("$$e.i")}),
	)
	return let(bson.D{{Key: "list", Value: list}}, filterBy(made, "e", isNode))
}

// makeAllEntries is the expression of the entries of an owner's list. A nested list is
// read level by level, because expressions can't recurse.
func (t *Tree) makeAllEntries() bson.D {
	top := t.makeEntries(readArray("$"+t.Path), nil)
	if t.spec.Nested == "" {
		return top
	}
	below := reduceOver("$$value.level", bson.A{}, mql.Op("$concatArrays", "$$value",
		let(bson.D{{Key: "up", Value: "$$this"}}, t.makeEntries(readArray("$$up.n."+t.spec.Nested), "$$up.i"))))
	step := bson.D{
		{Key: "level", Value: below}, {Key: "all", Value: mql.Op("$concatArrays", "$$value.all", "$$value.level")},
	}
	// Each step reads one level: the entries in the lists of the nodes of the level
	// before.
	levels := reduceOver(
		mql.Op("$range", 0, maxNested), bson.D{{Key: "level", Value: top}, {Key: "all", Value: bson.A{}}},
		skipIfEmpty("$$value.level", step),
	)
	return let(bson.D{{Key: "read", Value: levels}}, "$$read.all")
}

// skipIfEmpty makes a step of a reduction do nothing once a list is empty. $reduce can't
// stop.
func skipIfEmpty(list string, step bson.D) bson.D {
	return mql.Cond(mql.Op("$eq", list, bson.A{}), "$$value", step)
}

// let, mapEach, filterBy and reduceOver are the operators $let, $map, $filter and
// $reduce.
func let(vars bson.D, in any) bson.D {
	return mql.Op("$let", bson.D{{Key: "vars", Value: vars}, {Key: "in", Value: in}})
}

func mapEach(input any, as string, in any) bson.D {
	return mql.Op("$map", bson.D{{Key: "input", Value: input}, {Key: "as", Value: as}, {Key: "in", Value: in}})
}

func filterBy(input any, as string, cond any) bson.D {
	return mql.Op("$filter", bson.D{{Key: "input", Value: input}, {Key: "as", Value: as}, {Key: "cond", Value: cond}})
}

func reduceOver(input, initial, in any) bson.D {
	return mql.Op(
		"$reduce", bson.D{{Key: "input", Value: input}, {Key: "initialValue", Value: initial}, {Key: "in", Value: in}},
	)
}
