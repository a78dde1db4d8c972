package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// NestedSetSpec says in which fields a nested set is kept, and how.
type NestedSetSpec struct {
	TreeSpec
	Left  string // an int64; "" means "left"
	Right string // an int64; "" means "right"
	Depth string // an int, int32 or int64, the number of a node's ancestors; "" means "depth"

	// Gap is the distance of the numbers that are given out: 1 is dense. 0 means 1; it is at most 2³².
	Gap int64

	// Direct shifts numbers in one update instead of two, and goes without a unique index.
	Direct bool
}

// NewNestedSet declares a tree whose nodes hold two numbers, left and right, that lie around the numbers of all nodes below: a node's
// descendants are those whose left number is between its own two. All roots of the collection share one numbering, which begins
// at 1. A subtree of any depth is one range of one index, already in preorder; the price is paid by whoever writes: an insert or
// a move shifts the numbers of other nodes.
//
// With a Gap of 1 the numbers are dense: an insert shifts all that comes after it, and the ancestors' right numbers; a delete
// closes its room, and a move writes the nodes between the old place and the new. A larger Gap leaves numbers free: most inserts then
// write their own document only, a move writes the subtree only, with numbers closer together where the gap is narrow, and a delete
// leaves its room. Where a gap is used up, [Tree] spreads the numbers of the smallest range around it that has room, some ten
// documents as a rule. It shifts all numbers on the way only for a subtree of 1,000 nodes that doesn't fit, or where 256 numbers
// on each side leave no room. What is appended after the last root shifts nothing.
//
// Choose a Gap for a tree whose nodes are inserted or moved, and dense numbers for a tree that is loaded and then only read, or where
// counting by numbers alone matters: (right - left - 1) / 2 is how many nodes lie below. In a tree of 10,000 nodes a move of a leaf over
// half of the tree wrote the leaf with either gap that was tried, 6,700 documents with dense numbers and Direct, and 13,400 without
// Direct. A Gap of 2³² takes 20 inserts at one place before an insert writes numbers of other nodes, one of 2¹⁰ takes 6. Other numbers
// that lie between others end sooner: bounds of float64, and fractions that are compared by their quotients, end after some 30 nodes that
// come between the last two. Order keys of a materialized path have no end, and a move writes the same documents as with gaps.
//
// Numbers are shifted in two updates, of which the first writes the new numbers as negative ones, and the second turns their
// sign: so two documents never have one left number, which a unique index holds to. Each marks what it wrote with the change's
// number, so that it can be cut anywhere, and be run again. Nodes whose right number alone changes, which are ancestors, are
// written once. A node that is inserted before others comes with negative numbers, and is turned with them. With Direct the numbers
// are shifted in one update, which no unique index stands.
//
// What a reader can see. Between both updates, the nodes whose left number changes have negative numbers: queries by ranges, which
// are all here, don't find them, and find all others where they belong. While one of the updates runs, some nodes have their new
// numbers and some not yet: then a range can hold a node that doesn't belong there too. With Direct this is so while the one
// update runs, and from an insert before others to the end of its update. [Tree.Settled] reads when no change is being written; a
// transaction with snapshot isolation reads one moment, which can be one in the middle of it.
//
// Its indexes are on the left number, which is unique but with Direct: for descendants; and on the right number and the left: for
// ancestors, and for what is shifted. Ancestors are found among the keys of all nodes that end after the node.
//
// Costs, of the nodes alone; each shift of numbers is one command, of both updates:
//
//	Insert                 1 document, if it comes last or into a gap; else 2, 2 for each node after it and 1 for each ancestor
//	Move                   2 documents for each node of the subtree and each on the way, 1 for each ancestor
//	Move into a gap        1 document for each node of the subtree
//	where a gap is full    2 documents for the new node or each of the subtree, and up to 2 for each node of the range that is spread
//	Delete with Subtree    1 for each node of the subtree; 2 for each node after it and 1 for each ancestor, where numbers are dense
//	Delete that dissolves  as Move of all children, and 1 document for each child
//	Descendants, Leaves    one command, by the index on the left number
//
// With Direct, read 1 for 2. The repair of a tree with gaps keeps the numbers that are in order, and gives numbers in between to the
// others; where they don't fit, all are given anew.
//
// Sources: "Nested Sets" of https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/; "Trees in SQL", Joe
// Celko, 1996; https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-nested-sets/.
//
// It panics with a [*model.DeclarationError] when the documents don't have the fields,
// or have them with other types, or the gap is negative or too large.
func NewNestedSet[D, K any](c *model.Collection[D, K], spec NestedSetSpec) *Tree[D, K] {
	return newTree(c, tree.Nested(declaredOf(c, spec.TreeSpec), tree.NestedSpec{
		Left: spec.Left, Right: spec.Right, Depth: spec.Depth, Gap: spec.Gap, Direct: spec.Direct,
	}))
}
