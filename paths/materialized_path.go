package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// MaterializedPathSpec names a materialized path's fields. The zero value fits
// the fields listed at [TreeSpec], and
//
//	Path string `bson:"path"`
type MaterializedPathSpec struct {
	TreeSpec
	Path string // field for the path; "" means "path"
	// Segment names the string field with the node's own part of the path. "" means the
	// _id, which must be a string, an ObjectID or an integer.
	Segment string
}

// NewMaterializedPath declares a tree whose nodes contain their path from the root, such
// as "clothing/men%2Fboys/shoes/" (see [Path]). One update moves or renames a subtree.
// The unique index on the path refuses siblings with the same segment.
//
// A missing or mistyped field of D panics with a [*model.DeclarationError].
//
// Sources: "Materialized Paths" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-materialized-paths/.
func NewMaterializedPath[D, K any](c *model.Collection[D, K], spec MaterializedPathSpec) *Tree[D, K] {
	return newTree(c, tree.DeclareMaterializedPath(declaredOf(c, spec.TreeSpec), spec.Path, spec.Segment))
}
