package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// NewParentTree declares a tree whose nodes name their parents: an adjacency list. A move writes one document, whatever lies below the
// node; ancestors and descendants take $graphLookup, which follows the links one level at a time on the server.
//
// $graphLookup keeps its documents in memory, up to 100 MB, and each document that it returns is one command's result of up to
// 16 MB in all. Ask for descendants of larger trees by levels, or choose another representation.
//
// Sources: "Adjacency Lists" of https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-parent-references/.
//
// It panics with a [*model.DeclarationError] when the documents don't have the
// fields of the links, or have them with other types.
func NewParentTree[D, K any](c *model.Collection[D, K], spec TreeSpec) *Tree[D, K] {
	return newTree(c, tree.Parents(declaredOf(c, spec)))
}
