// Package forest has what trees share that need no database: an ordered forest in memory,
// places in it, and the keys that sort siblings. paths.Forest is its shell. The cores
// tree, document, convert and rollup use it to decide what they write.
//
// # Stored form
//
// A tree's documents, or the nodes of a list within a document, store links: the parent,
// and an order key that sorts by its bytes among the siblings. [BuildForest] makes a
// forest of such [Link] values:
//
//	{_id: "boots",  parent: "shoes", order: "a0"}
//	{_id: "heels",  parent: "shoes", order: "a1"}
//	{_id: "sandals", parent: "shoes", order: "a0V"}   // inserted between the two
//
// # Rules
//
//  1. [MakeKeyBetween] returns a key for a node between two siblings. No other key changes.
//  2. If a key would have [LongKey] characters, the caller gives all siblings short keys
//     ([SpreadKeys], [ChooseOrders]).
//  3. Links that have no place (a missing parent, a cycle, a repeated id) are returned beside
//     the forest, never dropped: callers report them as damage.
//
// The package has no writes, so a crash leaves nothing. It defines the errors of the
// package paths, and the kinds of damage that checks report.
package forest

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/docmodel/docmodel/model"
)

var (
	// ErrCycle says that a node would become its own ancestor.
	ErrCycle = errors.New("docmodel: a node can't be moved under itself or a descendant")

	// ErrHasChildren says that a node that has children was to be deleted with
	// [Restrict].
	ErrHasChildren = errors.New("docmodel: the node has children")

	// ErrDamaged says that a tree has to be repaired first.
	ErrDamaged = errors.New("docmodel: the tree is damaged: repair it first with the tree's Checks")

	// ErrSegment says that a node's segment can't be part of a path.
	ErrSegment = errors.New("docmodel: the segment can't be part of the path")
)

// A Forest is an ordered tree in memory, with any number of roots. The zero Forest is
// empty. K tells nodes apart: a key of the stored _id ([bsonval.Key]) for the cores, the
// caller's id for paths.Forest.
type Forest[K comparable] struct {
	nodes map[K]*leaf[K]
	roots []K
}

// A leaf is a node of a forest: its parent (the zero K for a root), and its children in
// order.
type leaf[K comparable] struct {
	parent   K
	root     bool
	children []K
}

// Len returns the number of nodes.
func (f *Forest[K]) Len() int { return len(f.nodes) }

// Contains reports whether a node with the id exists.
func (f *Forest[K]) Contains(id K) bool { return f.nodes[id] != nil }

// RequireNodes returns [model.ErrNotFound] if one of the nodes doesn't exist.
func (f *Forest[K]) RequireNodes(ids ...K) error {
	for _, id := range ids {
		if !f.Contains(id) {
			return fmt.Errorf("%w: there is no node %v", model.ErrNotFound, id)
		}
	}
	return nil
}

// ListRoots returns the ids of the roots, in order. Callers must not change the slice.
func (f *Forest[K]) ListRoots() []K { return f.roots }

// FindParent returns a node's parent. ok is false for a root and for a missing node.
func (f *Forest[K]) FindParent(id K) (parent K, ok bool) {
	if n := f.nodes[id]; n != nil && !n.root {
		return n.parent, true
	}
	return parent, false
}

// ListChildren returns the ids of a node's children, in order. The node must exist.
// Callers must not change the slice.
func (f *Forest[K]) ListChildren(id K) []K { return f.nodes[id].children }

// findSiblingList returns the list that contains a node, for changes in place.
func (f *Forest[K]) findSiblingList(n *leaf[K]) *[]K {
	if n.root {
		return &f.roots
	}
	return &f.nodes[n.parent].children
}

// ListAncestors returns the ancestors of a node, root first.
func (f *Forest[K]) ListAncestors(id K) []K {
	var out []K
	for p, ok := f.FindParent(id); ok; p, ok = f.FindParent(p) {
		out = append(out, p)
	}
	slices.Reverse(out)
	return out
}

// ListDescendants returns the descendants of a node down to a depth, in preorder; depth 0
// means all.
func (f *Forest[K]) ListDescendants(id K, depth int) []K {
	var out []K
	for x, d := range f.WalkSubtree(id) {
		if d > 0 && (depth == 0 || d <= depth) {
			out = append(out, x)
		}
	}
	return out
}

// WalkSubtree yields a node and its descendants in preorder, with their depths below the
// node. For a missing node it yields nothing.
func (f *Forest[K]) WalkSubtree(id K) iter.Seq2[K, int] {
	return func(yield func(K, int) bool) {
		if f.Contains(id) {
			f.walkNodes([]K{id}, yield)
		}
	}
}

// WalkAll yields all nodes in preorder, with their depths.
func (f *Forest[K]) WalkAll() iter.Seq2[K, int] {
	return func(yield func(K, int) bool) { f.walkNodes(f.roots, yield) }
}

// walkNodes walks with a stack of its own. A recursive walk would need a goroutine's
// stack for each level, and a chain of nodes can have a million levels.
func (f *Forest[K]) walkNodes(from []K, yield func(K, int) bool) {
	stack := [][]K{from}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(*top) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		id := (*top)[0]
		*top = (*top)[1:]
		depth := len(stack) - 1
		if children := f.nodes[id].children; len(children) > 0 {
			stack = append(stack, children)
		}
		if !yield(id, depth) {
			return
		}
	}
}

// Insert adds a node at a place. It returns [model.ErrTaken] or [model.ErrNotFound].
func (f *Forest[K]) Insert(id K, at Place[K]) error {
	if f.Contains(id) {
		return fmt.Errorf("%w: node %v", model.ErrTaken, id)
	}
	if err := f.requirePlace(at); err != nil {
		return err
	}
	if f.nodes == nil {
		f.nodes = map[K]*leaf[K]{}
	}
	f.nodes[id] = &leaf[K]{}
	f.putNode(id, at)
	return nil
}

// requirePlace returns an error if the place refers to a missing node.
func (f *Forest[K]) requirePlace(at Place[K]) error {
	if at.At.IsRoot() {
		return nil
	}
	return f.RequireNodes(at.Ref)
}

// putNode adds a node that is in no list to the list at a place.
func (f *Forest[K]) putNode(id K, at Place[K]) {
	n := f.nodes[id]
	switch at.At {
	case FirstChild, LastChild:
		n.parent, n.root = at.Ref, false
	case Before, After:
		sibling := f.nodes[at.Ref]
		n.parent, n.root = sibling.parent, sibling.root
	default:
		n.root = true
	}
	list := f.findSiblingList(n)
	i := 0
	switch at.At {
	case LastRoot, LastChild:
		i = len(*list)
	case Before:
		i = slices.Index(*list, at.Ref)
	case After:
		i = slices.Index(*list, at.Ref) + 1
	}
	*list = slices.Insert(*list, i, id)
}

// Move moves a node and its subtree to a place. It returns [model.ErrNotFound] or
// [ErrCycle]. Moving a node next to itself changes nothing.
func (f *Forest[K]) Move(id K, to Place[K]) error {
	err := f.RequireNodes(id)
	if err == nil {
		err = f.requirePlace(to)
	}
	switch {
	case err != nil:
		return err
	case to.At.IsRoot():
	case to.Ref == id && (to.At == Before || to.At == After):
		return nil
	case to.Ref == id, slices.Contains(f.ListAncestors(to.Ref), id):
		return fmt.Errorf("%w: %v %v", ErrCycle, id, to)
	}
	f.removeFromList(id)
	f.putNode(id, to)
	return nil
}

// LocateNode returns a node's parent (child is false for a root), and its index among its
// siblings.
func (f *Forest[K]) LocateNode(id K) (parent K, child bool, at int) {
	parent, child = f.FindParent(id)
	return parent, child, slices.Index(*f.findSiblingList(f.nodes[id]), id)
}

// removeFromList removes a node from the list of its siblings. Its subtree stays with it.
func (f *Forest[K]) removeFromList(id K) {
	list := f.findSiblingList(f.nodes[id])
	i := slices.Index(*list, id)
	*list = slices.Delete(*list, i, i+1)
}

// Delete removes a node. It returns [model.ErrNotFound] or [ErrHasChildren].
func (f *Forest[K]) Delete(id K, mode Mode) error {
	if mode > Rootify {
		return &model.ValueError{
			Field: "mode", Value: uint8(mode), Reason: "isn't a DeleteMode: use a constant of the package",
		}
	}
	if err := f.RequireNodes(id); err != nil {
		return err
	}
	n := f.nodes[id]
	switch {
	case mode == Restrict && len(n.children) > 0:
		return fmt.Errorf("%w: %v has %d", ErrHasChildren, id, len(n.children))
	case mode == Subtree:
		for _, x := range f.ListDescendants(id, 0) {
			delete(f.nodes, x)
		}
	case mode == Promote:
		list := f.findSiblingList(n)
		i := slices.Index(*list, id)
		for _, c := range n.children {
			f.nodes[c].parent, f.nodes[c].root = n.parent, n.root
		}
		*list = slices.Insert(*list, i+1, n.children...)
	case mode == Rootify:
		for _, c := range n.children {
			f.nodes[c].root = true
		}
		f.roots = append(f.roots, n.children...)
	}
	f.removeFromList(id)
	delete(f.nodes, id)
	return nil
}
