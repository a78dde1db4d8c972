package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// NewParentTree declares a tree whose nodes contain their parent's _id. [TreeSpec] names
// the nodes' fields. A move writes one document. [Tree.Ancestors] and [Tree.Descendants]
// use $graphLookup, which is limited to 100 MB. A missing field or a wrong type panics
// with a [*model.DeclarationError].
//
// On DocumentDB, Ancestors needs an index on _id and the parent, in this order. Right
// after a bulk load, Descendants is slow on DocumentDB.
//
// Sources: "Adjacency Lists" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-parent-references/.
func NewParentTree[D, K any](c *model.Collection[D, K], spec TreeSpec) *Tree[D, K] {
	return newTree(c, tree.DeclareParentTree(declaredOf(c, spec)))
}
