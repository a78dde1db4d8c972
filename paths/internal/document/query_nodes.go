package document

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// FindNode is the query of one node.
func (t *Tree) FindNode(owner, id bson.RawValue) model.Aggregation {
	return t.queryEntries(
		owner, t.returnNodes(mql.Op("$slice", filterEntries("$$e.i", mql.Literal(id)), 1), false)...,
	)
}

// FindRoots is the query of the nodes without a parent, in order.
func (t *Tree) FindRoots(owner bson.RawValue) model.Aggregation {
	return t.queryEntries(owner, t.returnNodes(filterEntries("$$e.p", nil), t.spec.Order != "")...)
}

// FindChildren is the query of a node's children, in order.
func (t *Tree) FindChildren(owner, id bson.RawValue) model.Aggregation {
	return t.queryEntries(owner, t.returnNodes(filterEntries("$$e.p", mql.Literal(id)), t.spec.Order != "")...)
}

// FindSiblings is the query of the other nodes with a node's parent, in order.
func (t *Tree) FindSiblings(owner, id bson.RawValue) model.Aggregation {
	// A missing node has no entry: own.p is then missing, which equals no entry's p.
	other := mql.Op("$and", mql.Op("$ne", "$$e.i", mql.Literal(id)), mql.Op("$eq", "$$e.p", "$$own.p"))
	return t.queryEntries(
		owner, t.returnNodes(bindOwnEntry(id, filterBy("$all", "e", other)), t.spec.Order != "")...,
	)
}

// FindParent is the query of a node's parent.
func (t *Tree) FindParent(owner, id bson.RawValue) model.Aggregation {
	return t.queryEntries(
		owner, t.returnNodes(mql.Op("$slice", bindOwnEntry(id, filterEntries("$$e.i", "$$own.p")), 1), false)...,
	)
}

// FindAncestors is the query of the nodes above a node, root first. It follows the
// parents by one reduction over as many steps as there are nodes. A damaged list can have
// a cycle: the reduction stops at a node that it has met.
func (t *Tree) FindAncestors(owner, id bson.RawValue) model.Aggregation {
	next := mql.Op("$arrayElemAt", filterEntries("$$e.i", "$$value.at"), 0)
	ends := mql.Op(
		"$or", mql.Op("$eq", mql.Op("$type", "$$next"), "missing"), mql.Op("$in", "$$value.at", "$$value.up.i"),
	)
	// at is the id of the next node on the way up, null at the end. up has the entries that
	// were met, the topmost first.
	above := mql.Op("$concatArrays", bson.A{"$$next"}, "$$value.up")
	step := let(bson.D{{Key: "next", Value: next}}, mql.Cond(ends,
		bson.D{{Key: "at", Value: nil}, {Key: "up", Value: "$$value.up"}},
		bson.D{{Key: "at", Value: "$$next.p"}, {Key: "up", Value: above}}))
	way := reduceOver(mql.Op("$range", 0, mql.Op("$size", "$all")),
		bson.D{{Key: "at", Value: mql.IfNull("$$own.p", nil)}, {Key: "up", Value: bson.A{}}},
		mql.Cond(mql.Op("$eq", "$$value.at", nil), "$$value", step))
	return t.queryEntries(
		owner, t.returnNodes(bindOwnEntry(id, let(bson.D{{Key: "way", Value: way}}, "$$way.up")), false)...,
	)
}

// FindDescendants is the query of the nodes below a node down to a depth, 0 for all, in
// preorder.
func (t *Tree) FindDescendants(owner, id bson.RawValue, depth int) model.Aggregation {
	if depth < 0 {
		return t.RefuseQuery(t.Refuse("depth", depth, "is negative: give 0 for all"))
	}
	return t.queryEntries(owner, t.returnNodes(collectBelow(makeTopEntry(id), depth), true)...)
}

// FindLeaves is the query of the nodes below a node that have no children, in preorder.
func (t *Tree) FindLeaves(owner, id bson.RawValue) model.Aggregation {
	return t.queryEntries(
		owner,
		t.returnNodes(
			filterBy(collectBelow(makeTopEntry(id), 0), "e", mql.Op("$not", bson.A{mql.Op("$in", "$$e.i", "$all.p")})),
			true,
		)...,
	)
}

// filterEntries is the expression of the entries e for which two expressions are equal.
func filterEntries(a, b any) bson.D { return filterBy("$all", "e", mql.Op("$eq", a, b)) }

// bindOwnEntry is an expression with a node's entry as the variable own. If the node
// doesn't exist, own is missing, and its fields equal no entry's.
func bindOwnEntry(id bson.RawValue, in any) bson.D {
	return let(bson.D{{Key: "own", Value: mql.Op("$arrayElemAt", filterEntries("$$e.i", mql.Literal(id)), 0)}}, in)
}

// makeTopEntry is the expression of a list with a node's entry. Its key is empty, so that
// the keys below it begin with those of its children.
func makeTopEntry(id bson.RawValue) bson.D {
	entry := bson.D{{Key: "i", Value: "$$e.i"}, {Key: "k", Value: ""}}
	return mapEach(mql.Op("$slice", filterEntries("$$e.i", mql.Literal(id)), 1), "e", entry)
}

// collectBelow is the expression of the entries below the entries top, level by level,
// down to a depth; 0 means all. The key of each entry is appended to its parent's key, so
// that keys sort in preorder. An entry leaves the pool when it is found, so that a cycle
// in a damaged list ends. With carried fields, each entry gets its parent's value of
// them.
func collectBelow(top any, depth int, carried ...string) bson.D {
	levels := mql.Op("$size", "$all")
	if depth > 0 {
		levels = mql.Op("$min", bson.A{depth, levels})
	}
	fromParent := func(name string) bson.D { return mql.Op("$arrayElemAt", "$$value.level."+name, "$$m.at") }
	entry := bson.D{
		{Key: "n", Value: "$$m.e.n"}, {Key: "i", Value: "$$m.e.i"},
		{Key: "k", Value: mql.Op("$concat", fromParent("k"), "$$m.e.k")},
	}
	for _, name := range carried {
		entry = append(entry, mql.E(name, fromParent(name)))
	}
	// One level: mark each entry of the pool with its parent's index in the last level (-1
	// for none), and divide the pool by it.
	marked := mapEach(
		"$$value.pool", "e",
		bson.D{{Key: "e", Value: "$$e"}, {Key: "at", Value: mql.Op("$indexOfArray", "$$value.level.i", "$$e.p")}},
	)
	found := mapEach(filterBy("$$marked", "m", mql.Op("$gte", "$$m.at", 0)), "m", entry)
	rest := mapEach(filterBy("$$marked", "m", mql.Op("$lt", "$$m.at", 0)), "m", "$$m.e")
	next := bson.D{
		{Key: "pool", Value: "$$rest"}, {Key: "level", Value: "$$found"},
		{Key: "out", Value: mql.Op("$concatArrays", "$$value.out", "$$found")},
	}
	divided := let(bson.D{{Key: "found", Value: found}, {Key: "rest", Value: rest}}, next)
	step := let(bson.D{{Key: "marked", Value: marked}}, divided)
	// The pool begins with all entries but the tops, so that a top below another top isn't
	// found twice.
	others := filterBy("$all", "e", mql.Op("$not", bson.A{mql.Op("$in", "$$e.i", "$$top.i")}))
	start := bson.D{{Key: "pool", Value: others}, {Key: "level", Value: "$$top"}, {Key: "out", Value: bson.A{}}}
	walk := reduceOver(mql.Op("$range", 0, levels), start, skipIfEmpty("$$value.level", step))
	return let(bson.D{{Key: "top", Value: top}}, let(bson.D{{Key: "walk", Value: walk}}, "$$walk.out"))
}
