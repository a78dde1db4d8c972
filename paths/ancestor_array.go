package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// AncestorArraySpec names the fields of a [NewAncestorArray] tree. A node's array
// contains the _ids of the node's ancestors, then the node's own _id. Use omitempty: a
// nil slice must not be stored as null. If _id is a string, declare
//
//	Ancestors []string `bson:"ancestors,omitempty"`
type AncestorArraySpec struct {
	TreeSpec
	Ancestors string // field of the array; "" means "ancestors"
}

// NewAncestorArray declares a tree in which each node has an array of _ids, from the root
// to the node itself. One query by a multikey index finds descendants. One query by _id
// finds ancestors. One update rewrites the arrays of a moved subtree.
//
// A missing or wrongly typed field panics with a [*model.DeclarationError].
//
// Sources: "Materialized Paths" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-ancestors-array/.
func NewAncestorArray[D, K any](c *model.Collection[D, K], spec AncestorArraySpec) *Tree[D, K] {
	return newTree(c, tree.DeclareAncestorArray(declaredOf(c, spec.TreeSpec), spec.Ancestors))
}
