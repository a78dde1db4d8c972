package store

import (
	"slices"
	"sort"
)

// The trees of this file are B-trees (https://en.wikipedia.org/wiki/B-tree). What holds for each tree that can be seen:
//
//   - All leaves are equally deep.
//   - A node has minItems to maxItems items, the root at least one. An inner node has one child more than items.
//   - A node that a Tree has given out never changes. An Editor owns the nodes that it has made since it last gave out
//     a Tree, and changes only these. It copies the way from the root to a change, so an edit costs a node per level.

// Tree is an immutable ordered set, as a B-tree. Edit makes a changed copy that shares all nodes that it can with the
// original. The original, and whoever reads it, never notices. The zero Tree isn't usable: NewTree makes an empty one.
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
		if n.isLeaf() {
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
		if n.isLeaf() {
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

// owner identifies the nodes that one editor made, which it may change in place. It has a byte because two allocations
// of an empty struct can have one address.
type owner struct{ _ byte }

// node is a node of a tree. An inner node has one child more than items: all items below children[i] are between
// items[i-1] and items[i].
type node[T any] struct {
	owner    *owner
	items    []T
	children []*node[T]
}

// isLeaf reports whether the node has no children.
func (n *node[T]) isLeaf() bool { return len(n.children) == 0 }

// Editor changes a tree. It copies each node that it did not make itself.
// It is not safe for concurrent use.
type Editor[T any] struct {
	tree  Tree[T]
	owner *owner
}

// Tree returns what the editor holds now, as an immutable tree. The editor may go on: it no longer owns its nodes, so
// later changes don't show in the returned tree.
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
	root := e.ownNode(e.tree.root)
	if len(root.items) == maxItems {
		up := e.newNode()
		up.children = append(up.children, root)
		e.splitChild(up, 0)
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
	root := e.ownNode(e.tree.root)
	old = e.remove(root, key)
	if len(root.items) == 0 {
		if root.isLeaf() {
			root = nil
		} else {
			root = root.children[0]
		}
	}
	e.tree.root = root
	e.tree.len--
	return old, true
}

// newNode returns an empty node that the editor owns.
func (e *Editor[T]) newNode() *node[T] {
	if e.owner == nil {
		e.owner = new(owner)
	}
	return &node[T]{owner: e.owner}
}

// ownNode returns a node that the editor may change: n itself if the editor owns it, else a copy.
func (e *Editor[T]) ownNode(n *node[T]) *node[T] {
	if e.owner != nil && n.owner == e.owner {
		return n
	}
	c := e.newNode()
	c.items = append(make([]T, 0, min(len(n.items)+2, maxItems)), n.items...)
	if !n.isLeaf() {
		c.children = append(make([]*node[T], 0, min(len(n.children)+2, maxItems+1)), n.children...)
	}
	return c
}

// ownChild makes the i-th child of n, which is owned, owned too.
func (e *Editor[T]) ownChild(n *node[T], i int) *node[T] {
	c := e.ownNode(n.children[i])
	n.children[i] = c
	return c
}

// splitChild halves the full i-th child of n. The item in the middle goes up into n.
func (e *Editor[T]) splitChild(n *node[T], i int) {
	left := e.ownChild(n, i)
	right := e.newNode()
	middle := left.items[minItems]
	right.items = append(make([]T, 0, maxItems), left.items[minItems+1:]...)
	clear(left.items[minItems:])
	left.items = left.items[:minItems]
	if !left.isLeaf() {
		right.children = append(make([]*node[T], 0, maxItems+1), left.children[degree:]...)
		clear(left.children[degree:])
		left.children = left.children[:degree]
	}
	n.items = slices.Insert(n.items, i, middle)
	n.children = slices.Insert(n.children, i+1, right)
}

// insert puts item below n, which is owned and not full. It splits full nodes on the way down, so that it never has to
// go back up.
func (e *Editor[T]) insert(n *node[T], item T) (old T, replaced bool) {
	for {
		i, found := e.search(n, item)
		if found {
			old, n.items[i] = n.items[i], item
			return old, true
		}
		if n.isLeaf() {
			n.items = slices.Insert(n.items, i, item)
			return old, false
		}
		if len(n.children[i].items) == maxItems {
			e.splitChild(n, i)
			continue
		}
		n = e.ownChild(n, i)
	}
}

// search returns the index of item in n, or where it belongs. It tries the end first, because items often come in
// ascending order.
func (e *Editor[T]) search(n *node[T], item T) (int, bool) {
	last := len(n.items) - 1
	if last >= 0 && e.tree.cmp(item, n.items[last]) > 0 {
		return last + 1, false
	}
	return slices.BinarySearchFunc(n.items, item, e.tree.cmp)
}
