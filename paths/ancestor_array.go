package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// AncestorArraySpec says in which fields an ancestor array is kept.
type AncestorArraySpec struct {
	TreeSpec
	Ancestors string // an array of _ids; "" means "ancestors"
}

// NewAncestorArray declares a tree whose nodes hold the _ids of all their ancestors, root first, and their own last. Descendants
// of a node are one query by a multikey index, ancestors one query by _id; a move rewrites the arrays of the whole subtree, by
// one update.
//
// The own _id is in the array so that a subtree, its top too, is one condition.
//
// Sources: "Materialized Paths" of https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-ancestors-array/.
//
// It panics with a [*model.DeclarationError] when the documents don't have the fields, or have them with other types.
func NewAncestorArray[D, K any](c *model.Collection[D, K], spec AncestorArraySpec) *Tree[D, K] {
	return newTree(c, tree.Ancestors(declaredOf(c, spec.TreeSpec), spec.Ancestors))
}
