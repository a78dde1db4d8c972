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

// Tree is a tree in a collection, with one document per node. It can have several roots.
// Declare it with [NewParentTree], [NewChildTree], [NewAncestorArray],
// [NewMaterializedPath] or [NewNestedSet].
//
// A query takes a node's document, and is one command. Changes name nodes by _id. A
// missing node gives [model.ErrNotFound]. Indexes returns the indexes that the queries
// use.
//
// # Changes
//
// A change has these steps. The costs of methods include them all:
//
//	take the lease, see model.Lease         1 command; 5 in the tree's first change
//	read the nodes that it depends on       mostly 1 to 6 commands
//	store the plan in the lock document     1 command, if there is anything to write
//	write the nodes
//	give the lease back                     1 command
//
// The lease admits one writer at a time. Run changes only by [model.Change.Run].
//
// # Consistency
//
// A reader can see a part of a change, such as a subtree in two places. [Tree.Settled]
// prevents this.
//
// A writer that dies leaves a part of its change. The next change waits up to
// TreeSpec.For, and first finishes the dead writer's change. On a database of
// [model.WithTransactions], changes run as transactions: a crash leaves nothing, and
// readers see no part.
//
// [Tree.Load], [Tree.Adopt], [RollUp.Store], [Convert] and the repair always run without
// a transaction. After a crash, run the same operation again.
//
// # Checks
//
// Checks returns one check of the whole tree. A finding's Detail contains the field, got
// (its present value), want (its correct value), and the kind:
//
//   - orphan, cycle: the parent is missing, or below the node
//   - order: the order key is missing or repeated
//   - field: a field contradicts the parent links
//   - same: two nodes would have one path
//   - segment: a path can't contain the node's segment
//   - change: the field TreeSpec.Change is invalid, or above the lock document's number
//
// The repair trusts the parent links. It deletes no node. Correct the kinds same and
// segment yourself. Orphans, and one node of each cycle, become the last roots. If the
// repair crashes, queries can miss nodes until you run it again.
//
// Cost: four to seven commands for a sound tree. For a damaged tree, one of the commands
// reads the tree's fields of all nodes into memory. The repair adds a command per 25,000
// documents or 16 MiB, and two for the lease.
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
// fields in doc. Errors are [model.ErrTaken], [ErrSegment], and [model.ErrNotFound] if
// place names a missing node.
//
// A crash leaves a part of the change until the tree's next change: see [Tree].
//
// Cost: six commands for a root or a child, seven next to a sibling. Some trees need one
// more. The change writes one document. A tree of [NewChildTree] also writes the parent.
// A tree of [NewNestedSet] also writes the shifted nodes. A full gap costs up to twelve
// more commands.
func (t *Tree[D, K]) Insert(doc D, place Place[K]) model.Change[any] {
	stored, err := t.document(doc)
	p, errAt := forest.PlaceOf(place.place, t.id)
	if err == nil {
		err = errAt
	}
	return t.t.Insert(stored, p, err)
}

// Move returns the change that moves a node, with its subtree, to a place. Errors are
// [model.ErrNotFound], [ErrCycle] and [ErrSegment].
//
// A crash leaves some nodes in the old place until the tree's next change: see [Tree].
//
// Cost: six to eight commands. A tree of [NewChildTree] needs up to ten commands. A
// nested set with gaps, but without room at the place, needs up to twelve more commands.
// The tree's constructor says which documents a move writes.
func (t *Tree[D, K]) Move(id K, place Place[K]) model.Change[any] {
	n, err := t.id(id)
	p, errTo := forest.PlaceOf(place.place, t.id)
	if err == nil {
		err = errTo
	}
	return t.t.Move(n, p, err)
}

// Delete returns the change that deletes a node. For the node's children, see
// [DeleteMode]. With [Restrict], a node with children gives [ErrHasChildren]. Other
// errors are [model.ErrNotFound] and [ErrSegment].
//
// After a crash, the tree's next change finishes the deletion: see [Tree].
//
// Cost:
//
//	no children  6 commands, 1 document
//	Subtree      6 commands, the documents of the subtree
//	Promote      7 to 11 commands; the node and its children, or all descendants if they
//	             contain paths or ancestors
//	Rootify      8 to 11 commands; the same documents as for Promote
//
// With Promote and Rootify, a materialized path needs one more command per child. In the
// first two rows, a child tree or a nested set without gaps can need one more command.
func (t *Tree[D, K]) Delete(id K, mode DeleteMode) model.Change[any] {
	n, err := t.id(id)
	return t.t.Delete(n, forest.Mode(mode), err)
}

// Rename returns the change that gives a node another segment, and updates the subtree's
// paths. The tree must be a [NewMaterializedPath] with Segment. Errors are
// [model.ErrNotFound] and [ErrSegment].
//
// After a crash, some paths are old. The tree's next change repairs them: see [Tree].
//
// Cost: seven commands, or six for a root. One update writes the whole subtree.
func (t *Tree[D, K]) Rename(id K, segment string) model.Change[any] {
	n, err := t.id(id)
	return t.t.Rename(n, segment, err)
}

// Rebalance returns the change that gives siblings new, short order keys ([Spread]).
// parent is the _id of their parent, or nil for the roots. [Tree.Insert] and [Tree.Move]
// do this themselves if necessary. A missing parent gives [model.ErrNotFound].
//
// A crash leaves some old keys until the tree's next change: see [Tree].
//
// Cost: five commands, fewer if no key changes. It writes each child whose key
// changes.
func (t *Tree[D, K]) Rebalance(parent *K) model.Change[any] {
	var id bson.RawValue
	var err error
	if parent != nil {
		id, err = t.id(*parent)
	}
	return t.t.Rebalance(id, err)
}

// Load returns the change that stores all nodes of a tree, in any order. Each document
// contains its parent's _id. Siblings are sorted by order key, then by their order in
// docs. Orphans, cycles and repeated _ids give a [*model.ValueError].
//
// After a crash, run Load again with the same documents, before anything changes the
// tree. Load skips equal stored nodes. A different one gives a duplicate key error.
//
// Cost: one command per 25,000 documents or 16 MiB. The lease ([model.Lease]) costs two
// more commands, or six in a new tree.
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

// Drop returns the job that removes this tree's own fields from all nodes, for example
// materialized paths. Parent links stay.
//
// After [Convert], wait until no client uses this tree. Delete the tree's unique index,
// if any. Then run the job. After a crash, run the job again.
//
// Cost: two commands per batch of 500 documents, by _id, and two commands at the end.
func (t *Tree[D, K]) Drop() model.Job { return t.t.Drop() }
