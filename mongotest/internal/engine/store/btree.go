package store

import (
	"slices"
	"sort"
)

// Tree is an immutable ordered set. Edit makes a changed copy that shares all
// it can with the original; the original, and whoever reads it, never notices.
// The zero Tree is not usable: NewTree makes an empty one.
type Tree[T any] struct {
	root *node[T]
	cmp  func(a, b T) int
	len  int
}

// NewTree returns an empty tree ordered by cmp.
func NewTree[T any](cmp func(a, b T) int) Tree[T] { return Tree[T]{cmp: cmp} }

// Len returns the number of items.
func (t Tree[T]) Len() int { return t.len }

// Get returns the item that compares equal to key.
func (t Tree[T]) Get(key T) (item T, ok bool) {
	for n := t.root; n != nil; {
		i, found := slices.BinarySearchFunc(n.items, key, t.cmp)
		if found {
			return n.items[i], true
		}
		if n.leaf() {
			break
		}
		n = n.children[i]
	}
	return item, false
}

// Find returns the item for which order is 0. order must be negative for the
// items before it and positive for those after.
func (t Tree[T]) Find(order func(item T) int) (item T, ok bool) {
	for n := t.root; n != nil; {
		i := sort.Search(len(n.items), func(i int) bool { return order(n.items[i]) >= 0 })
		if i < len(n.items) && order(n.items[i]) == 0 {
			return n.items[i], true
		}
		if n.leaf() {
			break
		}
		n = n.children[i]
	}
	return item, false
}

// Edit returns an editor that starts with the items of t.
func (t Tree[T]) Edit() Editor[T] {
	return Editor[T]{tree: t}
}

// degree is the least number of children of an inner node but the root: nodes
// hold degree-1 to 2*degree-1 items.
const (
	degree   = 16
	maxItems = 2*degree - 1
	minItems = degree - 1
)

// owner marks the nodes that one editor made, which it may change in place.
type owner struct{ _ byte }

type node[T any] struct {
	owner    *owner
	items    []T
	children []*node[T]
}

func (n *node[T]) leaf() bool { return len(n.children) == 0 }

// Editor changes a tree. It copies each node that it did not make itself.
// It is not safe for concurrent use.
type Editor[T any] struct {
	tree  Tree[T]
	owner *owner
}

// Tree returns what the editor holds now, as an immutable tree. The editor may
// go on: later changes don't show in the returned tree.
func (e *Editor[T]) Tree() Tree[T] {
	e.owner = nil
	return e.tree
}

// View returns what the editor holds, for reading before the next change.
func (e *Editor[T]) View() Tree[T] { return e.tree }

// Set adds item, or puts it in the place of the item that compares equal,
// which it then returns.
func (e *Editor[T]) Set(item T) (old T, replaced bool) {
	if e.tree.root == nil {
		e.tree.root = e.newNode()
		e.tree.root.items = append(e.tree.root.items, item)
		e.tree.len = 1
		return old, false
	}
	root := e.own(e.tree.root)
	if len(root.items) == maxItems {
		up := e.newNode()
		up.children = append(up.children, root)
		e.split(up, 0)
		root = up
	}
	e.tree.root = root
	old, replaced = e.insert(root, item)
	if !replaced {
		e.tree.len++
	}
	return old, replaced
}

// Delete removes the item that compares equal to key and returns it.
func (e *Editor[T]) Delete(key T) (old T, found bool) {
	if _, ok := e.tree.Get(key); !ok {
		return old, false
	}
	root := e.own(e.tree.root)
	old = e.remove(root, key)
	if len(root.items) == 0 {
		if root.leaf() {
			root = nil
		} else {
			root = root.children[0]
		}
	}
	e.tree.root = root
	e.tree.len--
	return old, true
}

func (e *Editor[T]) newNode() *node[T] {
	if e.owner == nil {
		e.owner = new(owner)
	}
	return &node[T]{owner: e.owner}
}

func (e *Editor[T]) own(n *node[T]) *node[T] {
	if e.owner != nil && n.owner == e.owner {
		return n
	}
	c := e.newNode()
	c.items = append(make([]T, 0, min(len(n.items)+2, maxItems)), n.items...)
	if !n.leaf() {
		c.children = append(make([]*node[T], 0, min(len(n.children)+2, maxItems+1)), n.children...)
	}
	return c
}

// ownChild makes the i-th child of n, which is owned, owned too.
func (e *Editor[T]) ownChild(n *node[T], i int) *node[T] {
	c := e.own(n.children[i])
	n.children[i] = c
	return c
}

// split halves the full i-th child of n.
func (e *Editor[T]) split(n *node[T], i int) {
	left := e.ownChild(n, i)
	right := e.newNode()
	middle := left.items[minItems]
	right.items = append(make([]T, 0, maxItems), left.items[minItems+1:]...)
	clear(left.items[minItems:])
	left.items = left.items[:minItems]
	if !left.leaf() {
		right.children = append(make([]*node[T], 0, maxItems+1), left.children[degree:]...)
		clear(left.children[degree:])
		left.children = left.children[:degree]
	}
	n.items = slices.Insert(n.items, i, middle)
	n.children = slices.Insert(n.children, i+1, right)
}

// insert puts item below n, which is owned and not full.
func (e *Editor[T]) insert(n *node[T], item T) (old T, replaced bool) {
	for {
		i, found := e.search(n, item)
		if found {
			old, n.items[i] = n.items[i], item
			return old, true
		}
		if n.leaf() {
			n.items = slices.Insert(n.items, i, item)
			return old, false
		}
		if len(n.children[i].items) == maxItems {
			e.split(n, i)
			continue
		}
		n = e.ownChild(n, i)
	}
}

// search tries the end first: items often come in ascending order.
func (e *Editor[T]) search(n *node[T], item T) (int, bool) {
	last := len(n.items) - 1
	if last >= 0 && e.tree.cmp(item, n.items[last]) > 0 {
		return last + 1, false
	}
	return slices.BinarySearchFunc(n.items, item, e.tree.cmp)
}
