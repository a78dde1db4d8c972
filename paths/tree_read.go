package paths

import (
	"context"
	"iter"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Links returns the query of a node with only the fields that the tree's queries need.
// Use it to ask about a node whose other fields you don't need, or can't decode:
//
//	n, err := tree.Links(id).One(ctx, db)
//	total, err := rollUp.Total(&n).One(ctx, db)
//
// Cost: one command, by _id.
func (t *Tree[D, K]) Links(id K) *model.Find[D] {
	f := t.docs.ByID(id)
	f.Projection = t.t.ProjectFields()
	return f
}

// Roots returns the query of the roots, sorted by their order keys ([TreeSpec].Order).
//
// Cost: one command, by the index on the parent links.
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
	if !read.IsRoot() {
		parent = read.Parent
	}
	return t.linked(parent, err, mql.E("_id", mql.Op("$ne", read.ID)))
}

// linked is the query of a parent's children, or of the roots if parent is nil.
func (t *Tree[D, K]) linked(parent any, err error, more ...bson.E) *model.Find[D] {
	f := t.docs.Find(nil)
	if f.Err = err; err == nil {
		f = t.docs.Find(append(bson.D{mql.E(t.t.Links.Parent, mql.Eq(parent))}, more...)).Sorted(t.t.SortSiblings())
	}
	f.Index = t.t.NameParentIndex()
	return f
}

// Ancestors returns the query of the nodes above the node n, root first. In a nested set,
// the query can find nothing if n was read during a shift: see [NewNestedSet].
//
// Cost: one command, by an index. Parent trees and child trees use $graphLookup.
func (t *Tree[D, K]) Ancestors(n *D) *model.Aggregate[D] { return t.around(n, t.t.Rep.FindAncestors) }

// Descendants returns the query of the nodes below n, down to a depth. Depth 1 means
// children. Depth 0 means all. To sort the nodes, use [Tree.Arrange]. In a nested set,
// the query can find nothing if n was read during a shift: see [NewNestedSet].
//
// Cost: one command, by an index. Parent trees and child trees use $graphLookup.
func (t *Tree[D, K]) Descendants(n *D, depth int) *model.Aggregate[D] {
	a := t.around(n, func(n tree.Node) tree.Source { return t.t.Rep.FindDescendants(n, max(depth, 0)) })
	if depth < 0 {
		a.Err = t.t.Refuse("depth", depth, "is negative: give 0 for all")
	}
	return a
}

// Leaves returns the query of the childless nodes below the node n. Only nested sets
// return the nodes in tree order.
//
// Cost: one command, as [Tree.Descendants]. The server looks up each node's children by
// the index on the links, except in a nested set with a NestedSetSpec.Gap of 0 or 1.
func (t *Tree[D, K]) Leaves(n *D) *model.Aggregate[D] { return t.around(n, t.t.FindLeaves) }

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

// A Visit is one node of a walk through a tree: see [Tree.Dump].
type Visit[D any] struct {
	Doc   D
	Depth int // number of levels below the start of the walk
}

// Arrange yields docs in preorder: parents before children, siblings by their order keys.
// The walk begins with the node n at depth 0. A nil n means the roots. Documents that
// aren't below the start are left out. An invalid document yields an error.
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
		for i, depth := range tree.ArrangeNodes(top, nodes) {
			if !yield(Visit[D]{docs[i], depth}, nil) {
				return
			}
		}
	}
}

// Dump yields all nodes in preorder, for [Tree.Load] or [NewForest]. A damaged tree
// yields [ErrDamaged]. During a change of the tree, Dump can miss or repeat nodes, or
// yield ErrDamaged. To prevent this, call Dump inside [Tree.Settled].
//
// Cost: one command for a nested set. Another kind of tree costs one command, which reads
// all links into memory, and one command per 500 nodes.
func (t *Tree[D, K]) Dump(ctx context.Context, db model.DB) iter.Seq2[Visit[D], error] {
	return func(yield func(Visit[D], error) bool) {
		more := true
		err := t.t.DumpNodes(ctx, db, func(n tree.Node, depth int) (bool, error) {
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

// DumpIDs yields the _ids of all nodes in preorder, for [NewForest]. For errors and
// changes at the same time, see [Tree.Dump]. DumpIDs reads only the parent links and
// order keys, so that a node whose other fields can't be decoded does no harm.
//
// Cost: one command. Except for a nested set, it reads all links into memory.
func (t *Tree[D, K]) DumpIDs(ctx context.Context, db model.DB) iter.Seq2[Visit[K], error] {
	return func(yield func(Visit[K], error) bool) {
		more := true
		err := t.t.DumpIDs(ctx, db, func(n tree.Node, depth int) (bool, error) {
			var doc struct {
				ID K `bson:"_id"`
			}
			if err := t.t.Decode(n.Raw, &doc); err != nil {
				return false, err
			}
			more = yield(Visit[K]{doc.ID, depth}, nil)
			return more, nil
		})
		if err != nil && more {
			yield(Visit[K]{}, err)
		}
	}
}

// Settled calls the function read while no change of the tree runs. If a change begins
// during the call, Settled calls read again: discard earlier results. In read, query the
// primary. Settled returns read's error. If changes leave no pause within TreeSpec.Wait,
// or a crashed change is unfinished, Settled returns [model.ErrLeased].
//
// Cost: two commands per call of read.
func (t *Tree[D, K]) Settled(ctx context.Context, db model.DB, read func(ctx context.Context) error) error {
	return t.t.Lease.Settled(ctx, db, read)
}
