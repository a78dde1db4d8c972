package paths

import (
	"context"
	"iter"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Roots returns the query of the roots, sorted by their order keys.
//
// Cost: one command, by the index on the links.
func (t *Tree[D, K]) Roots() *model.Find[D] { return t.linked(nil, nil) }

// Children returns the query of a node's children, sorted by their order keys.
//
// Cost: one command, by the index on the links.
func (t *Tree[D, K]) Children(n *D) *model.Find[D] {
	read, err := t.node(n)
	return t.linked(read.ID, err)
}

// Siblings returns the query of the node n's siblings, sorted by their order keys. The
// siblings of a root are the other roots.
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

// linked is the query of a parent's children, or of the roots if parent is nil.
func (t *Tree[D, K]) linked(parent any, err error, more ...bson.E) *model.Find[D] {
	f := t.docs.Find(nil)
	if f.Err = err; err == nil {
		f = t.docs.Find(append(bson.D{mql.E(t.t.Links.Parent, model.Eq(parent))}, more...)).Sorted(t.t.InOrder())
	}
	f.Index = t.t.ByParent()
	return f
}

// Ancestors returns the query of the nodes above the node n, root first.
//
// Cost: one command. Trees with ancestor arrays use _id. Materialized paths use the index
// on the path. Nested sets use the index on the right number. Parent trees and child
// trees use $graphLookup by _id.
func (t *Tree[D, K]) Ancestors(n *D) *model.Aggregate[D] { return t.around(n, t.t.Rep.Above) }

// Descendants returns the query of the nodes below the node n, down to a depth. Depth 1
// means children, 0 means all. To sort the nodes, use [Tree.Arrange]. In a nested set, if
// you read n while a writer shifts n's numbers, the query finds nothing.
//
// Cost: one command, by an index. Parent trees and child trees use $graphLookup.
func (t *Tree[D, K]) Descendants(n *D, depth int) *model.Aggregate[D] {
	a := t.around(n, func(n tree.Node) tree.Source { return t.t.Rep.Below(n, max(depth, 0)) })
	if depth < 0 {
		a.Err = t.t.Refuse("depth", depth, "is negative: give 0 for all")
	}
	return a
}

// Leaves returns the query of the nodes below the node n that have no children, in the
// order of [Tree.Descendants].
//
// Cost: one command, as [Tree.Descendants]. The server looks for children of each node by
// the index on the links, except in a nested set without gaps.
func (t *Tree[D, K]) Leaves(n *D) *model.Aggregate[D] { return t.around(n, t.t.Leaves) }

// around is a query of nodes related to n.
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

// A Visit is a node that a walk such as [Tree.Dump] yields.
type Visit[D any] struct {
	Doc   D
	Depth int // below the start of the walk
}

// Arrange yields documents in preorder: parents before children, siblings by their order
// keys. It begins with the node n at depth 0, or with the roots if n is nil. Documents
// that no parent links connect to the start are left out. It sends nothing.
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

// Dump yields all nodes in preorder. You can pass the documents to [Tree.Load], or the
// sequence to [NewForest]. A damaged tree yields [ErrDamaged]. A change during the walk
// can yield ErrDamaged or hide nodes: use [Tree.Settled].
//
// Cost: one command for a nested set. For other trees, one command reads the links of
// all nodes into memory. Then one command reads each 500 nodes.
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

// Settled calls the function read while no change of the tree runs. If a change begins
// during the call, Settled calls read again. In the last call, queries on the primary see
// all of a change or nothing. If writers leave no pause, or a writer died within a
// change, Settled returns [model.ErrLeased].
//
// Cost: two commands per call of read.
func (t *Tree[D, K]) Settled(ctx context.Context, db model.DB, read func(ctx context.Context) error) error {
	return t.t.Lease.Settled(ctx, db, read)
}
