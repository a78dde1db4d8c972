package document

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Queries of one owner's list. A query first makes a list of entries from the nodes, of both forms alike:
//
//	{n: <the node>, i: <its id>, p: <its parent's id, or null>, k: <its key among its siblings>}
//
// Elements that aren't nodes are left out. The query then chooses entries, and returns their nodes in the order of the keys. In the
// nested form a node is returned without its list of children. All keys have the same form, so that joined keys sort in preorder.

// firstPosition makes the decimal digits of all positions equally many: a document has room for fewer elements.
const firstPosition = 10_000_000

// maxNested is the number of levels of a nested list that MongoDB can store.
const maxNested = 50

// query is a pipeline that begins with the entries of an owner, in the field all.
func (t *Tree) query(owner bson.RawValue, err error, stages ...bson.D) model.Aggregation {
	a := model.Aggregation{Collection: t.Owners, Index: model.IDIndex, Err: err}
	if err != nil {
		return a
	}
	a.Pipeline = mongo.Pipeline{
		mql.Op("$match", bson.D{{Key: "_id", Value: model.Eq(owner)}}),
		mql.Op("$project", bson.D{{Key: "_id", Value: 0}, {Key: "all", Value: t.entries()}}),
	}
	a.Pipeline = append(a.Pipeline, stages...)
	return a
}

// nodes are the stages that return the chosen entries' nodes, in the order of their keys, or as they are listed.
func (t *Tree) nodes(chosen any, sorted bool) []bson.D {
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

// noIDs are the stored values that mean that a node has no parent, or no id.
func noIDs() bson.D {
	return mql.Literal(bson.A{nil, "", bson.ObjectID{}, bson.D{}})
}

// isNoID is the expression of whether a value is one of noIDs.
func isNoID(v any) bson.D { return mql.Op("$in", mql.Op("$ifNull", v, nil), noIDs()) }

// listed is the expression of a list, which is empty if the field isn't an array.
func listed(path string) bson.D {
	return mql.Cond(mql.Op("$isArray", path), path, bson.A{})
}

// entriesOf is the expression of the entries of a list, whose nodes have the parent.
func (t *Tree) entriesOf(list, parent any) bson.D {
	position := mql.Op("$toString", mql.Op("$add", "$$at", firstPosition))
	key := any(position)
	if t.spec.Order != "" { // a space sorts before all characters of keys
		order := "$$n." + t.spec.Order
		text := mql.Cond(mql.Op("$eq", mql.Op("$type", order), "string"), order, "")
		key = mql.Op("$concat", text, " ", position, " ")
	}
	if t.spec.Nested == "" {
		parent = mql.Cond(isNoID("$$n."+t.spec.Parent), nil, "$$n."+t.spec.Parent)
	}
	entry := bson.D{{Key: "n", Value: "$$n"}, {Key: "i", Value: "$$n." + t.spec.ID}, {Key: "p", Value: parent}, {Key: "k", Value: key}}
	made := mapped(mql.Op("$range", 0, mql.Op("$size", "$$list")), "at",
		let(bson.D{{Key: "n", Value: mql.Op("$arrayElemAt", "$$list", "$$at")}}, entry))
	isNode := mql.Op("$and", mql.Op("$eq", mql.Op("$type", "$$e.n"), "object"), mql.Op("$not", bson.A{isNoID("$$e.i")}))
	return let(bson.D{{Key: "list", Value: list}}, filtered(made, "e", isNode))
}

// entries is the expression of the entries of an owner's list.
func (t *Tree) entries() bson.D {
	top := t.entriesOf(listed("$"+t.Path), nil)
	if t.spec.Nested == "" {
		return top
	}
	below := reduced("$$value.level", bson.A{}, mql.Op("$concatArrays", "$$value",
		let(bson.D{{Key: "up", Value: "$$this"}}, t.entriesOf(listed("$$up.n."+t.spec.Nested), "$$up.i"))))
	step := bson.D{{Key: "level", Value: below}, {Key: "all", Value: mql.Op("$concatArrays", "$$value.all", "$$value.level")}}
	levels := reduced(mql.Op("$range", 0, maxNested), bson.D{{Key: "level", Value: top}, {Key: "all", Value: bson.A{}}}, unlessEmpty("$$value.level", step))
	return let(bson.D{{Key: "read", Value: levels}}, "$$read.all")
}

// unlessEmpty is a step of a reduction that does nothing once a list is empty.
func unlessEmpty(list string, step bson.D) bson.D {
	return mql.Cond(mql.Op("$eq", list, bson.A{}), "$$value", step)
}

func let(vars bson.D, in any) bson.D {
	return mql.Op("$let", bson.D{{Key: "vars", Value: vars}, {Key: "in", Value: in}})
}

func mapped(input any, as string, in any) bson.D {
	return mql.Op("$map", bson.D{{Key: "input", Value: input}, {Key: "as", Value: as}, {Key: "in", Value: in}})
}

func filtered(input any, as string, cond any) bson.D {
	return mql.Op("$filter", bson.D{{Key: "input", Value: input}, {Key: "as", Value: as}, {Key: "cond", Value: cond}})
}

func reduced(input, initial, in any) bson.D {
	return mql.Op("$reduce", bson.D{{Key: "input", Value: input}, {Key: "initialValue", Value: initial}, {Key: "in", Value: in}})
}
