package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// NewParentTree declares a tree whose nodes contain their parent's _id (an adjacency
// list) and the other fields of [TreeSpec]. A move writes one document. Ancestors and
// descendants use $graphLookup, which keeps at most 100 MB. A missing field or a wrong
// type panics with a [*model.DeclarationError].
//
// On DocumentDB, [Tree.Ancestors] needs an index of your own on _id and the parent, in
// this order. Descendants are slow on DocumentDB right after a bulk load: see
// internal/bench/RESULTS.md.
//
// Sources: "Adjacency Lists" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-parent-references/.
func NewParentTree[D, K any](c *model.Collection[D, K], spec TreeSpec) *Tree[D, K] {
	return newTree(c, tree.Parents(declaredOf(c, spec)))
}
