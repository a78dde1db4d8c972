package forest

import (
	"slices"
	"strings"
)

// A Link is what the documents of a tree say of one node: its parent, if it is no root, and the key that orders it among its
// siblings.
type Link[K comparable] struct {
	ID     K
	Parent K
	Root   bool // there is no parent
	Order  string
}

// New makes a forest of links, in any order of them. Siblings come in the order of their keys; those with equal ones as in
// the list. What can't be placed is returned: links whose parent is missing, those on a cycle or below one, and each but the first
// of an id.
func New[K comparable](links []Link[K]) (*Forest[K], []Link[K]) {
	f := &Forest[K]{nodes: make(map[K]*leaf[K], len(links))}
	sorted := slices.Clone(links)
	slices.SortStableFunc(sorted, func(a, b Link[K]) int { return strings.Compare(a.Order, b.Order) })
	below, seen := map[K][]Link[K]{}, make(map[K]bool, len(links))
	var roots, lost []Link[K]
	first := sorted[:0]
	for _, l := range sorted {
		if seen[l.ID] {
			lost = append(lost, l)
			continue
		}
		seen[l.ID] = true
		if first = append(first, l); l.Root {
			roots = append(roots, l)
		} else {
			below[l.Parent] = append(below[l.Parent], l)
		}
	}
	for level := roots; len(level) > 0; {
		var next []Link[K]
		for _, l := range level {
			f.nodes[l.ID] = &leaf[K]{parent: l.Parent, root: l.Root}
			if l.Root {
				f.roots = append(f.roots, l.ID)
			} else {
				p := f.nodes[l.Parent]
				p.children = append(p.children, l.ID)
			}
			next = append(next, below[l.ID]...)
			delete(below, l.ID)
		}
		level = next
	}
	for _, l := range first {
		if f.nodes[l.ID] == nil {
			lost = append(lost, l)
		}
	}
	return f, lost
}

// Numbers are the left and right numbers of a forest's nodes as nested sets have them: a node's lie around those of all below it.
// The first is 1, and they go up by step; a step above 1 leaves gaps.
func (f *Forest[K]) Numbers(step int64) map[K][2]int64 {
	out := make(map[K][2]int64, len(f.nodes))
	n := int64(1)
	next := func() int64 { n += step; return n - step }
	var open []K // the nodes whose right number is not given yet
	for id, depth := range f.All() {
		for len(open) > depth {
			last := open[len(open)-1]
			out[last] = [2]int64{out[last][0], next()}
			open = open[:len(open)-1]
		}
		out[id] = [2]int64{next()}
		open = append(open, id)
	}
	for _, last := range slices.Backward(open) {
		out[last] = [2]int64{out[last][0], next()}
	}
	return out
}
