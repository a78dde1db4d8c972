package paths

import (
	"context"
	"reflect"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/rollup"
	"github.com/docmodel/docmodel/paths/internal/tree"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Numeric is what a [RollUp] adds up.
type Numeric interface {
	~int | ~int32 | ~int64 | ~float64
}

// Totals are what one field of a node and of all below it comes to.
type Totals[V Numeric] struct {
	Nodes  int64 `bson:"nodes"`  // the node itself, and all below it
	Values int64 `bson:"values"` // how many of them have a number in the field
	Sum    V     `bson:"sum"`
	Min    V     `bson:"min"` // null, which is read as 0, where there are no values; so is Max
	Max    V     `bson:"max"`
}

// Branch is what a node's subtree comes to, under the key by which [RollUp.Branches] tells one child from another.
type Branch[V Numeric] struct {
	Key       bson.RawValue `bson:"_id"`
	Totals[V] `bson:",inline"`
}

// Total is a node with the totals of its subtree.
type Total[D any, V Numeric] struct {
	Node D
	Totals[V]
}

// RollUp adds up a field over subtrees: how many products there are in a category and all below it, what they cost together, the
// least and the greatest price. Make it with [NewRollUp].
//
// It is asked of the server for a node or for each of its children, whenever it is needed ([RollUp.Total], [RollUp.Children]), or
// stored in each node ([RollUp.Store]), where it is read with the node and goes stale.
//
// What is no number, or not there, is left out of all but Nodes. A sum of int64 beyond int64 is an error. Sums of float64 can
// differ in their last digits from one reading to the next, for a server adds up in the order in which it finds documents.
//
//	                  ParentTree and others           AncestorArray               MaterializedPath           NestedSet
//	a node's total    $graphLookup from it            one range of the index      one range of the index     one range of the index
//	its children's    $graphLookup from each of them  the same range, grouped by  the same, grouped by       the same, grouped by
//	                                                  an element of the array     a segment of the path      ranges of left numbers
//
// Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/graphLookup/, and the same manual's page on $group.
type RollUp[V Numeric, D, K any] struct {
	tree *Tree[D, K]
	r    *rollup.RollUp
}

// NewRollUp declares what is added up: the number at a path of the nodes, which is a V, and where its totals are stored in them, a
// [Totals] of V; "" for nowhere. It panics with a [*model.DeclarationError] when a path doesn't exist, is of another type, lies in an
// array, or is one of the tree's own.
//
//	var products = paths.NewRollUp[int64](tree, "products", "inAll")
func NewRollUp[V Numeric, D, K any](t *Tree[D, K], path, into string) *RollUp[V, D, K] {
	mustHave("NewRollUp", t != nil)
	return &RollUp[V, D, K]{t, rollup.Declare(t.t, path, into, reflect.TypeFor[V](), reflect.TypeFor[Totals[V]]())}
}

// Total returns the query of a node's total, from its document.
//
// Cost: one command, one document; the server reads the subtree, by the index that Descendants uses.
func (r *RollUp[V, D, K]) Total(n *D) *model.Aggregate[Totals[V]] {
	a := &model.Aggregate[Totals[V]]{}
	read, err := r.tree.stored(n)
	if a.Err = err; err == nil {
		a.Aggregation = r.r.Total(read)
	}
	return a
}

// Branches returns the query of the totals of a node's children, from its document and theirs, in their order; nil means the roots,
// from theirs. Their keys are, for a materialized path the child's segment as paths hold it, for a nested set its left number, for
// others its _id. [RollUp.Children] puts them together.
//
// Cost: one command, a document for each child; the server reads the subtree, as Total.
func (r *RollUp[V, D, K]) Branches(n *D, children []D) *model.Aggregate[Branch[V]] {
	a := &model.Aggregate[Branch[V]]{}
	var above *tree.Node
	if n != nil {
		read, err := r.tree.stored(n)
		if a.Err = err; err != nil {
			return a
		}
		above = &read
	}
	list := make([]tree.Node, len(children))
	for i := range children {
		if list[i], a.Err = r.tree.stored(&children[i]); a.Err != nil {
			return a
		}
	}
	a.Aggregation = r.r.Branches(above, list)
	return a
}

// Children reads a node's children, in order, with their totals; nil means the roots. It takes two commands, for the totals are asked
// by the children that were read.
//
// Cost: two commands: the children, and Branches. What others change between them can be in one and not in the other: a child that
// the totals don't know has none.
func (r *RollUp[V, D, K]) Children(ctx context.Context, db model.DB, n *D) ([]Total[D, V], error) {
	var above *tree.Node
	if n != nil {
		read, err := r.tree.stored(n)
		if err != nil {
			return nil, err
		}
		above = &read
	}
	children, found, err := r.r.Children(ctx, db, above)
	if err != nil {
		return nil, err
	}
	out := make([]Total[D, V], len(children))
	for i, c := range children {
		if err := r.tree.t.Decode(c.Raw, &out[i].Node); err != nil {
			return nil, err
		}
		if found[i] == nil {
			continue
		}
		if err := r.tree.t.Decode(found[i], &out[i].Totals); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Store returns the change that stores in each node its total, computed from the field in all nodes: totals that are right
// already are not written. It is decided from the nodes, with their links, the field and the totals that they hold. It refuses a
// tree that has to be repaired first, with [ErrDamaged], and numbers that can't be added up, with a [*model.ValueError].
//
// Moves and other changes of the tree are kept away meanwhile. What writes the field is not: totals say what it was when it was
// read, and go stale with every later change of it, until Store runs again. A cut leaves some nodes with new totals and others
// with those of before; it can be run again.
//
// Cost: one command, in batches, that reads the links, the field and the totals of all nodes, which are held in memory, some 1 KB
// for each; a document written for each total that differs, and a command for each 25,000 documents or 16 MiB of them; two
// commands for the lease. A change of one leaf's number changes the totals of its ancestors, and of no others.
func (r *RollUp[V, D, K]) Store() model.Change[any] {
	return r.r.Store()
}
