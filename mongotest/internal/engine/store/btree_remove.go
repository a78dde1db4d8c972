package store

import "slices"

// remove takes the item that compares equal to key, which is there, from
// below n, which is owned. It goes down once: each node that it enters has
// more than the least number of items, so that losing one leaves it valid.
func (e *Editor[T]) remove(n *node[T], key T) T {
	for {
		i, found := slices.BinarySearchFunc(n.items, key, e.tree.cmp)
		if n.isLeaf() {
			old := n.items[i]
			n.items = slices.Delete(n.items, i, i+1)
			return old
		}
		if len(n.children[i].items) <= minItems {
			e.widenChild(n, i)
			continue
		}
		child := e.ownChild(n, i)
		// An item of an inner node is replaced by the greatest item before it, which is in a leaf.
		if found {
			old := n.items[i]
			n.items[i] = e.removeMax(child)
			return old
		}
		n = child
	}
}

// removeMax takes the greatest item from below n, which is owned and has one
// to spare.
func (e *Editor[T]) removeMax(n *node[T]) T {
	for !n.isLeaf() {
		last := len(n.children) - 1
		if len(n.children[last].items) <= minItems {
			e.widenChild(n, last)
			continue
		}
		n = e.ownChild(n, last)
	}
	last := len(n.items) - 1
	old := n.items[last]
	n.items = slices.Delete(n.items, last, last+1)
	return old
}

// widenChild gives the i-th child of n one more item: from a neighbour that can
// spare one, else by joining it with a neighbour.
func (e *Editor[T]) widenChild(n *node[T], i int) {
	switch {
	case i > 0 && len(n.children[i-1].items) > minItems:
		e.shiftRight(n, i)
	case i < len(n.items) && len(n.children[i+1].items) > minItems:
		e.shiftLeft(n, i)
	case i == len(n.items):
		e.joinChildren(n, i-1)
	default:
		e.joinChildren(n, i)
	}
}

// shiftRight moves an item from the child on the left to the i-th child: by way of n, so that the order stays.
func (e *Editor[T]) shiftRight(n *node[T], i int) {
	left, child := e.ownChild(n, i-1), e.ownChild(n, i)
	last := len(left.items) - 1
	child.items = slices.Insert(child.items, 0, n.items[i-1])
	n.items[i-1] = left.items[last]
	left.items = slices.Delete(left.items, last, last+1)
	if !left.isLeaf() {
		child.children = slices.Insert(child.children, 0, left.children[last+1])
		left.children = slices.Delete(left.children, last+1, last+2)
	}
}

// shiftLeft moves an item from the child on the right to the i-th child.
func (e *Editor[T]) shiftLeft(n *node[T], i int) {
	child, right := e.ownChild(n, i), e.ownChild(n, i+1)
	child.items = append(child.items, n.items[i])
	n.items[i] = right.items[0]
	right.items = slices.Delete(right.items, 0, 1)
	if !right.isLeaf() {
		child.children = append(child.children, right.children[0])
		right.children = slices.Delete(right.children, 0, 1)
	}
}

// joinChildren puts the i-th child of n, the item after it and the next child into one node.
func (e *Editor[T]) joinChildren(n *node[T], i int) {
	left, right := e.ownChild(n, i), n.children[i+1]
	left.items = append(append(left.items, n.items[i]), right.items...)
	left.children = append(left.children, right.children...)
	n.items = slices.Delete(n.items, i, i+1)
	n.children = slices.Delete(n.children, i+1, i+2)
}
