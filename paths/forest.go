package paths

import (
	"fmt"
	"iter"
	"slices"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
)

// A Forest is an ordered tree of ids in memory, with any number of roots. The zero Forest
// is empty. Don't use it from other goroutines while it changes.
type Forest[K comparable] struct{ f forest.Forest[K] }

// NewForest makes a [Forest] from a walk in preorder (parents before children), such as
// [Tree.Dump], [Tree.Arrange] or [DocumentTree.Arrange]. Errors are the walk's error,
// [model.ErrTaken] for a repeated id, and a [*model.ValueError] for a depth that isn't
// possible in preorder.
func NewForest[D any, K comparable](walk iter.Seq2[Visit[D], error], id func(D) K) (*Forest[K], error) {
	f := &Forest[K]{}
	if walk == nil || id == nil {
		return nil, &model.ValueError{
			Field:  "walk",
			Reason: "is nil: give a sequence of nodes, and a function that returns their ids",
		}
	}
	var above []K
	for v, err := range walk {
		if err != nil {
			return nil, err
		}
		if v.Depth < 0 || v.Depth > len(above) {
			return nil, &model.ValueError{
				Field: "depth", Value: v.Depth,
				Reason: fmt.Sprintf("is too deep after a node of depth %d: in preorder, depth grows by at most 1", len(above)-1),
			}
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

// Insert adds a node at a place. A used id gives [model.ErrTaken]. If the place names a
// missing node, the error is [model.ErrNotFound].
func (f *Forest[K]) Insert(id K, place Place[K]) error { return f.f.Insert(id, place.place) }

// Move moves a node, with its subtree, to a place. Errors are [model.ErrNotFound] and
// [ErrCycle]. Moving a node next to itself, or to where it is, does nothing.
func (f *Forest[K]) Move(id K, place Place[K]) error { return f.f.Move(id, place.place) }

// Delete removes a node. [DeleteMode] says what happens to the children. A missing node
// gives [model.ErrNotFound]. With [Restrict], a node with children gives
// [ErrHasChildren].
func (f *Forest[K]) Delete(id K, mode DeleteMode) error { return f.f.Delete(id, forest.Mode(mode)) }

// Len returns the number of nodes.
func (f *Forest[K]) Len() int { return f.f.Len() }

// Roots returns the ids of the roots, from first to last.
func (f *Forest[K]) Roots() []K { return slices.Clone(f.f.ListRoots()) }

// Parent returns the id of a node's parent. For a root, ok is false. A missing node gives
// [model.ErrNotFound].
func (f *Forest[K]) Parent(id K) (parent K, ok bool, err error) {
	parent, ok = f.f.FindParent(id)
	return parent, ok, f.f.RequireNodes(id)
}

// Children returns the ids of a node's children, from first to last. A missing node gives
// [model.ErrNotFound].
func (f *Forest[K]) Children(id K) ([]K, error) { return f.ask(id, f.f.ListChildren) }

// ask returns a copy of the ids that a function finds for an existing node.
func (f *Forest[K]) ask(id K, of func(id K) []K) ([]K, error) {
	if err := f.f.RequireNodes(id); err != nil {
		return nil, err
	}
	return slices.Clone(of(id)), nil
}

// Ancestors returns the ids of the nodes above a node, root first, or
// [model.ErrNotFound].
func (f *Forest[K]) Ancestors(id K) ([]K, error) { return f.ask(id, f.f.ListAncestors) }

// Descendants returns the ids of the nodes below a node, down to a depth, in preorder.
// Depth 1 means children, 0 means all. Errors are [model.ErrNotFound], and a
// [*model.ValueError] for a negative depth.
func (f *Forest[K]) Descendants(id K, depth int) ([]K, error) {
	if depth < 0 {
		return nil, &model.ValueError{Field: "depth", Value: depth, Reason: "is negative: give 0 for all"}
	}
	return f.ask(id, func(id K) []K { return f.f.ListDescendants(id, depth) })
}

// All yields all nodes in preorder, with their depths. Don't change the forest inside the
// loop.
func (f *Forest[K]) All() iter.Seq2[K, int] { return f.f.WalkAll() }
