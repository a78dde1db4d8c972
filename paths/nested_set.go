package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// NestedSetSpec says how [NewNestedSet] numbers nodes. The zero value fits documents with
// [TreeSpec]'s default fields and
//
//	Left  int64 `bson:"left"`
//	Right int64 `bson:"right"`
//	Depth int64 `bson:"depth"`
type NestedSetSpec struct {
	TreeSpec
	Left  string // field for the left number, an int64; "" means "left"
	Right string // field for the right number, an int64; "" means "right"
	Depth string // field for the number of ancestors; "" means "depth"

	// Gap is the distance between new numbers, at most 2³². 0 means 1.
	Gap int64

	// With Direct, a shift of numbers takes one update, not two, and no index is unique.
	Direct bool
}

// NewNestedSet declares a tree in which each node has two numbers, left and right. The
// left number of each descendant lies between the node's two numbers. One range of one
// index finds a subtree in preorder (parents before children).
//
// NewNestedSet panics with a [*model.DeclarationError] if a field or Gap is invalid.
//
// # Gap
//
//   - If the tree rarely changes, set NestedSetSpec.Gap to 1 (a dense tree). Each node
//     has (right - left - 1) / 2 descendants.
//   - If the tree often changes, set a larger Gap. Most changes write fewer documents.
//
// A gap is a range of unused numbers. If a gap is too small, [Tree] renumbers the nodes
// around it. Without room nearby, [Tree] shifts the later nodes in preorder, as in a
// dense tree.
//
// # Consistency
//
// A shift takes two updates. Between the updates, queries don't find the shifted nodes.
// With NestedSetSpec.Direct, a shift takes one update. In both cases, queries can return
// wrong nodes during an update. To prevent this, query inside [Tree.Settled].
//
// # Cost
//
// The table says how often each document is written. With Direct, "twice" means once.
//
//	Insert last, or in a gap  the node once
//	Insert elsewhere          the node twice, later nodes twice, ancestors once
//	Move                      subtree and nodes up to its new place twice, ancestors once
//	Move into a gap           the subtree once
//	Into too small a gap      inserted or moved nodes twice, renumbered nodes up to twice
//	Delete (Subtree or leaf)  deleted nodes; if dense, later nodes twice, ancestors once
//	Delete (Promote, Rootify) the node once; descendants once, or twice if dense;
//	                          children once more; other nodes as for Subtree
//
// [Tree.Ancestors] scans the index keys of all nodes with a greater right number.
//
// Sources: "Nested Sets" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/; "Trees
// in SQL", Joe Celko, 1996;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-nested-sets/.
func NewNestedSet[D, K any](c *model.Collection[D, K], spec NestedSetSpec) *Tree[D, K] {
	return newTree(c, tree.DeclareNestedSet(declaredOf(c, spec.TreeSpec), tree.NestedSpec{
		Left: spec.Left, Right: spec.Right, Depth: spec.Depth, Gap: spec.Gap, Direct: spec.Direct,
	}))
}
