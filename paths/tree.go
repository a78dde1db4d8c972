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
// [NewMaterializedPath] or [NewNestedSet]: the methods are the same. Indexes returns the
// indexes that its queries use.
//
// Reads are queries, made from a node's document. Each read is one command. Changes name
// nodes by _id. A missing node gives [model.ErrNotFound].
//
// # Changes
//
// One writer at a time changes the tree. Each change:
//
//	takes the tree's lease ([model.Lease])    1 command; 5 in the tree's first change
//	reads the nodes that it decides from      1 to 6 commands
//	stores its plan in the lock document      1 command, if there is anything to write
//	writes the nodes
//	gives the lease back                      1 command
//
// So concurrent moves can't make a cycle. Code that writes the fields of the tree without
// Tree isn't kept apart.
//
// Read and Decide of a change, called without Run, give a plan with a change number that
// isn't from the lock document. Print such a plan, but don't run it.
//
// # Consistency
//
// Readers can see a part of a change, such as some nodes of a moved subtree in the old
// place and some in the new place. Read in [Tree.Settled] to see all of a change or
// nothing. A transaction with snapshot read concern isn't enough: its snapshot can lie in
// the middle of a change, because MongoDB writes the documents of an update one by one
// (https://www.mongodb.com/docs/manual/core/write-operations-atomicity/).
//
// A writer that dies leaves a part of its plan written, and other writers wait for
// TreeSpec.For. The next change of the tree writes the rest first. Readers see the part
// until then. No crash loses a node that isn't deleted. [Tree.Load], [RollUp.Store],
// [Convert] and the repair of Checks store no plan: run them again.
//
// A write that arrives after its lease expired changes nothing, because each filter
// excludes documents that a later change wrote. There is one exception, a late insert: if
// a second writer has finished the insert and a third writer has deleted the node, the
// node is stored again. Checks finds it if it doesn't fit.
//
// On a database of [model.WithTransactions], each change is a transaction. A crash leaves
// nothing, and no reader sees a part of it. A change that writes takes one command less
// than its method says, the commit included. MongoDB ends a transaction after one minute
// by default, so change a nested set of a million nodes without transactions. The repair
// never runs in a transaction.
//
// # Checks
//
// Checks returns one check of the whole tree, which [model.Check.In] can't narrow. It
// finds orphans, cycles, siblings without an order, and fields of the representation that
// differ from the parent links. The detail of a finding contains the kind (orphan, cycle,
// order, field, same, segment, change), the field, and its present and correct values,
// got and want.
//
// Queries on the server look for wrong documents. Only if they find a document, the check
// reads the tree's fields of all documents. The kind "change" means that a node has no
// valid change number, or a greater number than the lock document, which was lost or is
// from an older backup. The next change continues above the greatest number.
//
// The repair is one change under the lease:
//
//   - Orphans become roots, after the other roots. So does the node with the least _id of
//     each cycle.
//   - Siblings without an order get order keys.
//   - Each field of the representation gets the value that the links give.
//   - A plan that another writer left, and that can't be finished, is dropped.
//
// The repair writes only documents that differ, and loses none of the user's data. It
// doesn't rename siblings that would have the same segment: the next check finds them
// again. A crash leaves some nodes repaired and some not. Some nodes can have a temporary
// path or left number, by which no query finds them. Run the repair again.
//
// The repair extends its lease. If it loses the lease, because the server couldn't be
// reached for longer than TreeSpec.For, it skips documents that others have written
// since. Then check again.
//
// Cost: five to seven commands to check a sound tree. They return one document and the
// count. If the tree is damaged, one more command reads all nodes into memory, about 800
// bytes each. The repair costs as much, plus a command per 25,000 documents or 16 MiB of
// writes, plus two for the lease.
type Tree[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	t    *tree.Tree
}

// TreeSpec names the fields and the lock document of a tree. The fields exist in each
// representation. The zero TreeSpec has the defaults.
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
// fields in doc and keeps the other fields. Errors are [model.ErrTaken] for an _id that
// exists, [model.ErrNotFound] for a missing node in at, and [ErrSegment]. A document that
// a unique index or a validator refuses is refused before anything else is written.
//
// Cost: one document. Six commands for a root or a child, seven next to a sibling. Three
// of them are for the lease. A materialized path needs one more command, to check that
// the path is free. A child tree that writes a parent, and a nested set that shifts
// numbers, need one more. The document is sent twice, and must be 64 KiB smaller than 16
// MiB, because the plan contains it.
//
// A crash leaves nothing, or a node that isn't in its parent's list yet, or nodes that
// have no left numbers to be found by: the new node and the nodes after it.
func (t *Tree[D, K]) Insert(doc D, at Place[K]) model.Change[any] {
	stored, err := t.document(doc)
	p, errAt := forest.PlaceOf(at.place, t.id)
	if err == nil {
		err = errAt
	}
	return t.t.Insert(stored, p, err)
}

// Move returns the change that moves a node, with its subtree, to a place. Errors are
// [model.ErrNotFound], [ErrCycle] and [ErrSegment]. Moving a node to where it is, or next
// to itself, writes no node.
//
// Cost: six to eight commands, up to ten for a child tree. Three of them are for the
// lease. A move to where the node is takes no command for the plan. The constructors say
// which documents are written. A move among siblings writes only the node's own document,
// except in a child tree, which also writes the list, and a nested set. A nested set with
// gaps needs up to twelve more commands where the place has no room.
//
// A crash leaves some nodes of the subtree in the old place and some in the new, except
// in a parent tree, which writes one document. In a nested set, shifted nodes aren't
// found by their numbers.
func (t *Tree[D, K]) Move(id K, to Place[K]) model.Change[any] {
	n, err := t.id(id)
	p, errTo := forest.PlaceOf(to.place, t.id)
	if err == nil {
		err = errTo
	}
	return t.t.Move(n, p, err)
}

// Delete returns the change that deletes a node. The mode decides what happens to its
// children. Errors are [model.ErrNotFound], [ErrHasChildren] and [ErrSegment].
//
// Cost, with three commands for the lease:
//
//	a node without children  6 commands, 1 document; 7 if a list or numbers change, plus these documents
//	Subtree                  6 commands, the documents of the subtree
//	Promote                  7 to 11 commands; the node and its children, or all descendants
//	                         if they contain paths or ancestors
//	Rootify                  8 to 11 commands; as Promote
//
// Restrict costs as the first line, and ends after its second read if there are children.
// A child tree also writes the parent, and needs one more command with Subtree. A nested
// set needs one or two more: see [NewNestedSet]. With Promote and Rootify, a materialized
// path needs one more command per child, to check that the new path is free.
//
// A crash leaves a part of a subtree deleted, so that some nodes have no parent. With
// Promote and Rootify it leaves children in both places, and the node deleted or not.
func (t *Tree[D, K]) Delete(id K, mode DeleteMode) model.Change[any] {
	n, err := t.id(id)
	return t.t.Delete(n, forest.Mode(mode), err)
}

// Rename returns the change that gives a node another segment, and its descendants other
// paths. Only materialized paths with a Segment have it: other trees give a
// [*model.ValueError]. Errors are [model.ErrNotFound] and [ErrSegment].
//
// Cost: seven commands, six for a root. Three of them are for the lease. One update
// writes the documents of the subtree. A crash leaves some nodes with the old path and
// some with the new.
func (t *Tree[D, K]) Rename(id K, segment string) model.Change[any] {
	n, err := t.id(id)
	return t.t.Rename(n, segment, err)
}

// Rebalance returns the change that gives a node's children, or the roots if parent is
// nil, the order keys of [Spread]. [Tree.Insert] and [Tree.Move] do this themselves when
// a key would get longer than 48 characters. A missing parent gives [model.ErrNotFound].
//
// Cost: one command to read, one to write, three for the lease, and one more if there are
// no children. Writes a document per child with a new key. A crash leaves some children
// with new keys and some with old keys, so that they may be out of order.
func (t *Tree[D, K]) Rebalance(parent *K) model.Change[any] {
	var id bson.RawValue
	var err error
	if parent != nil {
		id, err = t.id(*parent)
	}
	return t.t.Rebalance(id, err)
}

// Load returns the change that stores all nodes of a tree, in any order. Each document
// contains its parent's _id, and an order key if it has one. Siblings are sorted by their
// keys. If a sibling has no key, or keys don't increase, all siblings get new keys in the
// order of docs. The collection must not contain these nodes. Orphans, cycles and
// duplicate _ids give a [*model.ValueError], and nothing is stored.
//
// A crash leaves the first nodes in preorder. Their lists and numbers can refer to
// missing nodes. Run Load again with the same documents before anything changes the tree.
// It skips nodes that are stored already. A stored node that differs gives a duplicate
// key error.
//
// Load extends the lease while it runs. Other changes wait until it is done, or give up
// after TreeSpec.Wait. So load a tree of millions of nodes before others use it.
//
// Cost: one command per 25,000 documents or 16 MiB, and two for the lease, or six if the
// tree has no lock document. About 800 bytes of memory per node, plus its document twice.
// Load stores no plan, so it has no size limit.
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

// Drop returns the job that removes the fields of this representation, and keeps the
// parent links. Run it after [Convert], when nobody uses this representation any more: it
// doesn't take the lease. Drop the unique index on these fields first. A crash leaves the
// fields in some documents. Run the job again.
//
// Cost: two commands per batch of 500 documents, by _id, and two to find the end. Writes
// each document that has such a field.
func (t *Tree[D, K]) Drop() model.Job { return t.t.Drop() }
