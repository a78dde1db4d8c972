package paths

import (
	"context"
	"reflect"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/rollup"
	"github.com/docmodel/docmodel/paths/internal/tree"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Numeric is a type of numbers that a [RollUp] adds up.
type Numeric interface {
	~int | ~int32 | ~int64 | ~float64
}

// Totals are the totals of one field over a node's subtree.
type Totals[V Numeric] struct {
	Nodes  int64 `bson:"nodes"`  // nodes of the subtree, its root included
	Values int64 `bson:"values"` // nodes with a number in the field
	Sum    V     `bson:"sum"`
	Min    V     `bson:"min"` // the smallest number; 0 (in BSON null) if Values is 0
	Max    V     `bson:"max"` // the greatest number; 0 (in BSON null) if Values is 0
}

// Branch contains the [Totals] of one child's subtree.
type Branch[V Numeric] struct {
	// Key identifies the child: by escaped segment (materialized path), left number
	// (nested set) or _id (other trees).
	Key       bson.RawValue `bson:"_id"`
	Totals[V] `bson:",inline"`
}

// Total contains the [Totals] of the subtree of the node with this id.
type Total[K any, V Numeric] struct {
	ID        K `bson:"_id"`
	Totals[V] `bson:",inline"`
}

// RollUp adds up a number over subtrees, such as the products in a category and its
// subcategories. [RollUp.Total] and [RollUp.Children] compute totals on the server.
// [RollUp.Store] stores totals in the nodes. Stored totals don't follow later changes.
//
// A node without a number counts only in Totals.Nodes. An int64 overflow is an error.
//
// Source:
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/graphLookup/.
type RollUp[V Numeric, D, K any] struct {
	tree *Tree[D, K]
	r    *rollup.RollUp
}

// NewRollUp declares totals of a field over subtrees of t. The field at path has type V.
// [RollUp.Store] stores [Totals] of V at target. Without Store, pass "" as target.
// NewRollUp panics with a [*model.DeclarationError] if a path isn't in D, has a wrong
// type, is in an array, or is one of the tree's fields.
//
//	var products = paths.NewRollUp[int64](tree, "products", "inAll")
func NewRollUp[V Numeric, D, K any](t *Tree[D, K], path, target string) *RollUp[V, D, K] {
	mustHave("NewRollUp", t != nil)
	return &RollUp[V, D, K]{t, rollup.DeclareRollUp(t.t, path, target, reflect.TypeFor[V](), reflect.TypeFor[Totals[V]]())}
}

// Total returns the query that totals n's subtree. The fields of [Tree.Links] are enough
// for n.
//
// Cost: one command, which returns one document. The server reads the subtree by the same
// index as for [Tree.Descendants].
func (r *RollUp[V, D, K]) Total(n *D) *model.Aggregate[Totals[V]] {
	a := &model.Aggregate[Totals[V]]{}
	read, err := r.tree.stored(n)
	if a.Err = err; err == nil {
		a.Aggregation = r.r.FindTotal(read)
	}
	return a
}

// Branches returns the query that totals each child's subtree. The result is one [Branch]
// per child, unordered. Pass all children of the node n, in the tree's order. If n is
// nil, pass all roots.
//
// Cost: one command. The server reads n's subtree.
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
	a.Aggregation = r.r.FindBranchTotals(above, list)
	return a
}

// Children reads the totals of the node n's children, in order. A nil n means the roots.
// A child that is deleted between the two commands can have zero totals. Children reads
// only the tree's fields. To read the children themselves, use [Tree.Children].
//
// Cost: two commands, the children and then [RollUp.Branches].
func (r *RollUp[V, D, K]) Children(ctx context.Context, db model.DB, n *D) ([]Total[K, V], error) {
	var above *tree.Node
	if n != nil {
		read, err := r.tree.stored(n)
		if err != nil {
			return nil, err
		}
		above = &read
	}
	found, err := r.r.ReadChildTotals(ctx, db, above)
	if err != nil {
		return nil, err
	}
	out := make([]Total[K, V], len(found))
	for i, total := range found {
		if err := r.tree.t.Decode(total, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Store returns the change that computes all nodes' totals, and stores changed totals.
// Run the change again after a crash, or when nodes' numbers have changed. During the
// change, the tree's other changes wait ([model.Lease]). A damaged tree gives
// [ErrDamaged].
//
// Cost: one command reads all nodes, in batches. Each node takes about 1 KB of memory.
// The writes take a command per 25,000 documents or 16 MiB. The lease takes two or more.
func (r *RollUp[V, D, K]) Store() model.Change {
	return r.r.StoreTotals()
}
