package document

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Node is the query of one node.
func (t *Tree) Node(owner, id bson.RawValue, err error) model.Aggregation {
	return t.query(owner, err, t.nodes(mql.Op("$slice", entriesWith("$$e.i", mql.Literal(id)), 1), false)...)
}

// Roots is the query of the nodes without a parent, in order.
func (t *Tree) Roots(owner bson.RawValue, err error) model.Aggregation {
	return t.query(owner, err, t.nodes(entriesWith("$$e.p", nil), t.spec.Order != "")...)
}

// Children is the query of a node's children, in order.
func (t *Tree) Children(owner, id bson.RawValue, err error) model.Aggregation {
	return t.query(owner, err, t.nodes(entriesWith("$$e.p", mql.Literal(id)), t.spec.Order != "")...)
}

// Siblings is the query of the other nodes with a node's parent, in order.
func (t *Tree) Siblings(owner, id bson.RawValue, err error) model.Aggregation {
	other := mql.Op("$and", mql.Op("$ne", "$$e.i", mql.Literal(id)), mql.Op("$eq", "$$e.p", "$$own.p"))
	return t.query(owner, err, t.nodes(withOwn(id, filtered("$all", "e", other)), t.spec.Order != "")...)
}

// Parent is the query of a node's parent.
func (t *Tree) Parent(owner, id bson.RawValue, err error) model.Aggregation {
	return t.query(owner, err, t.nodes(mql.Op("$slice", withOwn(id, entriesWith("$$e.i", "$$own.p")), 1), false)...)
}

// Ancestors is the query of the nodes above a node, root first. A cycle ends it.
func (t *Tree) Ancestors(owner, id bson.RawValue, err error) model.Aggregation {
	next := mql.Op("$arrayElemAt", entriesWith("$$e.i", "$$value.at"), 0)
	ends := mql.Op("$or", mql.Op("$eq", mql.Op("$type", "$$next"), "missing"), mql.Op("$in", "$$value.at", "$$value.up.i"))
	step := let(bson.D{{Key: "next", Value: next}}, mql.Cond(ends,
		bson.D{{Key: "at", Value: nil}, {Key: "up", Value: "$$value.up"}},
		bson.D{{Key: "at", Value: "$$next.p"}, {Key: "up", Value: mql.Op("$concatArrays", bson.A{"$$next"}, "$$value.up")}}))
	way := reduced(mql.Op("$range", 0, mql.Op("$size", "$all")),
		bson.D{{Key: "at", Value: mql.IfNull("$$own.p", nil)}, {Key: "up", Value: bson.A{}}},
		mql.Cond(mql.Op("$eq", "$$value.at", nil), "$$value", step))
	return t.query(owner, err, t.nodes(withOwn(id, let(bson.D{{Key: "way", Value: way}}, "$$way.up")), false)...)
}

// Descendants is the query of the nodes below a node down to a depth, 0 for all, in preorder.
func (t *Tree) Descendants(owner, id bson.RawValue, depth int, err error) model.Aggregation {
	if err == nil && depth < 0 {
		err = t.Refuse("depth", depth, "is negative: give 0 for all")
	}
	return t.query(owner, err, t.nodes(below(topEntry(id), depth), true)...)
}

// Leaves is the query of the nodes below a node that have no children, in preorder.
func (t *Tree) Leaves(owner, id bson.RawValue, err error) model.Aggregation {
	return t.query(owner, err, t.nodes(filtered(below(topEntry(id), 0), "e", mql.Op("$not", bson.A{mql.Op("$in", "$$e.i", "$all.p")})), true)...)
}

// entriesWith is the expression of the entries e of which two expressions are equal.
func entriesWith(a, b any) bson.D { return filtered("$all", "e", mql.Op("$eq", a, b)) }

// withOwn is an expression with a node's entry in the variable own, which is missing if there is no such node.
func withOwn(id bson.RawValue, in any) bson.D {
	return let(bson.D{{Key: "own", Value: mql.Op("$arrayElemAt", entriesWith("$$e.i", mql.Literal(id)), 0)}}, in)
}

// topEntry is the expression of a list of a node's entry, with an empty key.
func topEntry(id bson.RawValue) bson.D {
	entry := bson.D{{Key: "i", Value: "$$e.i"}, {Key: "k", Value: ""}}
	return mapped(mql.Op("$slice", entriesWith("$$e.i", mql.Literal(id)), 1), "e", entry)
}

// below is the expression of the entries below some entries, level by level, down to a depth, 0 for all. Each key is joined to that of
// the parent. An entry leaves the pool when it is found, so that a damaged list can't be followed for ever. With a field carried, each
// entry gets its parent's value of that field.
func below(top any, depth int, carried ...string) bson.D {
	levels := mql.Op("$size", "$all")
	if depth > 0 {
		levels = mql.Op("$min", bson.A{depth, levels})
	}
	fromParent := func(name string) bson.D { return mql.Op("$arrayElemAt", "$$value.level."+name, "$$m.at") }
	entry := bson.D{
		{Key: "n", Value: "$$m.e.n"}, {Key: "i", Value: "$$m.e.i"}, {Key: "k", Value: mql.Op("$concat", fromParent("k"), "$$m.e.k")},
	}
	for _, name := range carried {
		entry = append(entry, mql.E(name, fromParent(name)))
	}
	marked := mapped("$$value.pool", "e", bson.D{{Key: "e", Value: "$$e"}, {Key: "at", Value: mql.Op("$indexOfArray", "$$value.level.i", "$$e.p")}})
	found := mapped(filtered("$$marked", "m", mql.Op("$gte", "$$m.at", 0)), "m", entry)
	rest := mapped(filtered("$$marked", "m", mql.Op("$lt", "$$m.at", 0)), "m", "$$m.e")
	step := let(bson.D{{Key: "marked", Value: marked}}, let(bson.D{{Key: "found", Value: found}, {Key: "rest", Value: rest}},
		bson.D{{Key: "pool", Value: "$$rest"}, {Key: "level", Value: "$$found"}, {Key: "out", Value: mql.Op("$concatArrays", "$$value.out", "$$found")}}))
	others := filtered("$all", "e", mql.Op("$not", bson.A{mql.Op("$in", "$$e.i", "$$top.i")}))
	start := bson.D{{Key: "pool", Value: others}, {Key: "level", Value: "$$top"}, {Key: "out", Value: bson.A{}}}
	walk := reduced(mql.Op("$range", 0, levels), start, unlessEmpty("$$value.level", step))
	return let(bson.D{{Key: "top", Value: top}}, let(bson.D{{Key: "walk", Value: walk}}, "$$walk.out"))
}
