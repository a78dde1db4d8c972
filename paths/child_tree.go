package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// ChildTreeSpec says in which fields a child tree is kept.
type ChildTreeSpec struct {
	TreeSpec
	Children string // an array of _ids; "" means "children"
	Max      int    // how many children an insert or a move may bring a node to; 0 means as many as its document has room for
}

// NewChildTree declares a tree whose nodes hold the _ids of their children, in order, beside the links that all trees of this
// package have: an adjacency list from above. A node's document tells how many children it has and which, and a page of them is
// read by the list.
//
// Choose it where nodes are shown with their children, page by page or by number, or where documents have such lists already
// ([Tree.Adopt]). It costs a parent tree's writes and the lists beside them: an insert writes the node and its parent, a move
// the node and both parents, which are hot documents where many writers insert under one node. A parent that has more children than
// fit in a document can't be had: the list is a part of it, and what would outgrow 16 MiB, or Max, is refused with [model.ErrFull].
//
// The links are what is true, and the lists follow them. What a cut leaves, until the next change finishes it: a node that was
// inserted is in no list yet; one that is moved is in two, and where its link says; within one list, or among children that take a
// deleted node's place, the order of the list is the one before. What is read by lists passes over ids that lead nowhere, and
// [Tree.Arrange] over what the links don't confirm. [Tree.Checks] find each list that isn't as the links say, and write it anew.
//
// Cost: an insert and a delete, two documents; a move, three, or two within one list, and from or to the roots; a delete that leaves
// the children to the parent, these, the node and the parent. Each is written by its _id. All queries go by the links, as those of a
// parent tree do: children and descendants by the index on them, ancestors by _id, with the limits of $graphLookup that it says.
//
// Sources: "Adjacency Lists" of https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-child-references/.
//
// It panics with a [*model.DeclarationError] when the documents don't have the
// fields, or have them with other types, and for a negative Max.
func NewChildTree[D, K any](c *model.Collection[D, K], spec ChildTreeSpec) *Tree[D, K] {
	return newTree(c, tree.Children(declaredOf(c, spec.TreeSpec), spec.Children, spec.Max))
}

// Adopt returns the change that gives documents their parent links and order keys by their lists of children, for a collection
// that has the lists alone: each node gets the one that lists it as its parent, and an order key by its place there; what no list
// names becomes a root, in the order of the order keys, and those without one after them, by _id; a document without a list gets
// an empty one. Then [Tree.Checks] find nothing but ids in lists that lead nowhere, or come twice, which their mending takes out,
// and [Convert] takes the tree to any other representation.
//
// The lists are taken for the truth, and no list is changed that is one: a node that two of them name, a cycle, and a list that is
// something else are [ErrDamaged], and nothing is written: only a person can say which is right. [Tree.CheckLists] finds them.
//
// Only documents that differ are written, each by its _id, so that it can be run again from any cut, and again while other code still
// writes lists alone. Once all writers use the tree, don't: then the links are the truth. A cut leaves some nodes with links and others
// without, and the lists as they are: run it again before anything else changes the tree.
//
// Cost: one command that reads the tree's fields of all documents, which are held in memory, some 800 bytes for each and its list; a
// command for each 25,000 documents or 16 MiB of writes; two for the lease.
//
// It is for a tree that [NewChildTree] declared; others refuse it.
func (t *Tree[D, K]) Adopt() model.Change[any] { return t.t.Adopt() }

// CheckLists returns the check of the lists: what Adopt would have to give documents, and what keeps it from doing so. Beside the
// problems that Adopt refuses, which make the check's mending fail, it finds a list that names a missing node, or a child twice, and a
// parent link that the lists contradict. Its mending is Adopt.
//
// Cost: one command, as Adopt reads.
func (t *Tree[D, K]) CheckLists() model.Check { return t.t.CheckLists() }
