package query

// This file says which keys an index must be scanned for. A filter such as
//
//	{a: {$gt: 5, $in: [3, 7]}, b: null}
//
// gives a list of intervals for each path: every match has a key of a in [3, 3] or [7, 7], and a key of b in nullKeys.
// Bounds never exclude a match, but may let other documents through.

import (
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Bounds returns the intervals for each dotted path on which the filter has a condition that every match must fulfill.
// Every match has a key of the path in one of the intervals. The list is sorted, and its intervals are disjoint. It is
// empty if nothing can match.
//
// The keys of a document are those of an index: the elements of an array, undefined for an empty array, null for a
// missing field.
//
// They hold for every index on the path by itself, also for a multikey index, an index with documents that have arrays.
// There two conditions on a path may be fulfilled by different elements, so Bounds has the narrowest of the conditions,
// not all of them together. Bounds of two paths below one array don't hold together in a compound multikey index.
//
// A path with a number in it has no bounds, because the number may be a position.
func (m *Matcher) Bounds() map[string][]Interval { return keepNarrowest(listIntervals(m.root)) }

// keepNarrowest keeps the list of the condition that lets the least through, for each path.
func keepNarrowest(conditions map[string][][]Interval) map[string][]Interval {
	out := map[string][]Interval{}
	for path, lists := range conditions {
		out[path] = slices.MinFunc(lists, func(a, b []Interval) int { return countWidth(a) - countWidth(b) })
	}
	return out
}

// TightBounds is Bounds with all conditions on a path together. It excludes no match as long as no indexed document has
// an array along the path. Of {a: {$gt: 1, $lt: 5}} it has (1, 5), Bounds only (1, Infinity].
func (m *Matcher) TightBounds() map[string][]Interval {
	out := map[string][]Interval{}
	for path, lists := range listIntervals(m.root) {
		all := lists[0]
		for _, list := range lists[1:] {
			all = intersect(all, list)
		}
		out[path] = all
	}
	return out
}

// ElementBounds returns, for each $elemMatch of documents that every match must fulfill, its bounds as [Matcher.Bounds]
// has them. The bounds of one $elemMatch hold together: the fields of one element are in one key of a compound multikey
// index. Of {a: {$elemMatch: {b: 1, c: 2}}} they are a.b: [1, 1] and a.c: [2, 2].
func (m *Matcher) ElementBounds() []map[string][]Interval {
	var all []map[string][]Interval
	for _, n := range appendConjuncts(nil, m.root) {
		for _, conditions := range collectElements(n) {
			all = append(all, keepNarrowest(conditions))
		}
	}
	return all
}

// collectElements returns the intervals that each $elemMatch of a node demands, by path, with the path of the array in
// front. A path has a list for each condition on it.
func collectElements(n node) (all []map[string][][]Interval) {
	switch n := n.(type) {
	case scoped:
		for _, x := range appendConjuncts(nil, n.m.root) {
			all = append(all, collectElements(x)...)
		}
	case onPath:
		conds := []cond{n.cond}
		if list, ok := n.cond.(every); ok {
			conds = list
		}
		for _, c := range conds {
			l, _ := c.(leaf)
			if m, ok := l.predicate.(elementMatch); ok && m.document != nil && !n.path.HasIndex() {
				out := map[string][][]Interval{}
				collectIntervals(m.document, n.name+".", out)
				all = append(all, out)
			}
		}
	}
	return all
}

// SplitOr returns, for each $or that every match must fulfill, a matcher for each of its branches together with all
// other conditions of the filter: {$or: [{a: 1}, {b: 2}], c: 3} gives {a: 1, c: 3} and {b: 2, c: 3}. A document matches
// if one of the matchers does. Package plan looks for an index for each.
func (m *Matcher) SplitOr() [][]*Matcher {
	conditions := appendConjuncts(nil, m.root)
	var out [][]*Matcher
	for i, n := range conditions {
		branches, ok := n.(or)
		if !ok {
			continue
		}
		list := make([]*Matcher, len(branches))
		for k, b := range branches {
			list[k] = &Matcher{root: b, base: m.base, by: m.by}
			if len(conditions) > 1 {
				list[k].root = append(append(and{b}, conditions[:i]...), conditions[i+1:]...)
			}
		}
		out = append(out, list)
	}
	return out
}

// countWidth estimates how much a list of intervals lets through, without knowledge of the data: a point counts 1, null
// and undefined 2, a range with two ends of its own 2^18, any other range 2^20. So any number of points is narrower
// than a range, as a rule.
func countWidth(list []Interval) int {
	n := 0
	for _, i := range list {
		switch {
		case i.IsPoint():
			n++
		case bsonval.IsNullish(i.Hi):
			n += 2
		case hasTwoEnds(i):
			n += 1 << 18
		default:
			n += 1 << 20
		}
	}
	return n
}

// hasTwoEnds reports whether an interval is narrower than its type on both sides, as a regular expression's prefix is.
func hasTwoEnds(i Interval) bool {
	all, ok := findTypeRange(i.Lo)
	return ok && bsonval.Compare(i.Lo, all.Lo) != 0 && bsonval.Compare(i.Hi, all.Hi) != 0
}

// listIntervals returns the lists of intervals that a node demands, by path: a list for each condition on the path.
func listIntervals(n node) map[string][][]Interval {
	out := map[string][][]Interval{}
	collectIntervals(n, "", out)
	return out
}

// collectIntervals adds the lists of a node to out, with a prefix before each path: "a." for a node in the $elemMatch
// of a. A $nor has no bounds, and an $or only if it has one branch.
func collectIntervals(n node, prefix string, out map[string][][]Interval) {
	switch n := n.(type) {
	case and:
		for _, x := range n {
			collectIntervals(x, prefix, out)
		}
	case or:
		if len(n) == 1 {
			collectIntervals(n[0], prefix, out)
		}
	case scoped:
		collectIntervals(n.m.root, prefix, out)
	case onPath:
		if !n.path.HasIndex() {
			collectFromCond(n.cond, prefix+n.name, out)
		}
	}
}

// collectFromCond adds the lists of a condition on one path to out.
func collectFromCond(c cond, path string, out map[string][][]Interval) {
	switch c := c.(type) {
	case every:
		for _, x := range c {
			collectFromCond(x, path, out)
		}
	case never:
		out[path] = append(out[path], []Interval{})
	case leaf:
		m, ok := c.predicate.(elementMatch)
		switch {
		// An index on a.b has a key for the b of each element.
		case ok && m.document != nil:
			collectIntervals(m.document, path+".", out)
		case ok:
			if list, bounded := intersectElement(m.value); bounded {
				out[path] = append(out[path], list)
			}
		default:
			if list, bounded := findIntervals(c.predicate); bounded {
				out[path] = append(out[path], list)
			}
		}
	}
}
