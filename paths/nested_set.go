package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// NestedSetSpec says how nodes get numbers, and names the fields of a nested set: those
// of [TreeSpec], and
//
//	Left  int64 `bson:"left"`
//	Right int64 `bson:"right"`
//	Depth int64 `bson:"depth"`
type NestedSetSpec struct {
	TreeSpec
	Left  string // an int64; "" means "left"
	Right string // an int64; "" means "right"
	Depth string // an integer, the number of ancestors; "" means "depth"

	// Gap is the distance between new numbers, at most 2³². 1 means dense numbers, and so
	// does 0.
	Gap int64

	// Direct shifts numbers by one update instead of two, without a unique index.
	Direct bool
}

// NewNestedSet declares a tree whose nodes contain two numbers, left and right. The left
// numbers of all descendants lie between them. All roots share one numbering, which
// begins at 1. A subtree is one range of one index, in preorder.
//
// # Gap
//
// Choose dense numbers for a tree that is loaded and then only read, or to count
// descendants as (right - left - 1) / 2. An insert shifts all later numbers, and the
// ancestors' right numbers. A delete closes its room. A move writes all nodes between the
// old place and the new place.
//
// Choose a larger Gap for a tree with inserts or moves. Most inserts then write one
// document, and a move writes the subtree. A delete leaves its room free. If a gap is
// full, [Tree] spreads the numbers of the smallest range around it that has room. It
// shifts all numbers on the way only if a subtree with 1,000 descendants or more doesn't
// fit, or if 256 numbers on each side leave no room. In internal/bench/RESULTS.md,
// inserts at one place wrote other nodes after 20 inserts with a Gap of 2³², and after 6
// with 2¹⁰.
//
// # Consistency
//
// Two updates shift numbers. The first writes the new numbers as negative numbers, the
// second makes them positive. So no two documents have the same left number, and its
// index is unique. The updates mark documents with the change number, so they can be
// interrupted and run again.
//
// Between the updates, queries don't find the nodes that are shifted, and find all other
// nodes. While an update runs, a range can also contain a node that doesn't belong there.
// With Direct, this is so during its one update, and from an insert before other nodes
// until the end of its update. Read in [Tree.Settled] to exclude it.
//
// # Cost
//
// Documents that are written, besides the lease. One command shifts numbers, by both
// updates:
//
//	Insert last, or in a gap  1
//	Insert elsewhere          2, 2 per later node, 1 per ancestor
//	Move                      2 per node of the subtree and on the way, 1 per ancestor
//	Move into a gap           1 per node of the subtree
//	if a gap is full          2 per inserted or moved node, up to 2 per node of the range
//	Delete, Subtree, or leaf  1 per node deleted; if dense, also 2 per later node
//	                          and 1 per ancestor
//	Delete, Promote, Rootify  as Move of all children, and 1 per child
//
// With Direct, read 1 for 2. Descendants and leaves take one command, by the index on the
// left number. Ancestors use the index on the right and left numbers, and scan the keys
// of all nodes that end after the node. The repair of a tree with gaps keeps numbers that
// are in order, and fits the other numbers in between. If they don't fit, all nodes get
// new numbers.
//
// It panics with a [*model.DeclarationError] if a field is missing or has the wrong type,
// or if Gap is negative or too large.
//
// Sources: "Nested Sets" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/; "Trees
// in SQL", Joe Celko, 1996;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-nested-sets/.
func NewNestedSet[D, K any](c *model.Collection[D, K], spec NestedSetSpec) *Tree[D, K] {
	return newTree(c, tree.Nested(declaredOf(c, spec.TreeSpec), tree.NestedSpec{
		Left: spec.Left, Right: spec.Right, Depth: spec.Depth, Gap: spec.Gap, Direct: spec.Direct,
	}))
}
