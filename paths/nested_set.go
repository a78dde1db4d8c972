package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// NestedSetSpec says how [NewNestedSet] numbers nodes. The zero value is for documents
// with the fields of [TreeSpec] and
//
//	Left  int64 `bson:"left"`
//	Right int64 `bson:"right"`
//	Depth int64 `bson:"depth"`
type NestedSetSpec struct {
	TreeSpec
	Left  string // an int64; "" means "left"
	Right string // an int64; "" means "right"
	Depth string // an integer, the number of ancestors; "" means "depth"

	// Gap is the distance between new numbers, at most 2³². 0 means 1.
	Gap int64

	// Direct shifts numbers in one update, not two. With Direct, the index on Left isn't
	// unique.
	Direct bool
}

// NewNestedSet declares a tree whose nodes contain two numbers, left and right. The left
// numbers of a node's descendants lie between the node's left and right numbers. One
// range of one index finds a subtree, in preorder.
//
// # Gap
//
//   - Choose dense numbers (NestedSetSpec.Gap 0 or 1) for a tree that rarely changes. A
//     node then has (right - left - 1) / 2 descendants.
//   - Choose a larger Gap for a tree with inserts or moves. Most inserts write one
//     document, and most moves write only the subtree.
//
// If a gap is full, [Tree] renumbers nodes around the gap. If there is no room nearby,
// Tree shifts the numbers of later nodes, as in a dense tree.
//
// # Consistency
//
// A shift takes two updates. Between the updates, queries don't find the shifted nodes.
// With NestedSetSpec.Direct, a shift is one update. During any update, the result of a
// query can contain a wrong node. Readers in [Tree.Settled] don't see shifts.
//
// # Cost
//
// The table says how often each document is written. Both updates of a shift are one
// command.
//
//	Insert last, or in a gap  the node once
//	Insert elsewhere          the node twice, later nodes twice, ancestors once
//	Move                      subtree and nodes between both places twice, ancestors once
//	Move into a gap           the subtree once
//	Into a full gap           inserted or moved nodes twice, renumbered nodes up to twice
//	Delete (Subtree or leaf)  deleted nodes; if dense, later nodes twice, ancestors once
//	Delete (Promote, Rootify) the node, descendants once, children once more; if dense,
//	                          descendants and later nodes twice, ancestors once
//
// Later nodes come after the changed place in preorder. With Direct, "twice" means once.
//
// [Tree.Ancestors] scans the index keys of all nodes with a greater right number.
//
// NewNestedSet panics with a [*model.DeclarationError] if a field or Gap is invalid.
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
