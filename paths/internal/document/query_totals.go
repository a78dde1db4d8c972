package document

// Queries for paths.DocumentRollUp. Package rollup gives the accumulators.

import (
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// CheckNumber panics if the nodes don't have numbers of a type in a field, or if the
// field is one of the tree's.
func (t *Tree) CheckNumber(place core.Place, path string, number reflect.Type) {
	have, err := t.Lookup(t.Path + "." + path)
	switch {
	case err != nil:
		place.Fail(err.Error(), "name a field of the elements")
	case !have.Untyped && (have.Type != number || have.Arrays != t.list.Arrays):
		place.Fail(
			fmt.Sprintf("%q is of type %s, not %s", path, have.Type, number), "name another field, or change its type",
		)
	}
	for _, own := range []string{t.spec.ID, t.spec.Parent, t.spec.Order, t.spec.Nested} {
		if own != "" && core.Overlap(path, own) {
			place.Fail(fmt.Sprintf("%q is a field of the tree", path), "name another field")
		}
	}
}

// FindTotal is the query of what accumulators make of a node and its descendants. totals
// returns the accumulators for a field's path.
func (t *Tree) FindTotal(
	owner, id bson.RawValue, path string, totals func(path string) bson.D, err error,
) model.Aggregation {
	// The node's own entry and those below it. Keys and order don't matter for totals.
	own := mql.Op("$slice", filterEntries("$$e.i", mql.Literal(id)), 1)
	return t.queryEntries(owner, err,
		mql.Project(mql.E("e", mql.Op("$concatArrays", own, collectBelow(makeTopEntry(id), 0)))), mql.Unwind("$e"),
		mql.Group(nil, totals("e.n."+path)...))
}

// FindChildTotals is the query of the totals of each child of a node, in order. A parent
// of type 0 means the roots. Each descendant carries the id of the child above it.
func (t *Tree) FindChildTotals(
	owner, parent bson.RawValue, path string, totals func(path string) bson.D, err error,
) model.Aggregation {
	of := any(nil)
	if parent.Type != 0 {
		of = mql.Literal(parent)
	}
	child := bson.D{
		{Key: "n", Value: "$$e.n"}, {Key: "i", Value: "$$e.i"}, {Key: "k", Value: "$$e.k"}, {Key: "b", Value: "$$e.i"},
	}
	all := let(bson.D{{Key: "children", Value: mapEach(filterEntries("$$e.p", of), "e", child)}},
		mql.Op("$concatArrays", "$$children", collectBelow("$$children", 0, "b")))
	// A child's key is the beginning of the keys below it, so it is their minimum.
	sums := append(totals("e.n."+path), mql.E("k", mql.Op("$min", "$e.k")))
	return t.queryEntries(
		owner, err, mql.Project(mql.E("e", all)), mql.Unwind("$e"), mql.Group("$e.b", sums...), mql.Sort(mql.E("k", 1)),
		mql.Op("$unset", "k"),
	)
}
