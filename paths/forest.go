package paths

import (
	"fmt"
	"iter"
	"slices"

	"github.com/docmodel/docmodel/model"
)

// A Forest is an ordered tree in memory, of nodes that are known by their ids, with any number of roots: what the documents of a
// tree say, without a database. The zero Forest is empty. It is not safe for use by several goroutines while it is changed.
//
// Its operations are those of [Tree], by the same names, with the same answers: a node that isn't there is [ErrNoNode].
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

// Roots are the ids of the roots, in order.
func (f *Forest[K]) Roots() []K { return slices.Clone(f.roots) }

// Parent is the id of a node's parent; false for a root. It returns [ErrNoNode].
func (f *Forest[K]) Parent(id K) (parent K, ok bool, err error) {
	if err = f.need(id); err == nil {
		parent, ok = f.above(id)
	}
	return parent, ok, err
}

// need returns the error of a node that isn't there.
func (f *Forest[K]) need(ids ...K) error {
	for _, id := range ids {
		if !f.Has(id) {
			return fmt.Errorf("%w: %v", ErrNoNode, id)
		}
	}
	return nil
}

// above is a node's parent; false for a root, and for a node that isn't there.
func (f *Forest[K]) above(id K) (parent K, ok bool) {
	if n := f.nodes[id]; n != nil && !n.root {
		return n.parent, true
	}
	return parent, false
}

// Children are the ids of a node's children, in order. It returns [ErrNoNode].
func (f *Forest[K]) Children(id K) ([]K, error) { return f.ask(id, f.children) }

// ask asks for nodes around one.
func (f *Forest[K]) ask(id K, of func(id K) []K) ([]K, error) {
	if err := f.need(id); err != nil {
		return nil, err
	}
	return of(id), nil
}

func (f *Forest[K]) children(id K) []K { return slices.Clone(f.nodes[id].children) }

// Siblings are the ids of the other children of a node's parent, or of the other roots, in order. It returns [ErrNoNode].
func (f *Forest[K]) Siblings(id K) ([]K, error) { return f.ask(id, f.siblings) }

func (f *Forest[K]) siblings(id K) []K {
	return slices.DeleteFunc(slices.Clone(*f.list(f.nodes[id])), func(x K) bool { return x == id })
}

// list is the list that a node is in.
func (f *Forest[K]) list(n *leaf[K]) *[]K {
	if n.root {
		return &f.roots
	}
	return &f.nodes[n.parent].children
}

// Ancestors are the ids of the nodes above a node, root first. It returns [ErrNoNode].
func (f *Forest[K]) Ancestors(id K) ([]K, error) { return f.ask(id, f.ancestors) }

func (f *Forest[K]) ancestors(id K) []K {
	var out []K
	for p, ok := f.above(id); ok; p, ok = f.above(p) {
		out = append(out, p)
	}
	slices.Reverse(out)
	return out
}

// Depth is the number of a node's ancestors. It returns [ErrNoNode].
func (f *Forest[K]) Depth(id K) (int, error) {
	above, err := f.Ancestors(id)
	return len(above), err
}

// Descendants are the ids of the nodes below a node down to a depth, in preorder: 1 means children, 0 means all. It returns
// [ErrNoNode], and a [*model.ValueError] for a negative depth.
func (f *Forest[K]) Descendants(id K, depth int) ([]K, error) {
	if depth < 0 {
		return nil, &model.ValueError{Field: "depth", Value: depth, Reason: "is negative; 0 means all"}
	}
	return f.ask(id, func(id K) []K { return f.descendants(id, depth) })
}

func (f *Forest[K]) descendants(id K, depth int) []K {
	var out []K
	for x, d := range f.subtree(id) {
		if d > 0 && (depth == 0 || d <= depth) {
			out = append(out, x)
		}
	}
	return out
}

// Leaves are the ids of the nodes without children, at or below a node, in order. It returns [ErrNoNode].
func (f *Forest[K]) Leaves(id K) ([]K, error) { return f.ask(id, f.leaves) }

func (f *Forest[K]) leaves(id K) []K {
	var out []K
	for x := range f.subtree(id) {
		if len(f.nodes[x].children) == 0 {
			out = append(out, x)
		}
	}
	return out
}

// Count is the number of a node's descendants. It returns [ErrNoNode].
func (f *Forest[K]) Count(id K) (int, error) {
	if err := f.need(id); err != nil {
		return 0, err
	}
	n := -1
	for range f.subtree(id) {
		n++
	}
	return n, nil
}

// IsAncestor reports whether a node lies above another. It returns [ErrNoNode] where one of them isn't there.
func (f *Forest[K]) IsAncestor(ancestor, id K) (bool, error) {
	if err := f.need(id, ancestor); err != nil {
		return false, err
	}
	return f.isBelow(id, ancestor), nil
}

func (f *Forest[K]) isBelow(id, ancestor K) bool { return slices.Contains(f.ancestors(id), ancestor) }

// CommonAncestor is the lowest node that equals or is above both nodes; false when they are in different trees. It returns
// [ErrNoNode] where one of them isn't there.
func (f *Forest[K]) CommonAncestor(a, b K) (id K, ok bool, err error) {
	if err := f.need(a, b); err != nil {
		return id, false, err
	}
	x, y := append(f.ancestors(a), a), append(f.ancestors(b), b)
	for i := 0; i < min(len(x), len(y)) && x[i] == y[i]; i++ {
		id, ok = x[i], true
	}
	return id, ok, nil
}

// Walk goes through a node and its descendants in preorder: parents before their children, siblings in order. A visit's Doc is the
// id. A node that isn't there gives [ErrNoNode]. It can be ranged over again; the forest must not be changed meanwhile.
func (f *Forest[K]) Walk(id K) iter.Seq2[Visit[K], error] {
	return func(yield func(Visit[K], error) bool) {
		if err := f.need(id); err != nil {
			yield(Visit[K]{}, err)
			return
		}
		f.walk([]K{id}, func(id K, depth int) bool { return yield(Visit[K]{Doc: id, Depth: depth}, nil) })
	}
}

// subtree goes through a node and its descendants in preorder, with their depths below the node. A node that isn't there has none.
func (f *Forest[K]) subtree(id K) iter.Seq2[K, int] {
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

// keys are all nodes in preorder.
func (f *Forest[K]) keys() iter.Seq[K] {
	return func(yield func(K) bool) { f.walk(f.roots, func(id K, _ int) bool { return yield(id) }) }
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

// Insert adds a node at a place. It returns [ErrExists] or [ErrNoNode].
func (f *Forest[K]) Insert(id K, at Place[K]) error {
	if f.Has(id) {
		return fmt.Errorf("%w: %v", ErrExists, id)
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
	if at.at.root() {
		return nil
	}
	return f.need(at.ref)
}

// put enters a node, which is in no list, at a place.
func (f *Forest[K]) put(id K, at Place[K]) {
	n := f.nodes[id]
	switch at.at {
	case firstChild, lastChild:
		n.parent, n.root = at.ref, false
	case before, after:
		sibling := f.nodes[at.ref]
		n.parent, n.root = sibling.parent, sibling.root
	default:
		n.root = true
	}
	list := f.list(n)
	i := 0
	switch at.at {
	case lastRoot, lastChild:
		i = len(*list)
	case before:
		i = slices.Index(*list, at.ref)
	case after:
		i = slices.Index(*list, at.ref) + 1
	}
	*list = slices.Insert(*list, i, id)
}

// Move takes a node, with all below it, to a place. It returns [ErrNoNode] or [ErrCycle]. Moving a node next to itself, or to where
// it is, is a no-op.
func (f *Forest[K]) Move(id K, to Place[K]) error {
	err := f.need(id)
	if err == nil {
		err = f.needPlace(to)
	}
	switch {
	case err != nil:
		return err
	case to.at.root():
	case to.ref == id && (to.at == before || to.at == after):
		return nil
	case to.ref == id, f.isBelow(to.ref, id):
		return fmt.Errorf("%w: %v %v", ErrCycle, id, to)
	}
	f.take(id)
	f.put(id, to)
	return nil
}

// stands is where a node is: its parent, false for a root, and its position among its siblings.
func (f *Forest[K]) stands(id K) (parent K, child bool, at int) {
	parent, child = f.above(id)
	return parent, child, slices.Index(*f.list(f.nodes[id]), id)
}

// take takes a node out of its list.
func (f *Forest[K]) take(id K) {
	list := f.list(f.nodes[id])
	i := slices.Index(*list, id)
	*list = slices.Delete(*list, i, i+1)
}

// Delete takes a node out; the mode says what becomes of its children. It returns [ErrNoNode], so of a node that was deleted before,
// or [ErrHasChildren] where the mode is [Restrict].
func (f *Forest[K]) Delete(id K, mode DeleteMode) error {
	if mode > Rootify {
		return &model.ValueError{Field: "mode", Value: uint8(mode), Reason: "is not a DeleteMode"}
	}
	if err := f.need(id); err != nil {
		return err
	}
	n := f.nodes[id]
	switch {
	case mode == Restrict && len(n.children) > 0:
		return fmt.Errorf("%w: %v has %d", ErrHasChildren, id, len(n.children))
	case mode == Subtree:
		for _, x := range f.descendants(id, 0) {
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
