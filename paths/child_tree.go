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
	// as fit in the document.
	Max int
}

// NewChildTree declares a tree whose nodes contain the ordered list of their children's
// _ids, besides the parent links. Choose it also if the documents have such lists already
// ([Tree.Adopt]).
//
// A list that would exceed the 16 MiB of the parent's document, or Max, gives
// [model.ErrFull].
//
// # Consistency
//
// The parent links are the truth. A change adds a node to its new list before it writes
// the link, and removes it from the old list afterwards. So a reader who follows lists,
// and checks the lists by the links ([Tree.Arrange]), finds a moved node at each moment.
//
// A crash leaves one of these, until the tree's next change finishes the interrupted
// change:
//
//   - an inserted node that isn't in a list yet
//   - a moved node in two lists
//   - the old order in a list
//
// [Tree.Checks] finds each list that differs from the links, and rewrites it.
//
// Cost: an insert or a delete writes two documents. A move writes three; a move within
// one list, or from or to the roots, writes two. [Promote] writes the children, the node
// and the parent. Queries use the links, with the limits of [NewParentTree].
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
// of children. A node's parent is the node that lists it. A node in no list becomes a
// root. Roots keep their order keys; roots without a key come last, by _id. A document
// without a list gets an empty list. A tree that isn't a child tree ([NewChildTree])
// gives a [*model.ValueError].
//
// Adopt doesn't change lists. A node in two lists, a cycle, or a field that isn't a list
// gives [ErrDamaged], and nothing is written: see [Tree.CheckLists].
//
// A crash leaves some nodes without links. Run Adopt again before anything else changes
// the tree. If other code still writes only lists, run Adopt again after its writes.
// Don't run Adopt after all writers use the tree.
//
// Cost: one command reads the tree's fields of all documents, with their lists, into
// memory. Then one per 25,000 documents or 16 MiB of writes, and two for the
// lease. Only documents that differ are written, by _id.
func (t *Tree[D, K]) Adopt() model.Change[any] { return t.t.Adopt() }

// CheckLists returns the check of the arrays in which the nodes of a child tree
// ([NewChildTree]) list their children. Run it before [Tree.Adopt]. It finds:
//
//   - a node in two lists, a cycle, and a field that isn't a list. Correct them by hand.
//   - a list with a missing node or a repeated child. After Adopt, the repair of
//     [Tree.Checks] removes these ids.
//   - a parent link that the lists contradict. Adopt overwrites it.
//
// The repair of this check is Adopt, which gives [ErrDamaged] for the first kind.
//
// Cost: one command, which reads as Adopt does.
func (t *Tree[D, K]) CheckLists() model.Check { return t.t.CheckLists() }
