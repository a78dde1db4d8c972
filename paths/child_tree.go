package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// ChildTreeSpec names the fields of a tree of [NewChildTree]: those of [TreeSpec], and
// the array of the children's _ids. An empty array must be stored as [] or left out, not
// as null. With a string as _id:
//
//	Children []string `bson:"children,omitempty"`
type ChildTreeSpec struct {
	TreeSpec
	Children string // an array of _ids; "" means "children"
	// Max is the most children that an insert or a move may give a node. 0 means as many
	// as fit in the document. More children give [model.ErrFull].
	Max int
}

// NewChildTree declares a tree whose nodes contain the ordered list of their children's
// _ids. Use [Tree.Adopt] if documents have such lists already.
//
// # Consistency
//
// The parent links are the truth. During a change, and after a crash until the tree's
// next change, a list can be old: a node is missing from its new list, or is in two
// lists. [Tree.Checks] finds and rewrites each list that differs from the links.
//
// Cost: an insert or a delete writes two documents. A move writes up to three documents.
// [Promote] writes the children, the node and the parent. Queries use the links, with the
// limits of [NewParentTree].
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
// of children. It needs a tree of [NewChildTree]. A node in no list becomes a root.
//
// First run [Tree.CheckLists]. It finds lists for which Adopt returns [ErrDamaged] and
// writes nothing.
//
// After a crash, run Adopt again before anything else changes the tree. While other code
// still writes only lists, run Adopt after each of these writes. Once no such code runs,
// don't run Adopt: an old list would overwrite newer links.
//
// Cost: one command reads the tree's fields of all documents into memory. Then one
// command writes each 25,000 documents or 16 MiB, and two are for the [model.Lease].
func (t *Tree[D, K]) Adopt() model.Change[any] { return t.t.Adopt() }

// CheckLists returns the check of the lists of children. Run it before [Tree.Adopt],
// which is its repair. It finds
//
//   - a node in two lists, a cycle, or a field that isn't a list: correct it by hand
//   - a missing node or a repeated child: after Adopt, repair it by [Tree.Checks]
//   - a parent link that the lists contradict: Adopt overwrites it
//
// Cost: one command, which reads as Adopt does.
func (t *Tree[D, K]) CheckLists() model.Check { return t.t.CheckLists() }
