package paths

import (
	"context"
	"iter"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Tree is a tree of documents, with the same operations however it is stored: it reads what an operation needs, decides, and runs.
// Get it from a representation: [ParentTree], [ChildTree], [AncestorArray], [MaterializedPath], [NestedSet].
//
// Changes are made by one writer at a time: each holds the tree's lease ([model.Lease]) from before it reads until its plan was run,
// and leaves its plan there for the next writer to finish if it dies. So concurrent moves can't make a cycle, and a tree is whole
// again after the next change. Whoever reads while a change is written may see a part of it: a subtree of which some nodes are in
// the old place and some in the new. Where that matters, read in [Tree.Settled]: a transaction with snapshot isolation reads one moment,
// but that can be one in the middle of a change, for MongoDB writes the documents of an update one by one
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
// The methods that read run their queries at once, and say how many, for most begin with a node that is read first, from which the
// query of the rest is made; a representation's own methods return that query as a value, from a node that the caller has. A node that
// isn't there is [ErrNoNode]. Those that change return a [model.Change] to be run.
type Tree[D, K any] struct {
	docs  *model.Collection[D, K]
	t     *tree
	lease *model.Lease
}

// TreeSpec says how the changes of a tree are kept apart.
type TreeSpec struct {
	Locks string        // the collection of the lock documents; "" means "docmodel.locks"
	Name  string        // the tree's lock document; "" means the name of the nodes' collection
	For   time.Duration // how long a writer that died keeps others waiting: see [model.Lease]; 0 means 5 s
	Wait  time.Duration // how long a change waits for another; 0 means 30 s, or twice For if that is longer
}

// Tree returns the tree's operations.
func (p planner[D, K]) Tree(s TreeSpec) *Tree[D, K] {
	if s.Locks == "" {
		s.Locks = "docmodel.locks"
	}
	if s.Name == "" {
		s.Name = p.t.docs
	}
	lease := &model.Lease{Collection: s.Locks, ID: s.Name, For: s.For, Wait: s.Wait, Begin: p.t.begin}
	return &Tree[D, K]{p.docs, p.t, lease}
}

// Indexes returns what the queries of the tree use.
func (t *Tree[D, K]) Indexes() []model.Index { return t.t.indexes }

// Relations returns the link from a node to its parent.
func (t *Tree[D, K]) Relations() []model.Relation { return t.t.relations() }

// id checks and encodes an _id.
func (t *Tree[D, K]) id(id K) (bson.RawValue, error) {
	return planner[D, K]{t.docs, t.t}.id(id)
}

func (t *Tree[D, K]) place(at Place[K]) (place, error) {
	if at.at.root() {
		return place{at: at.at}, nil
	}
	ref, err := t.id(at.ref)
	return place{at.at, ref}, err
}

// decode decodes nodes.
func (t *Tree[D, K]) decode(nodes []node, err error) ([]D, error) {
	if err != nil {
		return nil, err
	}
	out := make([]D, len(nodes))
	for i, n := range nodes {
		if err := t.docs.Decode(n.raw, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Insert returns the change that stores a node at a place. The fields of the tree in doc are overwritten; its others are kept. Its
// errors are [ErrExists], [ErrNoNode] and [ErrSegment].
//
// Cost: one document; six commands for a root, three of them for the lease (seven in a tree's first change), seven for a child and
// eight beside one. A [MaterializedPath] asks in one more whether the path is free. Where other documents are written too, which
// are the parent of a [ChildTree] and what a [NestedSet] says, it takes one more. The document is sent twice, for the lease keeps
// the plan: it must leave 64 KiB of 16 MiB for that.
//
// A cut leaves nothing, or a node that is in no list yet, or that has, with what comes after it, no numbers to be found by.
//
// A document that the server refuses, for a unique index or a validator of yours, is refused before anything else is written.
func (t *Tree[D, K]) Insert(doc D, at Place[K]) model.Change[State] {
	w := t.docs.Insert(doc)
	if w.Err != nil {
		return model.Change[State]{Err: w.Err}
	}
	p, err := t.place(at)
	c := t.t.insertion(t.lease, inserted(w), p)
	c.Err = err
	return c
}

// Move returns the change that takes a node, with all below it, to a place. Its errors are [ErrNoNode], [ErrCycle] and
// [ErrSegment]. Moving a node next to itself, or to where it is, is a no-op that writes no node.
//
// Cost: six to nine commands, for a [ChildTree] up to eleven, three of them for the lease; the documents are those of the
// representation. Among its siblings a node is moved by its order key: that writes its own document alone, but for a ChildTree, whose
// list is written too, and what a [NestedSet] says. A NestedSet with gaps takes up to twelve commands more, which read the numbers
// around the place, where these leave no room. Where nothing is to be moved, it takes no command for an intent.
//
// A cut leaves some nodes of the subtree in the old place and some in the new, but for a [ParentTree], which writes one document; of a
// [NestedSet], those that are shifted are not found by their numbers.
func (t *Tree[D, K]) Move(id K, to Place[K]) model.Change[State] {
	n, err := t.id(id)
	p, errTo := t.place(to)
	if err == nil {
		err = errTo
	}
	c := t.t.moving(t.lease, n, p)
	c.Err = err
	return c
}

// Delete returns the change that deletes a node; the mode says what becomes of its children. Its errors are [ErrNoNode],
// [ErrHasChildren] and [ErrSegment].
//
// Cost, three commands for the lease included:
//
//	a node without children  6 commands and 1 document; where a list or numbers change with it, 7, and these documents
//	Subtree                  6 commands; all of the subtree, by one command
//	Promote                  8 to 12 commands; the node, and its children or, where they hold paths or ancestors, all below it
//	Rootify                  8 to 11 commands; as Promote
//
// Restrict is the first, whatever the node has below it: with children it ends after the second read. A [ChildTree] writes the parent
// too, for a subtree by one command more, and a [NestedSet] what it says there, by one or two more. With Promote and Rootify, a
// [MaterializedPath] asks for each child, in one more command, whether its new path is free.
//
// A cut leaves some of a subtree deleted, so that others have no parent; or children in both places, and the node gone or not.
func (t *Tree[D, K]) Delete(id K, mode DeleteMode) model.Change[State] {
	n, err := t.id(id)
	if err == nil && mode > Rootify {
		err = t.t.refused("mode", uint8(mode), "is not a DeleteMode")
	}
	c := t.t.deletion(t.lease, n, mode)
	c.Err = err
	return c
}

// read runs a query that begins at a node.
func (t *Tree[D, K]) read(ctx context.Context, db *mongo.Database, id K, of func(n node) ([]node, error)) ([]node, error) {
	enc, err := t.id(id)
	if err != nil {
		return nil, err
	}
	n, err := t.t.one(ctx, db, enc)
	if err != nil {
		return nil, err
	}
	return of(n)
}

// Roots reads the roots, in order. Cost: one command.
func (t *Tree[D, K]) Roots(ctx context.Context, db *mongo.Database) ([]D, error) {
	return t.decode(t.t.nodes(ctx, db, t.t.children(nil)))
}

// Children reads a node's children, in order. Cost: one command, or two where it finds no child and asks for the node.
func (t *Tree[D, K]) Children(ctx context.Context, db *mongo.Database, id K) ([]D, error) {
	enc, err := t.id(id)
	if err != nil {
		return nil, err
	}
	children, err := t.t.nodes(ctx, db, t.t.children(enc))
	if err == nil && len(children) == 0 {
		_, err = t.t.there(ctx, db, enc)
	}
	return t.decode(children, err)
}

// Siblings reads the other children of a node's parent, or the other roots, in order.
//
// Cost: two commands.
func (t *Tree[D, K]) Siblings(ctx context.Context, db *mongo.Database, id K) ([]D, error) {
	return t.decode(t.read(ctx, db, id, func(n node) ([]node, error) {
		parent := any(nil)
		if !n.root() {
			parent = n.parent
		}
		return t.t.nodes(ctx, db, t.t.children(parent, bson.E{Key: "_id", Value: bson.D{{Key: "$ne", Value: n.id}}}))
	}))
}

// Ancestors reads the nodes above a node, root first. Cost: two commands, one for a root.
func (t *Tree[D, K]) Ancestors(ctx context.Context, db *mongo.Database, id K) ([]D, error) {
	return t.decode(t.read(ctx, db, id, func(n node) ([]node, error) { return t.t.ancestors(ctx, db, n) }))
}

// Descendants reads the nodes below a node down to a depth, in preorder: 1 means children, 0 means all. A negative depth is refused.
//
// Cost: two commands; all that is read is held in memory, to be put in order.
func (t *Tree[D, K]) Descendants(ctx context.Context, db *mongo.Database, id K, depth int) ([]D, error) {
	if depth < 0 {
		return nil, t.t.refused("depth", depth, "is negative; 0 means all")
	}
	return t.decode(t.read(ctx, db, id, func(n node) ([]node, error) {
		all, err := t.t.subtree(ctx, db, n, depth)
		if err != nil {
			return nil, err
		}
		return all.pick(all.forest.descendants(n.key(), 0)), nil
	}))
}

// ranged is a representation whose numbers tell leaves and counts.
type ranged interface {
	leaves(n node) source
	counted(n node) (int, bool)
}

// Leaves reads the nodes without children, at or below a node, in order.
//
// Cost: as Descendants; of a [NestedSet], only the leaves are read.
func (t *Tree[D, K]) Leaves(ctx context.Context, db *mongo.Database, id K) ([]D, error) {
	return t.decode(t.read(ctx, db, id, func(n node) ([]node, error) {
		if r, ok := t.t.rep.(ranged); ok {
			return t.t.nodes(ctx, db, r.leaves(n))
		}
		all, err := t.t.subtree(ctx, db, n, 0)
		if err != nil {
			return nil, err
		}
		return all.pick(all.forest.leaves(n.key())), nil
	}))
}

// Count counts a node's descendants.
//
// Cost: two commands, of which the second sends no documents; of a [NestedSet] without gaps, the first.
func (t *Tree[D, K]) Count(ctx context.Context, db *mongo.Database, id K) (int, error) {
	count := 0
	_, err := t.read(ctx, db, id, func(n node) (_ []node, err error) {
		if r, ok := t.t.rep.(ranged); ok {
			if count, ok = r.counted(n); ok {
				return nil, nil
			}
		}
		count, err = t.t.count(ctx, db, t.t.rep.below(n, 0))
		return nil, err
	})
	return count, err
}

// IsAncestor reports whether a node lies above another. Cost: two commands, or three for a [ParentTree] or [ChildTree].
func (t *Tree[D, K]) IsAncestor(ctx context.Context, db *mongo.Database, ancestor, id K) (bool, error) {
	above, err := t.id(ancestor)
	if err != nil {
		return false, err
	}
	is := false
	_, err = t.read(ctx, db, id, func(n node) (_ []node, err error) {
		top, err := t.t.one(ctx, db, above)
		if err == nil {
			is, err = t.t.isBelow(ctx, db, n, top)
		}
		return nil, err
	})
	return is, err
}

// CommonAncestor reads the lowest node that equals or is above both nodes; false when they are in different trees.
//
// Cost: four commands, one less for each that is a root.
func (t *Tree[D, K]) CommonAncestor(ctx context.Context, db *mongo.Database, a, b K) (doc D, ok bool, err error) {
	var chains [2][]node
	for i, id := range []K{a, b} {
		if _, err := t.read(ctx, db, id, func(n node) (_ []node, err error) {
			chains[i], err = t.t.ancestors(ctx, db, n)
			chains[i] = append(chains[i], n)
			return nil, err
		}); err != nil {
			return doc, false, err
		}
	}
	common := -1
	for i := range min(len(chains[0]), len(chains[1])) {
		if chains[0][i].key() != chains[1][i].key() {
			break
		}
		common = i
	}
	if common < 0 {
		return doc, false, nil
	}
	return doc, true, t.docs.Decode(chains[0][common].raw, &doc)
}

// A Visit is a node that a walk comes to.
type Visit[D any] struct {
	Doc   D
	Depth int // below where the walk began
}

// Walk goes through a node and its descendants in preorder: parents before their children, siblings in order. It can be ranged over
// again, and reads again then.
//
// Cost: as Descendants.
func (t *Tree[D, K]) Walk(ctx context.Context, db *mongo.Database, id K) iter.Seq2[Visit[D], error] {
	return func(yield func(Visit[D], error) bool) {
		_, err := t.read(ctx, db, id, func(n node) ([]node, error) {
			all, err := t.t.subtree(ctx, db, n, 0)
			if err != nil {
				return nil, err
			}
			for key, depth := range all.forest.subtree(n.key()) {
				v := Visit[D]{Depth: depth}
				if !yield(v, t.docs.Decode(all.nodes[key].raw, &v.Doc)) {
					break
				}
			}
			return nil, nil
		})
		if err != nil {
			yield(Visit[D]{}, err)
		}
	}
}
