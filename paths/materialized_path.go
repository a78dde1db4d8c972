package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// MaterializedPathSpec says in which fields a materialized path is kept.
type MaterializedPathSpec struct {
	TreeSpec
	Path    string // a string; "" means "path"
	Segment string // a string, the node's own part of the path; "" means the _id, which is a string, an ObjectID or an integer
}

// NewMaterializedPath declares a tree whose nodes hold their path from the root as a string: "clothing/men%2Fboys/shoes/". Each
// segment is escaped ([Path]) and ends in a separator. Descendants of a node are one range of an index on the path, ancestors
// the prefixes of its path; a move or a rename rewrites the paths of the whole subtree, by one update.
//
// A node's segment is its _id, or a field of its own, such as a name; among the children of one parent it is unique, which the
// path's unique index holds to.
//
// Sources: "Materialized Paths" of https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-materialized-paths/.
//
// It panics with a [*model.DeclarationError] when the documents don't have the fields, or have them with other types.
func NewMaterializedPath[D, K any](c *model.Collection[D, K], spec MaterializedPathSpec) *Tree[D, K] {
	return newTree(c, tree.Paths(declaredOf(c, spec.TreeSpec), spec.Path, spec.Segment))
}
