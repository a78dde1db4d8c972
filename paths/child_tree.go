package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// ChildTreeSpec names the fields of a tree of [NewChildTree]: the fields of [TreeSpec],
// and the array of the children's _ids. A nil slice must be stored as [] or left out, not
// as null. With string _ids:
//
//	Children []string `bson:"children,omitempty"`
type ChildTreeSpec struct {
	TreeSpec
	Children string // an array of _ids; "" means "children"
	// Max is the most children that a node gets by an insert, a move or [Promote]. 0
	// means as many as fit in the document. More children give [model.ErrFull].
	Max int
}

// NewChildTree declares a tree in which each node has a list of its children's _ids, in
// order. If documents already have such lists, use [Tree.Adopt].
//
// # Consistency
//
// The parent links are the truth. During a change, a node can be missing from its new
// list, or be in two lists. After a crash, the tree's next change corrects the lists.
// [Tree.Checks] finds and rewrites lists that differ from the links.
//
// Cost: an insert or a delete writes two documents. A move writes up to three documents.
// [Promote] writes the children, the node and the parent. Queries use the parent links:
// see [NewParentTree].
//
// A missing field, a wrong type or a negative Max panics with a
// [*model.DeclarationError].
//
// Sources: "Adjacency Lists" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-child-references/.
func NewChildTree[D, K any](c *model.Collection[D, K], spec ChildTreeSpec) *Tree[D, K] {
	return newTree(c, tree.Children(declaredOf(c, spec.TreeSpec), spec.Children, spec.Max))
}

// Adopt returns the change that creates parent links and order keys from existing lists
// of children, for a tree of [NewChildTree]. A node in no list becomes a root.
//
// First run [Tree.CheckLists]. If it finds damage, Adopt would return [ErrDamaged] and
// write nothing.
//
// After a crash, run Adopt again before anything else changes the tree. If old code
// writes only lists, run Adopt after each of its writes. When no old code runs, don't
// run Adopt: an old list would overwrite newer links.
//
// Cost: one command reads the tree's fields of all documents into memory. Then one
// command writes each 25,000 documents or 16 MiB. Two are for the [model.Lease].
func (t *Tree[D, K]) Adopt() model.Change[any] { return t.t.Adopt() }

// CheckLists returns the check of the lists of children. Run the check before
// [Tree.Adopt]. The check's repair runs Adopt. The check finds
//
//   - a node in two lists, a cycle, or a field that isn't a list: correct it by hand
//   - a missing node or a repeated child: after Adopt, repair it by [Tree.Checks]
//   - a parent link that the lists contradict: Adopt overwrites it
//
// Cost: one command reads the tree's fields of all documents.
func (t *Tree[D, K]) CheckLists() model.Check { return t.t.CheckLists() }
