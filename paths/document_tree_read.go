package paths

import (
	"context"
	"iter"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Node returns the query of one node. A missing owner or node gives no result. To test
// whether the node exists, count the results.
//
// Cost: see [DocumentTree].
func (t *DocumentTree[E, N, K]) Node(owner K, id N) *model.Aggregate[E] {
	o, n, err := t.ids(owner, id)
	if err != nil {
		return t.asked(t.t.RefuseQuery(err))
	}
	return t.asked(t.t.FindNode(o, n))
}

// Roots returns the query of the roots, sorted as by [DocumentTree.Arrange].
//
// Cost: see [DocumentTree].
func (t *DocumentTree[E, N, K]) Roots(owner K) *model.Aggregate[E] {
	o, err := t.owner(owner)
	if err != nil {
		return t.asked(t.t.RefuseQuery(err))
	}
	return t.asked(t.t.FindRoots(o))
}

// Parent returns the query of a node's parent. A root has no parent.
//
// Cost: see [DocumentTree].
func (t *DocumentTree[E, N, K]) Parent(owner K, id N) *model.Aggregate[E] {
	o, n, err := t.ids(owner, id)
	if err != nil {
		return t.asked(t.t.RefuseQuery(err))
	}
	return t.asked(t.t.FindParent(o, n))
}

// Children returns the query of a node's children, sorted as by [DocumentTree.Arrange].
//
// Cost: see [DocumentTree].
func (t *DocumentTree[E, N, K]) Children(owner K, id N) *model.Aggregate[E] {
	o, n, err := t.ids(owner, id)
	if err != nil {
		return t.asked(t.t.RefuseQuery(err))
	}
	return t.asked(t.t.FindChildren(o, n))
}

// Siblings returns the query of a node's siblings, sorted as by [DocumentTree.Arrange].
// The siblings of a root are the other roots.
//
// Cost: see [DocumentTree].
func (t *DocumentTree[E, N, K]) Siblings(owner K, id N) *model.Aggregate[E] {
	o, n, err := t.ids(owner, id)
	if err != nil {
		return t.asked(t.t.RefuseQuery(err))
	}
	return t.asked(t.t.FindSiblings(o, n))
}

// Ancestors returns the query of the nodes above a node, root first.
//
// Cost: see [DocumentTree]. For each ancestor, the server reads the list.
func (t *DocumentTree[E, N, K]) Ancestors(owner K, id N) *model.Aggregate[E] {
	o, n, err := t.ids(owner, id)
	if err != nil {
		return t.asked(t.t.RefuseQuery(err))
	}
	return t.asked(t.t.FindAncestors(o, n))
}

// Descendants returns the query of the nodes below a node, down to a depth, in preorder.
// Depth 1 means children. Depth 0 means all.
//
// Cost: see [DocumentTree]. For each level, the server compares the list's nodes with the
// nodes of the level above. For a subtree of many thousand nodes, [DocumentTree.Dump] is
// faster.
func (t *DocumentTree[E, N, K]) Descendants(owner K, id N, depth int) *model.Aggregate[E] {
	o, n, err := t.ids(owner, id)
	if err != nil {
		return t.asked(t.t.RefuseQuery(err))
	}
	return t.asked(t.t.FindDescendants(o, n, depth))
}

// Leaves returns the query of the childless nodes below a node, in preorder.
//
// Cost: as [DocumentTree.Descendants].
func (t *DocumentTree[E, N, K]) Leaves(owner K, id N) *model.Aggregate[E] {
	o, n, err := t.ids(owner, id)
	if err != nil {
		return t.asked(t.t.RefuseQuery(err))
	}
	return t.asked(t.t.FindLeaves(o, n))
}

// asked returns a query with its type.
func (t *DocumentTree[E, N, K]) asked(a model.Aggregation) *model.Aggregate[E] {
	out := t.query(a.Pipeline)
	out.Index = a.Index
	if a.Err != nil {
		out.Err = a.Err
	}
	return out
}

// Dump yields all nodes of an owner in preorder, for [NewForest]. Errors are
// [model.ErrNotFound] and [ErrDamaged].
//
// Cost: one command, which reads the whole list.
func (t *DocumentTree[E, N, K]) Dump(ctx context.Context, db model.DB, owner K) iter.Seq2[Visit[E], error] {
	return func(yield func(Visit[E], error) bool) {
		o, err := t.owner(owner)
		if err == nil {
			err = t.dump(ctx, db, o, yield)
		}
		if err != nil {
			yield(Visit[E]{}, err)
		}
	}
}

// dump yields the nodes of an owner. It returns an error that wasn't yielded.
func (t *DocumentTree[E, N, K]) dump(
	ctx context.Context, db model.DB, owner bson.RawValue, yield func(Visit[E], error) bool,
) error {
	nodes, err := t.t.ReadWholeList(ctx, db, owner)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		v := Visit[E]{Depth: n.Depth}
		if err := t.t.Decode(n.Doc, &v.Doc); err != nil {
			return err
		}
		if !yield(v, nil) {
			return nil
		}
	}
	return nil
}
