// Package forest holds what trees have in common without a database: an ordered forest in memory, places in it, and the keys
// that order siblings.
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

	// ErrHasChildren says that a node that has children was to be deleted with [Restrict].
	ErrHasChildren = errors.New("docmodel: the node has children")

	// ErrDamaged says that a tree has to be repaired first.
	ErrDamaged = errors.New("docmodel: the tree is damaged: repair it first with the tree's Checks")

	// ErrSegment says that a node's segment can't be part of a path.
	ErrSegment = errors.New("docmodel: the segment can't be part of the path")
)

// A Forest is an ordered tree in memory, with any number of roots. The zero Forest is empty.
type Forest[K comparable] struct {
	nodes map[K]*leaf[K]
	roots []K
}

// leaf is a node of a forest.
type leaf[K comparable] struct {
	parent   K
	root     bool
	children []K
}

// Len is the number of nodes.
func (f *Forest[K]) Len() int { return len(f.nodes) }

// Has reports whether there is a node of the id.
func (f *Forest[K]) Has(id K) bool { return f.nodes[id] != nil }

// Need returns the error of a node that isn't there.
func (f *Forest[K]) Need(ids ...K) error {
	for _, id := range ids {
		if !f.Has(id) {
			return fmt.Errorf("%w: there is no node %v", model.ErrNotFound, id)
		}
	}
	return nil
}

// Roots are the ids of the roots, in order. Callers must not change them.
func (f *Forest[K]) Roots() []K { return f.roots }

// Above is a node's parent; false for a root, and for a node that isn't there.
func (f *Forest[K]) Above(id K) (parent K, ok bool) {
	if n := f.nodes[id]; n != nil && !n.root {
		return n.parent, true
	}
	return parent, false
}

// Children are the ids of a node's children, in order. Callers must not change them.
func (f *Forest[K]) Children(id K) []K { return f.nodes[id].children }

// list is the list that a node is in.
func (f *Forest[K]) list(n *leaf[K]) *[]K {
	if n.root {
		return &f.roots
	}
	return &f.nodes[n.parent].children
}

// Ancestors are the nodes above a node, root first.
func (f *Forest[K]) Ancestors(id K) []K {
	var out []K
	for p, ok := f.Above(id); ok; p, ok = f.Above(p) {
		out = append(out, p)
	}
	slices.Reverse(out)
	return out
}

// Descendants are the nodes below a node down to a depth, in preorder; 0 means all.
func (f *Forest[K]) Descendants(id K, depth int) []K {
	var out []K
	for x, d := range f.Subtree(id) {
		if d > 0 && (depth == 0 || d <= depth) {
			out = append(out, x)
		}
	}
	return out
}

// Subtree goes through a node and its descendants in preorder, with their depths below the node. A node that isn't there has none.
func (f *Forest[K]) Subtree(id K) iter.Seq2[K, int] {
	return func(yield func(K, int) bool) {
		if f.Has(id) {
			f.walk([]K{id}, yield)
		}
	}
}

// All goes through all nodes in preorder, with their depths.
func (f *Forest[K]) All() iter.Seq2[K, int] {
	return func(yield func(K, int) bool) { f.walk(f.roots, yield) }
}

// walk keeps its own stack: trees may be deeper than a goroutine's.
func (f *Forest[K]) walk(from []K, yield func(K, int) bool) {
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
	if f.Has(id) {
		return fmt.Errorf("%w: node %v", model.ErrTaken, id)
	}
	if err := f.needPlace(at); err != nil {
		return err
	}
	if f.nodes == nil {
		f.nodes = map[K]*leaf[K]{}
	}
	f.nodes[id] = &leaf[K]{}
	f.put(id, at)
	return nil
}

// needPlace returns the error of a place that names a node that isn't there.
func (f *Forest[K]) needPlace(at Place[K]) error {
	if at.At.Root() {
		return nil
	}
	return f.Need(at.Ref)
}

// put enters a node, which is in no list, at a place.
func (f *Forest[K]) put(id K, at Place[K]) {
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
	list := f.list(n)
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

// Move takes a node, with all below it, to a place. It returns [model.ErrNotFound] or [ErrCycle].
func (f *Forest[K]) Move(id K, to Place[K]) error {
	err := f.Need(id)
	if err == nil {
		err = f.needPlace(to)
	}
	switch {
	case err != nil:
		return err
	case to.At.Root():
	case to.Ref == id && (to.At == Before || to.At == After):
		return nil
	case to.Ref == id, slices.Contains(f.Ancestors(to.Ref), id):
		return fmt.Errorf("%w: %v %v", ErrCycle, id, to)
	}
	f.take(id)
	f.put(id, to)
	return nil
}

// Stands is where a node is: its parent, false for a root, and its position among its siblings.
func (f *Forest[K]) Stands(id K) (parent K, child bool, at int) {
	parent, child = f.Above(id)
	return parent, child, slices.Index(*f.list(f.nodes[id]), id)
}

// take takes a node out of its list.
func (f *Forest[K]) take(id K) {
	list := f.list(f.nodes[id])
	i := slices.Index(*list, id)
	*list = slices.Delete(*list, i, i+1)
}

// Delete takes a node out. It returns [model.ErrNotFound] or [ErrHasChildren].
func (f *Forest[K]) Delete(id K, mode Mode) error {
	if mode > Rootify {
		return &model.ValueError{Field: "mode", Value: uint8(mode), Reason: "isn't a DeleteMode: use a constant of the package"}
	}
	if err := f.Need(id); err != nil {
		return err
	}
	n := f.nodes[id]
	switch {
	case mode == Restrict && len(n.children) > 0:
		return fmt.Errorf("%w: %v has %d", ErrHasChildren, id, len(n.children))
	case mode == Subtree:
		for _, x := range f.Descendants(id, 0) {
			delete(f.nodes, x)
		}
	case mode == Promote:
		list := f.list(n)
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
	f.take(id)
	delete(f.nodes, id)
	return nil
}
