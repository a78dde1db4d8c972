package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// NewParentTree declares a tree whose nodes contain their parent's _id and the other
// fields of [TreeSpec]: an adjacency list. A move writes one document. Ancestors and
// descendants use $graphLookup, which follows the links level by level on the server.
// $graphLookup keeps at most 100 MB. For a larger subtree, read level by level, or choose
// another representation.
//
// On DocumentDB, $graphLookup by _id uses no index. $graphLookup by parent uses the index
// only when the server has statistics of the collection, some time after a load: see
// internal/bench/RESULTS.md. An index of your own on _id and the parent, in this order,
// serves [Tree.Ancestors].
//
// A missing field or a wrong type panics with a [*model.DeclarationError].
//
// Sources: "Adjacency Lists" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-parent-references/.
func NewParentTree[D, K any](c *model.Collection[D, K], spec TreeSpec) *Tree[D, K] {
	return newTree(c, tree.Parents(declaredOf(c, spec)))
}
