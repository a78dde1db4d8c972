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

// Tree is a tree in a collection, with one document per node. Declare it with
// [NewParentTree], [NewChildTree], [NewAncestorArray], [NewMaterializedPath] or
// [NewNestedSet].
//
// Queries take a node's document, and cost one command. Changes take a node's _id. A
// missing node gives [model.ErrNotFound].
//
// # Changes
//
// Run changes only by [model.Change.Run]. A [model.Lease] (a lock that expires) admits
// one writer at a time. The costs of methods include all steps:
//
//	take the lease                          1 command; 5 in the tree's first change
//	read nodes                              mostly 1 to 6 commands
//	store the plan in the lock document     1 command, if there is anything to write
//	write nodes
//	give the lease back                     1 command
//
// # Consistency
//
// Readers can see a part of a change, unless they use [Tree.Settled]. After a crash, the
// tree's next change waits up to TreeSpec.For, and first finishes the crashed change.
//
// With [model.WithTransactions], a crash leaves nothing, and readers see no parts.
// [Tree.Load], [Tree.Adopt], [RollUp.Store], [Convert] and repairs by [Tree].Checks never
// run in a transaction. If one of them crashes, run it again.
//
// # Indexes and checks
//
// Indexes returns the indexes of the tree's queries.
//
// Checks returns one check. A finding's Detail has the fields field, got (stored), want
// (correct) and kind. The kinds are:
//
//   - orphan: the parent is missing
//   - cycle: the node is its own ancestor
//   - order: the order key is missing or repeated
//   - field: a field contradicts the parent links
//   - same: two nodes would have the same path
//   - segment: the node's segment can't be in a path
//   - change: the number in TreeSpec.Change is invalid or too high
//
// The repair trusts the parent links, and deletes no nodes. Orphans, and one node of each
// cycle, become the last roots. Correct the kinds same and segment yourself. After a
// crash of the repair, queries can miss nodes.
//
// Cost: four to seven commands. For a damaged tree, one command reads all nodes into
// memory. The repair adds two commands, and one per 25,000 documents or 16 MiB.
type Tree[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	t    *tree.Tree
}

// TreeSpec names the fields and the lock document of a tree. The lock document admits one
// writer at a time.
//
// A root's parent is nil, null or missing. If _id is a string, the zero TreeSpec fits
// these fields:
//
//	Parent *string `bson:"parent"`
//	Order  string  `bson:"order"`
//	Change int64   `bson:"change"`
type TreeSpec struct {
	Parent string // field for the parent's _id; "" means "parent"
	Order  string // field for the order key ([Between]); "" means "order"
	Change string // field for the [model.Fence] number; "" means "change"

	Locks string        // collection of lock documents; "" means "docmodel.locks"
	Name  string        // the lock document's _id; "" means the collection's name
	For   time.Duration // how long a crashed writer keeps the lock; 0 means 5 s
	Wait  time.Duration // maximum wait for the lock; 0 means 2 × For, at least 30 s
}

// declaredOf returns the collection, _id type and spec of a declaration.
func declaredOf[D, K any](c *model.Collection[D, K], spec TreeSpec) tree.Declared {
	return tree.Declared{Docs: c.Docs(), ID: reflect.TypeFor[K](), Spec: tree.Spec(spec)}
}

func newTree[D, K any](c *model.Collection[D, K], t *tree.Tree) *Tree[D, K] {
	return &Tree[D, K]{t.MakeParts(), c, t}
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
	return t.t.ReadTypedNode(stored)
}

// stored is node for a document from the database: it must have the representation's
// fields.
func (t *Tree[D, K]) stored(doc *D) (tree.Node, error) {
	n, err := t.node(doc)
	if err == nil {
		err = t.t.CheckStored(n)
	}
	return n, err
}

// Insert returns the change that stores a node at a place. The change overwrites the
// tree's fields in doc. Errors are [model.ErrTaken], [model.ErrNotFound], [ErrSegment],
// and for child trees [model.ErrFull]. A node that a [model.Scope] hides keeps its _id:
// the error is ErrTaken too. A place before a sibling without an order key gives
// [ErrDamaged].
//
// After a crash, the tree's next change finishes the insert: see [Tree].
//
// Cost: six to eight commands. The change writes one document, in a child tree two
// documents. Rebalancing adds up to two commands, and writes siblings. A nested set can
// write other nodes, and can need up to twelve more commands: see [NewNestedSet].
func (t *Tree[D, K]) Insert(doc D, place Place[K]) model.Change {
	stored, err := t.document(doc)
	p, errAt := forest.ConvertPlace(place.place, t.id)
	if err == nil {
		err = errAt
	}
	if err != nil {
		return t.t.RefuseChange(err)
	}
	return t.t.InsertNode(stored, p)
}

// Move returns the change that moves a node and its subtree to a place. Errors are
// [model.ErrNotFound], [model.ErrFull] (only of [NewChildTree]), [ErrCycle] and
// [ErrSegment]. A place before a sibling without an order key gives [ErrDamaged].
//
// A crash can leave nodes in the old place. The tree's next change moves these nodes: see
// [Tree].
//
// Cost: six to eight commands, or up to ten in a tree of [NewChildTree]. A tree of
// [NewNestedSet] can need up to twelve more commands. For the written documents, see the
// tree's constructor.
func (t *Tree[D, K]) Move(id K, place Place[K]) model.Change {
	n, err := t.id(id)
	p, errTo := forest.ConvertPlace(place.place, t.id)
	if err == nil {
		err = errTo
	}
	if err != nil {
		return t.t.RefuseChange(err)
	}
	return t.t.MoveNode(n, p)
}

// Delete returns the change that deletes a node. [DeleteMode] decides what happens to the
// node's children. Errors are [model.ErrNotFound], [ErrHasChildren] with [Restrict],
// [ErrSegment], and for child trees [model.ErrFull].
//
// After a crash, the tree's next change finishes the deletion: see [Tree].
//
// Cost:
//
//	no children  6 or 7 commands; 1 document (in a child tree, 2 documents)
//	Subtree      6 or 7 commands; the documents of the subtree
//	Promote      7 to 11 commands; the node and its children, or all descendants if nodes
//	             contain paths or ancestors
//	Rootify      8 to 11 commands; the same documents as for Promote
//
// With Promote and Rootify, a materialized path costs one more command per child.
func (t *Tree[D, K]) Delete(id K, mode DeleteMode) model.Change {
	n, err := t.id(id)
	if err != nil {
		return t.t.RefuseChange(err)
	}
	return t.t.DeleteNode(n, forest.Mode(mode))
}

// Rename returns the change that gives a node another segment, and updates the subtree's
// paths. The tree must be a [NewMaterializedPath] with MaterializedPathSpec.Segment.
// Errors are [model.ErrNotFound] and [ErrSegment].
//
// A crash can leave old paths. The tree's next change corrects old paths: see [Tree].
//
// Cost: seven commands, or six for a root. One update writes the whole subtree.
func (t *Tree[D, K]) Rename(id K, segment string) model.Change {
	n, err := t.id(id)
	if err != nil {
		return t.t.RefuseChange(err)
	}
	return t.t.RenameNode(n, segment)
}

// Rebalance returns the change that gives the children of a parent new, short order keys
// ([Spread]). A nil parent means the roots. [Tree.Insert] and [Tree.Move] rebalance
// children if necessary. A missing parent gives [model.ErrNotFound].
//
// After a crash, the tree's next change writes the remaining keys: see [Tree].
//
// Cost: five commands. The change writes each child whose key changes.
func (t *Tree[D, K]) Rebalance(parent *K) model.Change {
	var id bson.RawValue
	var err error
	if parent != nil {
		id, err = t.id(*parent)
	}
	if err != nil {
		return t.t.RefuseChange(err)
	}
	return t.t.RebalanceChildren(id)
}

// Load returns the change that stores all nodes of a tree. Pass the documents in any
// order, each with its parent's _id. Siblings with equal order keys keep their order in
// docs. Orphans, cycles and repeated _ids give a [*model.ValueError].
//
// After a crash, run Load again with the same documents, before anything changes the
// tree. If another document has a node's _id, the error is [model.ErrTaken].
//
// Cost: one command per 25,000 documents or 16 MiB, and two for the tree's [model.Lease]
// (six in a new tree).
func (t *Tree[D, K]) Load(docs []D) model.Change {
	nodes, err := t.nodes(docs)
	if err != nil {
		return t.t.RefuseChange(err)
	}
	return t.t.LoadNodes(nodes)
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

// Drop returns the job that removes the tree's own fields, such as materialized paths,
// from all nodes. Parent links stay. After a crash, run the job again.
//
// Use Drop for the source tree of [Convert], with Convert's target. First wait until no
// client uses the source tree. If the two trees have the same fields, the job returns a
// [*model.ValueError], because the target needs the fields.
//
// Cost: two commands per batch of 500 documents, and two at the end.
func (t *Tree[D, K]) Drop(target *Tree[D, K]) model.Job {
	mustHave("Drop", target != nil)
	return t.t.DropFields(target.t)
}
