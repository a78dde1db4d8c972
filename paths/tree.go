package paths

import (
	"fmt"
	"reflect"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"github.com/docmodel/docmodel/paths/internal/tree"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Tree is a tree with one document per node. One collection is one tree, with any number
// of roots. Declare it with [NewParentTree], [NewChildTree], [NewAncestorArray],
// [NewMaterializedPath] or [NewNestedSet]. Indexes returns the indexes that its queries
// use.
//
// Each query is one command, made from a node's document. Changes name nodes by _id. A
// missing node gives [model.ErrNotFound].
//
// # Changes
//
// A change has these steps. The costs of methods include them all:
//
//	take the lease, see model.Lease         1 command; 5 in the tree's first change
//	read the nodes that it depends on       1 to 6 commands
//	store the plan in the lock document     1 command, if there is anything to write
//	write the nodes
//	give the lease back                     1 command
//
// So concurrent moves can't make a cycle. Only [model.Change.Run] runs a change. A plan
// that you get by calling the change's Read and Decide is only for printing.
//
// # Consistency
//
// A reader can see a part of a change, such as a subtree in two places. [Tree.Settled]
// prevents this. A transaction with snapshot read concern doesn't
// (https://www.mongodb.com/docs/manual/core/write-operations-atomicity/).
//
// A writer that dies leaves a part of its plan, which readers see. Other writers wait for
// the duration TreeSpec.For. Then the next change writes the rest of the plan first. No
// crash loses a node that isn't deleted. [Tree.Load], [RollUp.Store], [Convert] and the
// repair store no plan: run them again.
//
// A write that arrives after its lease expired changes nothing. The exception is an
// insert. If the next change has inserted the plan's node, and a later change has deleted
// that node, the late insert stores the node again.
//
// On a database of [model.WithTransactions], each change except the repair is a
// transaction. A crash leaves nothing, and no reader sees a part. A change that writes
// needs one command less, even with the commit. MongoDB ends a transaction after one
// minute by default, so change a nested set of a million nodes without transactions.
//
// # Checks
//
// Checks returns one check of the whole tree, which [model.Check.In] can't narrow. A
// finding's Detail contains the field, got (its present value), want (its correct value),
// and the kind:
//
//   - orphan, cycle: the parent is missing, or is below the node
//   - order: the order key is missing, or a sibling has the same key
//   - field: a field differs from what the parent links give
//   - same: two nodes would have one path
//   - segment: the node has no valid segment for a path
//   - change: the change number (TreeSpec.Change) is invalid, or the lock document was
//     lost or is older than the nodes
//
// The repair is one change. It writes only documents that differ, and deletes nothing:
//
//   - Orphans, and the node with the least _id of each cycle, become roots after the
//     other roots.
//   - Siblings without an order get order keys.
//   - Each field of the representation gets the value that the links give.
//
// Siblings that would have the same segment aren't renamed: the next check finds them
// again. A plan that another writer left, and that can't be finished, is dropped. A crash
// leaves some nodes repaired, and some with a temporary path or left number, by which no
// query finds them. Run the repair again.
//
// Cost: four to seven commands for a sound tree. If a query finds a wrong document, one
// more command reads the tree's fields of all nodes into memory. The repair adds a
// command per 25,000 documents or 16 MiB of writes, and two for the lease.
type Tree[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	t    *tree.Tree
}

// TreeSpec names the fields that all kinds of trees have, and the document that locks the
// tree. A root's parent is nil, null or missing. The zero TreeSpec is for documents with
// these fields, if _id is a string:
//
//	Parent *string `bson:"parent"`
//	Order  string  `bson:"order"`
//	Change int64   `bson:"change"`
type TreeSpec struct {
	Parent string // the parent's _id, with the type of _id; null for a root; "" means "parent"
	Order  string // a string that orders siblings by its bytes, see [Between]; "" means "order"
	Change string // an int64, the number of the last change that wrote the document; "" means "change"

	Locks string        // the collection of the lock documents; "" means "docmodel.locks"
	Name  string        // the _id of the tree's lock document; "" means the collection's name
	For   time.Duration // how long a dead writer blocks others, see [model.Lease]; 0 means 5 s
	Wait  time.Duration // how long a change waits for another; 0 means 30 s, or 2 × For if longer
}

// declaredOf returns the collection, _id type and spec of a declaration.
func declaredOf[D, K any](c *model.Collection[D, K], spec TreeSpec) tree.Declared {
	return tree.Declared{Docs: c.Docs(), ID: reflect.TypeFor[K](), Spec: tree.Spec(spec)}
}

func newTree[D, K any](c *model.Collection[D, K], t *tree.Tree) *Tree[D, K] {
	return &Tree[D, K]{t.Parts(), c, t}
}

// document encodes a document of the caller as it would be stored.
func (t *Tree[D, K]) document(doc D) (bson.Raw, error) {
	w := t.docs.Insert(doc)
	if w.Err != nil {
		return nil, w.Err
	}
	return w.Model.(*mongo.InsertOneModel).Document.(bson.Raw), nil
}

// id checks and encodes an _id.
func (t *Tree[D, K]) id(id K) (bson.RawValue, error) { return t.t.RawID("_id", id) }

// node encodes a document of the caller and reads its links.
func (t *Tree[D, K]) node(doc *D) (tree.Node, error) {
	if doc == nil {
		return tree.Node{}, t.t.Refuse("document", nil, "is nil")
	}
	stored, err := t.document(*doc)
	if err != nil {
		return tree.Node{}, err
	}
	return t.t.Typed(stored)
}

// stored is node for a document from the database: it must have the representation's
// fields.
func (t *Tree[D, K]) stored(doc *D) (tree.Node, error) {
	n, err := t.node(doc)
	if err == nil {
		err = t.t.Sound(n)
	}
	return n, err
}

// Insert returns the change that stores a node at a place. It overwrites the tree's
// fields in doc. Errors are [model.ErrTaken] for an _id that exists, [model.ErrNotFound]
// if a node that the place names is missing, and [ErrSegment]. A document that a unique
// index or a validator refuses is refused before any write.
//
// Cost: six commands for a root or a child, seven next to a sibling. One more for a
// materialized path, if a [NewChildTree] writes the parent's list, or if a nested set
// shifts numbers. One document is written, and that parent or the shifted nodes. The
// document is sent twice, and must be 64 KiB smaller than 16 MiB.
//
// A crash leaves nothing, or a node that isn't in its parent's list until the next change
// of the tree. In a nested set, the node and the nodes after it may not be found by their
// numbers.
func (t *Tree[D, K]) Insert(doc D, place Place[K]) model.Change[any] {
	stored, err := t.document(doc)
	p, errAt := forest.PlaceOf(place.place, t.id)
	if err == nil {
		err = errAt
	}
	return t.t.Insert(stored, p, err)
}

// Move returns the change that moves a node, with its subtree, to a place. Errors are
// [model.ErrNotFound], [ErrCycle] and [ErrSegment]. Moving a node to where it is, or next
// to itself, writes no node.
//
// Cost: six to eight commands, up to ten for a child tree. A nested set with gaps needs
// up to twelve more where the place has no room. The constructors say which documents are
// written. A move among siblings writes the node. In a child tree it also writes the
// parent's list, and in a nested set the nodes whose numbers shift.
//
// A crash leaves, until the next change of the tree, some nodes of the subtree in the old
// place and some in the new. Until then, queries of a nested set miss nodes whose
// numbers were shifted. A parent tree writes one document, so nothing is left.
func (t *Tree[D, K]) Move(id K, place Place[K]) model.Change[any] {
	n, err := t.id(id)
	p, errTo := forest.PlaceOf(place.place, t.id)
	if err == nil {
		err = errTo
	}
	return t.t.Move(n, p, err)
}

// Delete returns the change that deletes a node. If the node has children, see
// [DeleteMode]: [Restrict] gives [ErrHasChildren]. Other errors are [model.ErrNotFound]
// and [ErrSegment].
//
// Cost:
//
//	no children  6 commands, 1 document
//	Subtree      6 commands, the documents of the subtree
//	Promote      7 to 11 commands; the node and its children, or all descendants if they
//	             contain paths or ancestors
//	Rootify      8 to 11 commands; the documents of Promote
//
// Without children and with Subtree, a child tree needs one more command, and a dense
// nested set one or two more. With Promote and Rootify, a materialized path needs one
// more per child.
//
// Until the next change of the tree, a crash leaves a part of a subtree deleted, and some
// nodes without a parent. With Promote and Rootify, some children are in the old place
// and some in the new, and the node can be deleted.
func (t *Tree[D, K]) Delete(id K, mode DeleteMode) model.Change[any] {
	n, err := t.id(id)
	return t.t.Delete(n, forest.Mode(mode), err)
}

// Rename returns the change that gives a node another segment, and its descendants other
// paths. Only trees of [NewMaterializedPath] with a Segment can rename. Other trees give
// a [*model.ValueError]. Errors are [model.ErrNotFound] and [ErrSegment].
//
// Cost: seven commands; for a root, six. One update writes the documents of the subtree.
// A crash leaves, until the next change of the tree, some nodes with the old path and
// some with the new.
func (t *Tree[D, K]) Rename(id K, segment string) model.Change[any] {
	n, err := t.id(id)
	return t.t.Rename(n, segment, err)
}

// Rebalance returns the change that gives siblings new, short order keys ([Spread]).
// parent is the _id of the siblings' parent, or nil for the roots. [Tree.Insert] and
// [Tree.Move] rebalance by themselves when a key would be longer than 48 characters. A
// missing parent gives [model.ErrNotFound].
//
// Cost: five commands; if there are no children, six. It writes each child whose key
// changes. A crash leaves, until the next change of the tree, some children with new keys
// and some with old, perhaps out of order.
func (t *Tree[D, K]) Rebalance(parent *K) model.Change[any] {
	var id bson.RawValue
	var err error
	if parent != nil {
		id, err = t.id(*parent)
	}
	return t.t.Rebalance(id, err)
}

// Load returns the change that stores all nodes of a tree. Each document contains its
// parent's _id. The documents can have any order: siblings are sorted by their order
// keys, then by their order in docs. If a key is missing or repeated, all siblings get
// new keys. Orphans, cycles and repeated _ids give a [*model.ValueError], and nothing is
// stored.
//
// A crash leaves the first nodes in preorder. Their lists of children, or their numbers
// in a nested set, can refer to missing nodes. Run Load again with the same documents
// before anything changes the tree. Load skips stored nodes that are equal. A stored node
// that differs gives a duplicate key error.
//
// Cost: one command per 25,000 documents or 16 MiB, and two for the lease; six for the
// lease if the tree has no lock document yet. It needs memory for the tree's fields of
// all nodes, and for each document twice.
func (t *Tree[D, K]) Load(docs []D) model.Change[any] {
	nodes, err := t.nodes(docs)
	return t.t.Load(nodes, err)
}

// nodes encodes documents of the caller and reads their links.
func (t *Tree[D, K]) nodes(docs []D) ([]tree.Node, error) {
	nodes := make([]tree.Node, len(docs))
	for i := range docs {
		n, err := t.node(&docs[i])
		if err != nil {
			return nil, fmt.Errorf("docmodel: document %d: %w", i, err)
		}
		nodes[i] = n
	}
	return nodes, nil
}

// Drop returns the job that removes the fields of this representation, such as paths,
// from all nodes, and keeps the parent links. Run it after [Convert], when nobody uses
// this representation: the job takes no lease. First delete the unique index on the
// fields. A crash leaves the fields in some documents. Run the job again. A parent tree
// has no fields to remove, and gives a [*model.ValueError].
//
// Cost: two commands per batch of 500 documents, by _id, and two to find the end.
func (t *Tree[D, K]) Drop() model.Job { return t.t.Drop() }
