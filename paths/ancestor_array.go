package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// AncestorArraySpec names the fields of a tree of [NewAncestorArray]: those of
// [TreeSpec], and the array of the _ids of a node's ancestors and of the node itself. An
// empty array must be stored as [] or left out, not as null. With a string as _id:
//
//	Ancestors []string `bson:"ancestors,omitempty"`
type AncestorArraySpec struct {
	TreeSpec
	Ancestors string // an array of _ids; "" means "ancestors"
}

// NewAncestorArray declares a tree whose nodes contain the _ids of all ancestors and
// their own. The array begins with the root. Descendants are one query by a multikey
// index, ancestors one query by _id. A move rewrites the arrays of the subtree, by one
// update.
//
// A missing field or a wrong type panics with a [*model.DeclarationError].
//
// Sources: "Materialized Paths" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-ancestors-array/.
func NewAncestorArray[D, K any](c *model.Collection[D, K], spec AncestorArraySpec) *Tree[D, K] {
	return newTree(c, tree.Ancestors(declaredOf(c, spec.TreeSpec), spec.Ancestors))
}
