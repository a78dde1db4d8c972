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

// Tree is a tree of documents, with the same operations however it is stored: it reads what an operation needs, decides, and runs.
// Declare it in a representation: [NewParentTree], [NewChildTree], [NewAncestorArray], [NewMaterializedPath], [NewNestedSet].
//
// Changes are made by one writer at a time: each holds the tree's lease ([model.Lease]) from before it reads until its plan was
// run, and leaves its plan there for the next writer to finish if it dies. So concurrent moves can't make a cycle, and a tree is
// whole again after the next change. Whoever reads while a change is written may see a part of it: a subtree of which some nodes
// are in the old place and some in the new. Where that matters, read in [Tree.Settled]: a transaction with snapshot isolation
// reads one moment, but that can be one in the middle of a change, for MongoDB writes the documents of an update one by one
// (https://www.mongodb.com/docs/manual/core/write-operations-atomicity/).
//
// A writer that dies leaves what its plan has written until then, and keeps others waiting for TreeSpec.For, five seconds unless
// the spec says otherwise. The next change of the tree, whatever it is, writes the rest first; no cut loses a node that isn't
// deleted. What readers see meanwhile is what they see of a change that is being written, for as long as nobody changes the tree.
// [Tree.Load], the mending of [Tree.Checks], [RollUp.Store] and [Convert] leave no plan: they are run again.
//
// A write that arrives after its lease ran out changes nothing: each write asks that no later change has written its document, and
// the next writer has finished the plan before it read. The one exception is a node that is inserted so late that another writer
// has finished the insert and a third one has deleted the node: it is stored again. [Tree.Checks] find it where it doesn't fit.
//
// On the database of [model.WithTransactions] a change is a transaction. A cut leaves nothing, and nobody sees a part of it. It takes
// one command less than its method says, the commit included, where it writes. MongoDB ends a transaction after a minute, unless it
// is told otherwise: change a nested set of a million nodes on the plain database. Mending runs as it does without transactions.
//
// Reads are values, made from a node's document as it was read, and all are one command. Those that change return a [model.Change],
// which names nodes by their _ids: one that isn't there is [model.ErrNotFound]. A change's Read and Decide, called without its Run,
// tell the plan of the change, with a number that no lock document gave: print that plan, and don't run it.
//
// Indexes returns what the queries of the tree use.
//
// Checks returns one check of the whole tree. It finds orphans, cycles, siblings without an order, and every field of the
// representation that isn't what the parent links of all nodes make of it. A detail says the kind of the problem (orphan,
// cycle, order, field, same, segment, change), the field, and what the node has and is to have.
//
// Queries on the server look for documents that can't be right. Only when one of them finds a document, the tree's fields of
// all documents are read, to say what is wrong and what mends it. Two more queries compare the greatest number of a change
// with the lock document: the problem is "change" when the lock document was lost, or comes from an older backup. That
// number stops no change: the next one goes on above the nodes' numbers.
//
// Mending is one change under the lease. Orphans, and of each cycle the node with the least _id in the server's order, become
// roots after the others. Siblings without an order get one, and each field of the representation becomes what the links say.
// Only documents that differ are written, and no data of the user's is lost or deleted. Siblings that must have the same
// segment are not renamed: the next check finds them still. A plan that another writer left and that can't be finished is
// dropped. Mending can be run again from any cut: a cut leaves some nodes mended and others not, and some parked, with a path
// or left number by which nobody finds them. Until it is run again the tree is as damaged as before.
//
// The lease is extended while the tree is mended. Should it be lost all the same, because the server couldn't be reached for
// longer than TreeSpec.For, the mending passes over what others have written since it read: check again then.
//
// Cost: to check a sound tree, five to seven commands, which send one document and the count. Of a damaged tree one command
// reads all nodes into memory, some 800 bytes each. Mending costs as much, a command for each 25,000 documents or 16 MiB of
// writes, and two for the lease. The check of a tree can't be narrowed by [model.Check.In].
type Tree[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	t    *tree.Tree
}

// TreeSpec says in which fields the documents of a tree hold what ties them together, and how its changes are kept apart. All
// representations have these fields, beside their own. The zero TreeSpec has the defaults.
type TreeSpec struct {
	Parent string // the _id of the parent, of the _id's type, or null for a root; "" means "parent"
	Order  string // a string, by whose bytes siblings are ordered: see [Between]; "" means "order"
	Change string // an int64, the number of the change that wrote the document last; "" means "change"

	Locks string        // the collection of the lock documents; "" means "docmodel.locks"
	Name  string        // the tree's lock document; "" means the name of the nodes' collection
	For   time.Duration // how long a writer that died keeps others waiting: see [model.Lease]; 0 means 5 s
	Wait  time.Duration // how long a change waits for another; 0 means 30 s, or twice For if that is longer
}

// declaredOf is what a tree is declared of.
func declaredOf[D, K any](c *model.Collection[D, K], spec TreeSpec) tree.Declared {
	return tree.Declared{Docs: c.Docs(), ID: reflect.TypeFor[K](), Spec: tree.Spec(spec)}
}

func newTree[D, K any](c *model.Collection[D, K], t *tree.Tree) *Tree[D, K] {
	return &Tree[D, K]{t.Parts(), c, t}
}

// document is a document of the caller's as it would be stored.
func (t *Tree[D, K]) document(doc D) (bson.Raw, error) {
	w := t.docs.Insert(doc)
	if w.Err != nil {
		return nil, w.Err
	}
	return w.Model.(*mongo.InsertOneModel).Document.(bson.Raw), nil
}

// id checks and encodes an _id.
func (t *Tree[D, K]) id(id K) (bson.RawValue, error) { return t.t.RawID("_id", id) }

// node reads a document of the caller's.
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

// stored reads a document that the caller read.
func (t *Tree[D, K]) stored(doc *D) (tree.Node, error) {
	n, err := t.node(doc)
	if err == nil {
		err = t.t.Sound(n)
	}
	return n, err
}

// Insert returns the change that stores a node at a place. The fields of the tree in doc are overwritten; its others are kept. Its
// errors are [model.ErrTaken], [model.ErrNotFound] and [ErrSegment].
//
// Cost: one document; six commands for a root or a child, three of them for the lease (seven in a tree's first change), and seven
// beside a node. A materialized path asks in one more whether the path is free. Where other documents are written too, which
// are the parent of a child tree and what a nested set says, it takes one more. The document is sent twice, for the lease keeps
// the plan: it must leave 64 KiB of 16 MiB for that.
//
// A cut leaves nothing, or a node that is in no list yet, or that has, with what comes after it, no numbers to be found by.
//
// A document that the server refuses, for a unique index or a validator of yours, is refused before anything else is written.
func (t *Tree[D, K]) Insert(doc D, at Place[K]) model.Change[any] {
	stored, err := t.document(doc)
	p, errAt := forest.PlaceOf(at.place, t.id)
	if err == nil {
		err = errAt
	}
	return t.t.Insert(stored, p, err)
}

// Move returns the change that takes a node, with all below it, to a place. Its errors are [model.ErrNotFound], [ErrCycle] and
// [ErrSegment]. Moving a node next to itself, or to where it is, is a no-op that writes no node.
//
// Cost: six to eight commands, for a child tree up to ten, three of them for the lease; the documents are those of the
// representation. Among its siblings a node is moved by its order key: that writes its own document alone, but for a child tree, whose
// list is written too, and what a nested set says. A nested set with gaps takes up to twelve commands more, which read the numbers
// around the place, where these leave no room. Where nothing is to be moved, it takes no command for an intent.
//
// A cut leaves some nodes of the subtree in the old place and some in the new, but for a parent tree, which writes one document; of a
// nested set, those that are shifted are not found by their numbers.
func (t *Tree[D, K]) Move(id K, to Place[K]) model.Change[any] {
	n, err := t.id(id)
	p, errTo := forest.PlaceOf(to.place, t.id)
	if err == nil {
		err = errTo
	}
	return t.t.Move(n, p, err)
}

// Delete returns the change that deletes a node; the mode says what becomes of its children. Its errors are [model.ErrNotFound],
// [ErrHasChildren] and [ErrSegment].
//
// Cost, three commands for the lease included:
//
//	a node without children  6 commands and 1 document; where a list or numbers change with it, 7, and these documents
//	Subtree                  6 commands; all of the subtree, by one command
//	Promote                  7 to 11 commands; the node, and its children or, where they hold paths or ancestors, all below it
//	Rootify                  8 to 11 commands; as Promote
//
// Restrict is the first, whatever the node has below it: with children it ends after the second read. A child tree writes the parent
// too, for a subtree by one command more, and a nested set what it says there, by one or two more. With Promote and Rootify, a
// materialized path asks for each child, in one more command, whether its new path is free.
//
// A cut leaves some of a subtree deleted, so that others have no parent; or children in both places, and the node gone or not.
func (t *Tree[D, K]) Delete(id K, mode DeleteMode) model.Change[any] {
	n, err := t.id(id)
	return t.t.Delete(n, forest.Mode(mode), err)
}

// Rename returns the change that gives a node another segment, and with it all below it other paths. It is for a materialized path
// with a Segment; others refuse it. Its errors are [model.ErrNotFound] and [ErrSegment].
//
// A cut leaves some nodes below the old path and some below the new, until the next change of the tree finishes it.
//
// Cost: seven commands, six for a root, three of them for the lease and the intent; the documents of the subtree, by one update.
func (t *Tree[D, K]) Rename(id K, segment string) model.Change[any] {
	n, err := t.id(id)
	return t.t.Rename(n, segment, err)
}

// Rebalance returns the change that gives a node's children new order keys, those of [Spread], or the roots for nil.
// [Tree.Insert] and [Tree.Move] do it by themselves where a key would come to have more than 48 characters. Its error is
// [model.ErrNotFound].
//
// A cut leaves some children with new keys and others with those of before, so that they may be out of order, until the next change
// of the tree finishes it.
//
// Cost: a command to read and one to write, a document for each child whose key changes, and three for the lease and the intent. A
// node without children takes one more command, which asks for the node.
func (t *Tree[D, K]) Rebalance(parent *K) model.Change[any] {
	var id bson.RawValue
	var err error
	if parent != nil {
		id, err = t.id(*parent)
	}
	return t.t.Rebalance(id, err)
}

// Load returns the change that stores the nodes of a whole tree, in any order of them: each names its parent, and its order key if it
// has one. Siblings come in the order of their keys, or as they are listed; where one has none, all of them get new ones. The
// collection must be empty of them. Orphans, cycles and second nodes of one _id refuse all.
//
// A cut leaves the first nodes in preorder, each below its parent, with lists and numbers that refer to missing nodes. Run it again,
// with the same documents, before the tree is changed: what is stored as it is to be is passed over, and what differs is refused as a
// second node of its _id. The plan may be of any size, and is not left for the next writer.
//
// Cost: a command for each 25,000 documents or 16 MiB, and two commands for the lease, six where nobody took it before; some 800 bytes
// of memory for each node, and its document twice.
//
// The lease is extended while it runs: other changes wait until all is stored, or their TreeSpec.Wait is over. Load a tree of
// millions of nodes before others know it.
func (t *Tree[D, K]) Load(docs []D) model.Change[any] {
	nodes, err := t.nodes(docs)
	return t.t.Load(nodes, err)
}

// nodes reads documents of the caller's.
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

// Drop returns the job that takes away the fields that this representation keeps beside the links, once all have gone over to
// another. A unique index on them must be dropped before.
//
// A cut leaves the fields in what it hasn't come to; the links stay as they are. It can be stopped and run again. The tree's
// lease isn't taken: nobody may use the representation any more.
//
// Cost: two commands for each batch of 500 documents, by _id, and two to find the end; each document that has such a field is written.
func (t *Tree[D, K]) Drop() model.Job { return t.t.Drop() }
