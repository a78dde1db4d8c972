package paths

import (
	"fmt"
	"iter"
	"slices"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
)

// A Forest is an ordered tree in memory, of nodes that are known by their ids, with any number of roots: what the documents of a
// tree say, without a database. The zero Forest is empty. It is not safe for use by several goroutines while it is changed.
//
// Its operations have the names and the answers of those of [Tree]: a node that isn't there is [model.ErrNotFound].
type Forest[K comparable] struct{ f forest.Forest[K] }

// NewForest makes a forest of what a walk through all nodes gives, such as [Tree.Dump], [Tree.Arrange] or [DocumentTree.Arrange]:
// nodes in preorder, with their depths. It returns the walk's error, [model.ErrTaken] for an id that comes twice, and a
// [*model.ValueError] for a depth that doesn't follow.
func NewForest[D any, K comparable](walk iter.Seq2[Visit[D], error], id func(D) K) (*Forest[K], error) {
	f := &Forest[K]{}
	if walk == nil || id == nil {
		return nil, &model.ValueError{Field: "walk", Reason: "needs a sequence of nodes, and a function that gives their ids"}
	}
	var above []K
	for v, err := range walk {
		if err != nil {
			return nil, err
		}
		if v.Depth < 0 || v.Depth > len(above) {
			return nil, &model.ValueError{Field: "depth", Value: v.Depth, Reason: fmt.Sprintf("doesn't follow a node of depth %d: preorder goes down by one", len(above)-1)}
		}
		k, at := id(v.Doc), LastRoot[K]()
		if above = above[:v.Depth]; v.Depth > 0 {
			at = LastChild(above[v.Depth-1])
		}
		if err := f.Insert(k, at); err != nil {
			return nil, err
		}
		above = append(above, k)
	}
	return f, nil
}

// Insert adds a node at a place. It returns [model.ErrTaken] or [model.ErrNotFound].
func (f *Forest[K]) Insert(id K, at Place[K]) error { return f.f.Insert(id, at.place) }

// Move takes a node, with all below it, to a place. It returns [model.ErrNotFound] or [ErrCycle]. Moving a node next to itself,
// or to where it is, is a no-op.
func (f *Forest[K]) Move(id K, to Place[K]) error { return f.f.Move(id, to.place) }

// Delete takes a node out; the mode says what becomes of its children. It returns [model.ErrNotFound], so of a node that was
// deleted before, or [ErrHasChildren] where the mode is [Restrict].
func (f *Forest[K]) Delete(id K, mode DeleteMode) error { return f.f.Delete(id, forest.Mode(mode)) }

// Len is the number of nodes.
func (f *Forest[K]) Len() int { return f.f.Len() }

// Has reports whether there is a node of the id.
func (f *Forest[K]) Has(id K) bool { return f.f.Has(id) }

// Roots are the ids of the roots, in order.
func (f *Forest[K]) Roots() []K { return slices.Clone(f.f.Roots()) }

// Parent is the id of a node's parent; false for a root. It returns [model.ErrNotFound].
func (f *Forest[K]) Parent(id K) (parent K, ok bool, err error) {
	parent, ok = f.f.Above(id)
	return parent, ok, f.f.Need(id)
}

// Children are the ids of a node's children, in order. It returns [model.ErrNotFound].
func (f *Forest[K]) Children(id K) ([]K, error) { return f.ask(id, f.f.Children) }

// ask asks for nodes around one.
func (f *Forest[K]) ask(id K, of func(id K) []K) ([]K, error) {
	if err := f.f.Need(id); err != nil {
		return nil, err
	}
	return slices.Clone(of(id)), nil
}

// Ancestors are the ids of the nodes above a node, root first: as many as the node is deep. It returns [model.ErrNotFound].
func (f *Forest[K]) Ancestors(id K) ([]K, error) { return f.ask(id, f.f.Ancestors) }

// Descendants are the ids of the nodes below a node down to a depth, in preorder: 1 means children, 0 means all. It returns
// [model.ErrNotFound], and a [*model.ValueError] for a negative depth.
func (f *Forest[K]) Descendants(id K, depth int) ([]K, error) {
	if depth < 0 {
		return nil, &model.ValueError{Field: "depth", Value: depth, Reason: "is negative; 0 means all"}
	}
	return f.ask(id, func(id K) []K { return f.f.Descendants(id, depth) })
}

// All goes through all nodes in preorder: parents before their children, siblings in order, with their depths. It can be ranged over
// again; the forest must not be changed meanwhile.
func (f *Forest[K]) All() iter.Seq2[K, int] { return f.f.All() }
