package paths

import (
	"context"
	"iter"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Roots returns the query of the roots, in order.
//
// Cost: one command, by the index on the links.
func (t *Tree[D, K]) Roots() *model.Find[D] { return t.linked(nil, nil) }

// Children returns the query of a node's children, in order.
//
// Cost: one command, by the index on the links.
func (t *Tree[D, K]) Children(n *D) *model.Find[D] {
	read, err := t.node(n)
	return t.linked(read.ID, err)
}

// Siblings returns the query of the other children of a node's parent, or of the other roots, in order.
//
// Cost: one command, by the index on the links.
func (t *Tree[D, K]) Siblings(n *D) *model.Find[D] {
	read, err := t.node(n)
	parent := any(nil)
	if !read.Root() {
		parent = read.Parent
	}
	return t.linked(parent, err, mql.E("_id", mql.Op("$ne", read.ID)))
}

// linked is the query of the children of a parent, nil for the roots.
func (t *Tree[D, K]) linked(parent any, err error, more ...bson.E) *model.Find[D] {
	f := t.docs.Find(nil)
	if f.Err = err; err == nil {
		f = t.docs.Find(append(bson.D{mql.E(t.t.Links.Parent, model.Eq(parent))}, more...)).Sorted(t.t.InOrder())
	}
	f.Index = t.t.ByParent()
	return f
}

// Ancestors returns the query of the nodes above a node, root first. A node is above another where it is among these.
//
// Cost: one command: of an ancestor array by _id, of a materialized path by the index on the path, of a nested set by that on the
// right number; a parent tree or child tree follows the links by $graphLookup and _id.
func (t *Tree[D, K]) Ancestors(n *D) *model.Aggregate[D] { return t.around(n, t.t.Rep.Above) }

// Descendants returns the query of the nodes below a node, down to a depth: 1 means children, 0 means all. A negative depth is
// refused. Of a nested set they come in preorder, but none where a change that is being written shifts the node's numbers. Of other
// representations they come in no order: [Tree.Arrange] puts them in preorder.
//
// Cost: one command: of an ancestor array by the index on the array, of a materialized path by that on the path, of a nested set by
// that on the left number; a parent tree or child tree follows the links by $graphLookup and their index.
func (t *Tree[D, K]) Descendants(n *D, depth int) *model.Aggregate[D] {
	a := t.around(n, func(n tree.Node) tree.Source { return t.t.Rep.Below(n, max(depth, 0)) })
	if depth < 0 {
		a.Err = t.t.Refuse("depth", depth, "is negative; 0 means all")
	}
	return a
}

// Leaves returns the query of the nodes below a node that have no children, in the order of Descendants.
//
// Cost: one command, as Descendants; only the leaves are sent. Each node is joined with its children on the server, by the index on the
// links, but of a nested set without gaps, whose numbers tell its leaves.
func (t *Tree[D, K]) Leaves(n *D) *model.Aggregate[D] { return t.around(n, t.t.Leaves) }

// around is the query of nodes around one, whose document is handed in.
func (t *Tree[D, K]) around(n *D, of func(tree.Node) tree.Source) *model.Aggregate[D] {
	a := model.AggregateAs[D](t.docs, nil)
	read, err := t.stored(n)
	if err != nil {
		a.Err = err
		return a
	}
	s := of(read)
	a = model.AggregateAs[D](t.docs, s.Pipeline)
	a.Index = s.Index
	return a
}

// A Visit is a node that a walk comes to.
type Visit[D any] struct {
	Doc   D
	Depth int // below where the walk began
}

// Arrange puts nodes that were read in preorder: parents before their children, siblings in order. It begins with the node that was
// asked about, at depth 0, or with the roots where that is nil. Nodes that the parent links don't put below it are left out. It sends
// nothing, and encodes each document once.
func (t *Tree[D, K]) Arrange(n *D, docs []D) iter.Seq2[Visit[D], error] {
	return func(yield func(Visit[D], error) bool) {
		top := ""
		if n != nil {
			read, err := t.node(n)
			if err != nil {
				yield(Visit[D]{}, err)
				return
			}
			top = read.Key()
			docs = append([]D{*n}, docs...)
		}
		nodes, err := t.nodes(docs)
		if err != nil {
			yield(Visit[D]{}, err)
			return
		}
		for i, depth := range tree.Arrange(top, nodes) {
			if !yield(Visit[D]{docs[i], depth}, nil) {
				return
			}
		}
	}
}

// Dump goes through all nodes of the tree in preorder: roots in order, parents before their children, siblings in order. Depths are
// below the roots. [Tree.Load] of the documents, in any order, makes the same tree; [NewForest] makes a [Forest] of them. It can be
// ranged over again, and reads again then.
//
// A tree that has to be repaired first gives [ErrDamaged], as far as it is seen, and so may one that is changed meanwhile: go on in
// [Tree.Settled], or begin anew. A node that is deleted while others are read is left out, with what was below it.
//
// Cost: for a nested set one command, in batches, by the index on the left number; it holds one node for each depth. For others one
// command, in batches, that reads the links of all nodes, which are held in memory, some 600 bytes for each, and one for each 500
// nodes that reads them by _id.
func (t *Tree[D, K]) Dump(ctx context.Context, db model.DB) iter.Seq2[Visit[D], error] {
	return func(yield func(Visit[D], error) bool) {
		more := true
		err := t.t.Dump(ctx, db, func(n tree.Node, depth int) (bool, error) {
			v := Visit[D]{Depth: depth}
			if err := t.t.Decode(n.Raw, &v.Doc); err != nil {
				return false, err
			}
			more = yield(v, nil)
			return more, nil
		})
		if err != nil && more {
			yield(Visit[D]{}, err)
		}
	}
}

// Settled runs a read while no change of the tree is at work, and again when one began in between: see [model.Lease.Settled]. So
// what the tree's queries give within read fits together, and none of them sees a part of a change. It takes no transaction; where
// writers leave no pause, it gives up with [model.ErrLeased].
//
// Cost: two commands beside the read's, for each time that it is run.
func (t *Tree[D, K]) Settled(ctx context.Context, db model.DB, read func(ctx context.Context) error) error {
	return t.t.Lease.Settled(ctx, db, read)
}
