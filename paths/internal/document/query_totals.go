package document

import (
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// CheckNumber checks that the nodes have numbers of a type in a field, which isn't one of the tree's.
func (t *Tree) CheckNumber(place core.Place, path string, number reflect.Type) {
	have, err := t.Lookup(t.Path + "." + path)
	switch {
	case err != nil:
		place.Fail(err.Error(), "name a field of the elements")
	case !have.Open && (have.Type != number || have.Arrays != t.list.Arrays):
		place.Fail(fmt.Sprintf("%q is of type %s, not %s", path, have.Type, number), "name another field, or change its type")
	}
	for _, own := range []string{t.spec.ID, t.spec.Parent, t.spec.Order, t.spec.Nested} {
		if own != "" && core.Overlap(path, own) {
			place.Fail(fmt.Sprintf("%q is a field of the tree", path), "name another field")
		}
	}
}

// Total is the query of what some accumulators make of a node and all nodes below it. totals makes them for a field's path.
func (t *Tree) Total(owner, id bson.RawValue, path string, totals func(path string) bson.D, err error) model.Aggregation {
	own := mql.Op("$slice", entriesWith("$$e.i", mql.Literal(id)), 1)
	return t.query(owner, err,
		mql.Project(mql.E("e", mql.Op("$concatArrays", own, below(topEntry(id), 0)))), mql.Unwind("$e"),
		mql.Group(nil, totals("e.n."+path)...))
}

// Totals is the query of the totals of each child of a node, or of each root where parent has no type, in order.
func (t *Tree) Totals(owner, parent bson.RawValue, path string, totals func(path string) bson.D, err error) model.Aggregation {
	of := any(nil)
	if parent.Type != 0 {
		of = mql.Literal(parent)
	}
	child := bson.D{{Key: "n", Value: "$$e.n"}, {Key: "i", Value: "$$e.i"}, {Key: "k", Value: "$$e.k"}, {Key: "b", Value: "$$e.i"}}
	all := let(bson.D{{Key: "children", Value: mapped(entriesWith("$$e.p", of), "e", child)}},
		mql.Op("$concatArrays", "$$children", below("$$children", 0, "b")))
	sums := append(totals("e.n."+path), mql.E("k", mql.Op("$min", "$e.k"))) // a child's key begins the keys of all nodes below it
	return t.query(owner, err, mql.Project(mql.E("e", all)), mql.Unwind("$e"), mql.Group("$e.b", sums...), mql.Sort(mql.E("k", 1)), mql.Op("$unset", "k"))
}
