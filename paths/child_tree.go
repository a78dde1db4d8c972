package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// ChildTreeSpec configures a tree of [NewChildTree]. The array of _ids must not be null.
// Use omitempty:
//
//	Children []string `bson:"children,omitempty"`
type ChildTreeSpec struct {
	TreeSpec
	Children string // path of the array of the children's _ids; "" means "children"
	// Max is the maximum number of a node's children. 0 means as many as fit in the
	// document. More children give [model.ErrFull].
	Max int
}

// NewChildTree declares a tree. Each node stores its parent's _id, and an ordered list of
// children's _ids. If documents have only lists, first run [Tree.Adopt].
//
// An invalid field or spec panics with a [*model.DeclarationError].
//
// # Consistency
//
// If a list and a stored parent disagree, the parent is right. During a change, a node
// can be in no list or in two lists. After a crash, the tree's next change corrects the
// lists. The repair of [Tree].Checks rewrites wrong lists.
//
// Cost: an insert or a delete writes two documents. A move writes up to three documents.
// [Promote] also writes the children. For queries, see [NewParentTree].
//
// Sources: "Adjacency Lists" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-child-references/.
func NewChildTree[D, K any](c *model.Collection[D, K], spec ChildTreeSpec) *Tree[D, K] {
	return newTree(c, tree.DeclareChildTree(declaredOf(c, spec.TreeSpec), spec.Children, spec.Max))
}

// Adopt returns the change that computes parent links and order keys from existing lists
// of children ([NewChildTree]). A node in no list becomes a root.
//
// First run [Tree.CheckLists]. Lists that don't form a tree give [ErrDamaged].
//
// After a crash, run Adopt again before any other change of the tree.
//
// While old code writes only lists, run Adopt after each write. When the old code is
// gone, don't run Adopt. Adopt could overwrite newer parent links.
//
// Cost: one command reads all nodes' tree fields into memory. One command writes up to
// 25,000 documents or 16 MiB. The [model.Lease] takes two commands.
func (t *Tree[D, K]) Adopt() model.Change { return t.t.AdoptLists() }

// CheckLists returns the check of the child lists, for use before [Tree.Adopt]. The
// check's repair runs Adopt. The check finds
//
//   - a node in two lists, a cycle, or a field that isn't a list: correct by hand
//   - a missing node or a repeated child in a list: after Adopt, use [Tree].Checks
//   - a stored parent that differs from the lists: Adopt overwrites the parent
//
// Cost: one command reads the tree's fields of all documents.
func (t *Tree[D, K]) CheckLists() model.Check { return t.t.CheckLists() }
