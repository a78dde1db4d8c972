package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// AncestorArraySpec names the fields of a [NewAncestorArray] tree. The field Ancestors
// contains the _ids of a node's ancestors, then the node's own _id. A nil slice must not
// be stored as null, but as [] or not at all. With a string as _id:
//
//	Ancestors []string `bson:"ancestors,omitempty"`
type AncestorArraySpec struct {
	TreeSpec
	Ancestors string // an array of _ids; "" means "ancestors"
}

// NewAncestorArray declares a tree in which each node has an array of _ids, from the root
// to the node itself. One query by a multikey index finds descendants. One query by _id
// finds ancestors. A move rewrites the arrays of the subtree by one update.
//
// A missing field or a wrong type panics with a [*model.DeclarationError].
//
// Sources: "Materialized Paths" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-ancestors-array/.
func NewAncestorArray[D, K any](c *model.Collection[D, K], spec AncestorArraySpec) *Tree[D, K] {
	return newTree(c, tree.Ancestors(declaredOf(c, spec.TreeSpec), spec.Ancestors))
}
