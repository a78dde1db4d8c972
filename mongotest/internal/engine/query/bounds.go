package query

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Bounds returns, for each dotted path that every match must have a key at,
// the intervals one of which holds such a key: sorted and disjoint, an empty
// list when nothing can match. The keys of an array are its elements, or
// undefined for an empty one; a missing field's key is null.
//
// They hold for every index on the path by itself, also a multikey one, for
// which two conditions on a path may be fulfilled by different elements.
// Bounds of two paths below one array don't hold together in a compound
// multikey index. [Matcher.TightBounds] holds when no document has an array
// along the paths.
//
// A path with a numeric component has no bounds.
func (m *Matcher) Bounds() map[string][]Interval {
	out := map[string][]Interval{}
	for path, lists := range conditions(m.root) {
		out[path] = slices.MinFunc(lists, func(a, b []Interval) int { return countWidth(a) - countWidth(b) })
	}
	return out
}

// TightBounds is Bounds with all conditions on a path together. It excludes no
// match as long as no indexed document has an array along the path.
func (m *Matcher) TightBounds() map[string][]Interval {
	out := map[string][]Interval{}
	for path, lists := range conditions(m.root) {
		all := lists[0]
		for _, list := range lists[1:] {
			all = intersect(all, list)
		}
		out[path] = all
	}
	return out
}

// ElementBounds returns, for each $elemMatch of documents that every match must fulfill, its bounds as [Matcher.Bounds]
// has them. These hold together: what one element has below an array is in one key of a compound multikey index.
func (m *Matcher) ElementBounds() []map[string][]Interval {
	var all []map[string][]Interval
	for _, n := range appendConjuncts(nil, m.root) {
		for _, at := range elementMatches(n) {
			out := map[string][]Interval{}
			for path, lists := range at {
				out[path] = slices.MinFunc(lists, func(a, b []Interval) int { return countWidth(a) - countWidth(b) })
			}
			all = append(all, out)
		}
	}
	return all
}

// elementMatches returns what each $elemMatch of a condition on one path asks of an element.
func elementMatches(n node) (all []map[string][][]Interval) {
	switch n := n.(type) {
	case bound:
		for _, x := range appendConjuncts(nil, n.m.root) {
			all = append(all, elementMatches(x)...)
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
				collect(m.document, n.name+".", out)
				all = append(all, out)
			}
		}
	}
	return all
}

// Or returns, for each $or that every match must fulfill, a matcher for each
// of its branches together with all other conditions: a document matches when
// one of them does.
func (m *Matcher) Or() [][]*Matcher {
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

// Paths returns the paths that top-level conditions test, sorted, each once.
func (m *Matcher) Paths() []string {
	return slices.Sorted(maps.Keys(m.Bounds()))
}

// countWidth ranks a list of intervals by how little it lets through: points before ranges.
func countWidth(list []Interval) int {
	n := 0
	for _, i := range list {
		switch {
		case i.IsPoint():
			n++
		case bsonval.IsNullish(i.Hi):
			n += 2
		case bracketed(i):
			n += 1 << 18
		default:
			n += 1 << 20
		}
	}
	return n
}

// bracketed reports whether an interval is narrower than its type on both sides.
func bracketed(i Interval) bool {
	all, ok := typeRange(i.Lo)
	return ok && bsonval.Compare(i.Lo, all.Lo) != 0 && bsonval.Compare(i.Hi, all.Hi) != 0
}

// conditions returns the lists of intervals that each condition asks of a path.
func conditions(n node) map[string][][]Interval {
	out := map[string][][]Interval{}
	collect(n, "", out)
	return out
}

func collect(n node, prefix string, out map[string][][]Interval) {
	switch n := n.(type) {
	case and:
		for _, x := range n {
			collect(x, prefix, out)
		}
	case or:
		if len(n) == 1 {
			collect(n[0], prefix, out)
		}
	case bound:
		collect(n.m.root, prefix, out)
	case onPath:
		if !n.path.HasIndex() {
			ofCond(n.cond, prefix+n.name, out)
		}
	}
}

func ofCond(c cond, path string, out map[string][][]Interval) {
	switch c := c.(type) {
	case every:
		for _, x := range c {
			ofCond(x, path, out)
		}
	case never:
		out[path] = append(out[path], []Interval{})
	case leaf:
		m, ok := c.predicate.(elementMatch)
		switch {
		case ok && m.document != nil:
			collect(m.document, path+".", out)
		case ok:
			if list, bounded := elementIntervals(m.value); bounded {
				out[path] = append(out[path], list)
			}
		default:
			if list, bounded := intervals(c.predicate); bounded {
				out[path] = append(out[path], list)
			}
		}
	}
}

// elementIntervals is what a condition asks of one and the same element.
func elementIntervals(c cond) ([]Interval, bool) {
	switch c := c.(type) {
	case leaf:
		return intervals(c.predicate)
	case every:
		var all []Interval
		bounded := false
		for _, x := range c {
			list, ok := elementIntervals(x)
			switch {
			case ok && bounded:
				all = intersect(all, list)
			case ok:
				all, bounded = list, true
			}
		}
		return all, bounded
	}
	return nil, false
}

// intervals returns the index keys that a predicate needs one of, false when it may do without.
func intervals(p predicate) ([]Interval, bool) {
	switch p := p.(type) {
	case equal:
		return point(p.key)
	case ordered:
		return p.intervals()
	case pattern:
		return p.intervals()
	case among:
		return p.intervals()
	}
	return nil, false
}

func point(v any) ([]Interval, bool) {
	switch v.(type) {
	case nil:
		return []Interval{nullKeys}, true
	case bson.A:
		return nil, false
	}
	return []Interval{Point(v)}, true
}

func (o ordered) intervals() ([]Interval, bool) {
	if o.v == nil {
		if o.op == "$gt" || o.op == "$lt" {
			return []Interval{}, true
		}
		return []Interval{nullKeys}, true
	}
	if bsonval.IsNaN(o.v) {
		if o.op == "$gt" || o.op == "$lt" {
			return []Interval{}, true
		}
		return []Interval{Point(o.v)}, true
	}
	i, ok := typeRange(o.v)
	if !ok {
		return nil, false
	}
	switch o.op {
	case "$gt", "$gte":
		i.Lo, i.LoInc = o.key, o.op == "$gte"
	default:
		i.Hi, i.HiInc = o.key, o.op == "$lte"
	}
	if i.empty() {
		return []Interval{}, true
	}
	return []Interval{i}, true
}

func (p pattern) intervals() ([]Interval, bool) {
	if p.collated {
		return nil, false
	}
	prefix, ok := bsonval.RegexPrefix(p.source.Pattern, p.source.Options)
	if !ok {
		return nil, false
	}
	i := Interval{Lo: prefix, Hi: bson.D{}, LoInc: true}
	if next, ok := successor(prefix); ok {
		i.Hi = next
	}
	return []Interval{i, Point(p.source)}, true
}

// successor returns the least string above all that begin with the prefix.
func successor(prefix string) (string, bool) {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1]), true
		}
	}
	return "", false
}

func (in among) intervals() ([]Interval, bool) {
	list := make([]Interval, 0, len(in.sorted)+1)
	if in.null {
		list = append(list, nullKeys)
	}
	for _, v := range in.keys {
		i, ok := point(v)
		if !ok {
			return nil, false
		}
		list = append(list, i...)
	}
	for _, re := range in.regexes {
		i, ok := re.intervals()
		if !ok {
			return nil, false
		}
		list = append(list, i...)
	}
	return normal(list), true
}
