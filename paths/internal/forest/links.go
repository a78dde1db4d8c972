package forest

import (
	"slices"
	"strings"
)

// A Link is what a stored node says of its place: its parent, and the key that sorts it
// among its siblings.
type Link[K comparable] struct {
	ID     K
	Parent K
	// Root says that there is no parent. Parent is then the zero K, which could be a
	// valid id.
	Root  bool
	Order string
}

// BuildForest makes a forest of links, in any order of them. Siblings are sorted by their
// keys; siblings with equal keys keep their order in the list. The second result has the
// links without a place: those whose parent is missing, those in a cycle or below one,
// and repeated ids, of which the first one counts.
func BuildForest[K comparable](links []Link[K]) (*Forest[K], []Link[K]) {
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
	// Level by level from the roots: what isn't reached has no place.
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

// NumberNodes returns the left and right numbers of a nested set: the numbers of a node
// enclose those of its descendants. The first number is 1. The others follow at a
// distance of step.
func (f *Forest[K]) NumberNodes(step int64) map[K][2]int64 {
	out := make(map[K][2]int64, len(f.nodes))
	n := int64(1)
	next := func() int64 { n += step; return n - step }
	// Nodes whose descendants are being numbered.
	var open []K
	for id, depth := range f.WalkAll() {
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
