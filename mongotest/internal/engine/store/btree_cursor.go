package store

import (
	"iter"
	"sort"
)

// Cursor walks a tree in either direction. It is positioned by Seek, First or
// Last, and keeps reading the tree it was made from.
type Cursor[T any] struct {
	tree Tree[T]
	path []step[T]
}

// step is a node on the way from the root to a cursor's item.
type step[T any] struct {
	node *node[T]
	i    int // in a leaf or at the item: the item's index; above: the child's
}

// Cursor returns a cursor over t, at no item yet.
func (t Tree[T]) Cursor() Cursor[T] {
	return Cursor[T]{tree: t, path: make([]step[T], 0, usualDepth)}
}

// usualDepth is how many steps a cursor has room for at first: enough for some 500,000 items.
const usualDepth = 5 // enough for some 500,000 items

// All ranges over the items in order. It can be ranged again.
func (t Tree[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		c := t.Cursor()
		for ok := c.First(); ok; ok = c.Next() {
			if !yield(c.Item()) {
				return
			}
		}
	}
}

// Item returns the item that the last move, which returned true, arrived at.
func (c *Cursor[T]) Item() T {
	top := c.path[len(c.path)-1]
	return top.node.items[top.i]
}

// First moves to the least item.
func (c *Cursor[T]) First() bool {
	return c.Seek(func(T) bool { return false })
}

// Last moves to the greatest item.
func (c *Cursor[T]) Last() bool {
	return c.SeekBack(func(T) bool { return false })
}

// Seek moves to the first item for which before is false. before must be true of some first items of the tree and of no
// other. The moves of a cursor report whether there is an item.
func (c *Cursor[T]) Seek(before func(T) bool) bool {
	c.path = c.path[:0]
	for n := c.tree.root; n != nil; {
		i := sort.Search(len(n.items), func(i int) bool { return !before(n.items[i]) })
		c.path = append(c.path, step[T]{n, i})
		if n.isLeaf() {
			break
		}
		n = n.children[i]
	}
	return c.settle()
}

// SeekBack moves to the last item for which after is false. after must be true
// of some last items of the tree and of no other.
func (c *Cursor[T]) SeekBack(after func(T) bool) bool {
	c.path = c.path[:0]
	for n := c.tree.root; n != nil; {
		i := sort.Search(len(n.items), func(i int) bool { return after(n.items[i]) })
		c.path = append(c.path, step[T]{n, i})
		if n.isLeaf() {
			break
		}
		n = n.children[i]
	}
	return c.settleBack()
}

// Next moves to the following item.
func (c *Cursor[T]) Next() bool {
	top := &c.path[len(c.path)-1]
	top.i++
	if !top.node.isLeaf() {
		c.descend(top.node.children[top.i], false)
	}
	return c.settle()
}

// Prev moves to the item before.
func (c *Cursor[T]) Prev() bool {
	top := &c.path[len(c.path)-1]
	if !top.node.isLeaf() {
		c.descend(top.node.children[top.i], true)
	}
	return c.settleBack()
}

// descend adds the path to the first item of n, or with last to behind its last item.
func (c *Cursor[T]) descend(n *node[T], last bool) {
	for {
		i := 0
		if last {
			i = len(n.items)
		}
		c.path = append(c.path, step[T]{n, i})
		if n.isLeaf() {
			return
		}
		n = n.children[i]
	}
}

// settle leaves the nodes whose items are used up, and reports whether an item is left.
func (c *Cursor[T]) settle() bool {
	for len(c.path) > 0 {
		top := c.path[len(c.path)-1]
		if top.i < len(top.node.items) {
			return true
		}
		c.path = c.path[:len(c.path)-1]
	}
	return false
}

// settleBack steps to the item before the position, leaving the nodes whose
// items are used up.
func (c *Cursor[T]) settleBack() bool {
	for len(c.path) > 0 {
		top := &c.path[len(c.path)-1]
		if top.i > 0 {
			top.i--
			return true
		}
		c.path = c.path[:len(c.path)-1]
	}
	return false
}
