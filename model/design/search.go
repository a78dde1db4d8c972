package design

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Design compares the best layout for a workload with other layouts.
type Design struct {
	Workload   Workload
	Best       Prices
	Next       []Prices // at most three other layouts, best first
	Normalized Prices   // the layout with references only
	Reasons    []Reason // the time that Best saves, by relation
	Flips      []Flip   // when a layout of Next is better than Best

	Priced int  // number of layouts priced
	Exact  bool // whether all layouts were priced

	// If Exact, Bound is Best.Time. If not, no layout takes less time than Bound.
	Bound time.Duration
}

// SearchLimit is a number of layouts. If a workload has more layouts, [Workload.Design]
// prices only some of the layouts.
const SearchLimit = 5000

// Design finds the best [Layout]. The best layout exceeds the fewest time limits
// (Operation.Within). Among equal layouts, the fastest is the best.
//
// For each relation, Design tries:
//   - [Reference]. Children can copy their parents' fields. A parent can contain totals,
//     or its newest children (at most 100).
//   - [Embedded], if each parent has at most [advise.FewLimit] children, in at most
//     [advise.ArrayLimit] bytes
//   - [Paged], 100 children per document, if children never change. Parents need at
//     least 25 children on average. A parent can contain its newest children.
//
// Of more than [SearchLimit] layouts, Design prices only some: see Design.Bound.
func (w Workload) Design() (Design, error) {
	g, err := newGraph(w)
	if err != nil {
		return Design{}, err
	}
	f := newFinder(g)
	normalized, err := f.price(Layout{})
	if err != nil {
		return Design{}, err
	}
	d := Design{Workload: w, Normalized: *normalized}
	if d.Exact = f.size(f.groups) <= SearchLimit; d.Exact {
		f.all(f.groups, Layout{})
		d.Bound = f.best[0].Time
	} else {
		d.Bound = f.steps()
	}
	d.Best, d.Next, d.Priced = f.best[0], f.next(), len(f.seen)
	d.Best.Layout.Name, d.Normalized.Layout.Name = "best", "normalized"
	for i := range d.Next {
		d.Next[i].Layout.Name = fmt.Sprint("next ", i+1)
	}
	d.Reasons, d.Flips = f.reasons(d.Best), flips(d.Best, d.Next)
	return d, nil
}

// finder looks for the best layouts.
type finder struct {
	*graph
	groups [][]Layout // for each entity, the candidates for the relations to its parents
	seen   map[string]bool
	best   []Prices          // the best two, in order
	others map[string]Prices // the best of each of the four best shapes
}

func newFinder(g *graph) *finder {
	return &finder{graph: g, groups: g.groups(), seen: map[string]bool{}, others: map[string]Prices{}}
}

// next returns the second best layout, and the best of other shapes.
func (f *finder) next() (out []Prices) {
	shapes := slices.Collect(maps.Values(f.others))
	slices.SortStableFunc(shapes, comparePrices)
	for _, p := range slices.Concat(f.best[1:], shapes) {
		known := p.Layout.String() == f.best[0].Layout.String() ||
			slices.ContainsFunc(out, func(o Prices) bool { return o.Layout.String() == p.Layout.String() })
		if !known && len(out) < 3 {
			out = append(out, p)
		}
	}
	return out
}

// forgetWorst keeps the four best shapes. next needs no more, and a layout uses much
// memory.
func (f *finder) forgetWorst() {
	if len(f.others) <= 4 {
		return
	}
	worst := ""
	for shape, p := range f.others {
		if worst == "" || comparePrices(p, f.others[worst]) > 0 {
			worst = shape
		}
	}
	delete(f.others, worst)
}

// shape is the layout without copies.
func (l Layout) shape() string {
	var out Layout
	for name, s := range l.Stored {
		s.Copy = nil
		out = out.with(name, s)
	}
	return out.String()
}

// size is the number of layouts in the groups.
func (f *finder) size(groups [][]Layout) int {
	n := 1
	for _, group := range groups {
		if n *= len(group); n > SearchLimit {
			return n
		}
	}
	return n
}

// all prices all layouts of the groups, on top of l.
func (f *finder) all(groups [][]Layout, l Layout) {
	if len(groups) == 0 {
		f.try(l)
		return
	}
	for _, part := range groups[0] {
		f.all(groups[1:], l.over(part))
	}
}

// over returns l with the storages of part.
func (l Layout) over(part Layout) Layout {
	for name, s := range part.Stored {
		l = l.with(name, s)
	}
	return l
}

// try prices a layout, and keeps it if it is among the best. It returns nil if the
// workload can't be stored so.
func (f *finder) try(l Layout) *Prices {
	p, err := f.price(l)
	if err != nil {
		return nil
	}
	if key := l.String(); !f.seen[key] {
		f.seen[key] = true
		f.best = append(f.best, *p)
		slices.SortStableFunc(f.best, comparePrices)
		f.best = f.best[:min(2, len(f.best))]
		if other, ok := f.others[l.shape()]; !ok || comparePrices(*p, other) < 0 {
			f.others[l.shape()] = *p
			f.forgetWorst()
		}
	}
	return p
}

func (f *finder) price(l Layout) (*Prices, error) {
	s, err := newStore(f.graph, l)
	if err != nil {
		return nil, err
	}
	p, err := s.price()
	return &p, err
}

// comparePrices sorts layouts by kept limits, then by time, then by simplicity.
func comparePrices(a, b Prices) int {
	switch {
	case a.Late != b.Late:
		return a.Late - b.Late
	case a.Time != b.Time:
		return int(min(1, max(-1, a.Time-b.Time)))
	}
	return strings.Compare(a.Layout.String(), b.Layout.String())
}

// descend changes one group at a time while that helps, and then two at a time.
func (f *finder) descend(l Layout) {
	now := f.try(l)
	if now == nil {
		return
	}
	better := func(part Layout) bool {
		p := f.try(l.over(part))
		if p == nil || comparePrices(*p, *now) >= 0 {
			return false
		}
		l, now = l.over(part), p
		return true
	}
	for changed := true; changed; {
		changed = false
		for _, group := range f.groups {
			for _, part := range group {
				changed = better(part) || changed
			}
		}
		for i, group := range f.groups {
			for _, other := range f.groups[:i] {
				if changed || len(group)*len(other) > pairLimit {
					continue
				}
				for _, part := range group {
					for _, with := range other {
						changed = better(part.over(with)) || changed
					}
				}
			}
		}
	}
}

// pairLimit is the greatest number of pairs of storages of two entities to try.
const pairLimit = 200

// steps searches step by step, and returns a lower bound of the time: the sum of each
// operation's time under its own best layout.
func (f *finder) steps() time.Duration {
	f.descend(Layout{})
	var bound float64
	operations := slices.Clone(f.Operations)
	slices.SortFunc(operations, func(a, b Operation) int { return strings.Compare(a.Name, b.Name) })
	for _, o := range operations {
		o.Within = 0
		alone := f.Workload
		alone.Operations = []Operation{o}
		if p := alone.best(); p != nil {
			bound += float64(p.Time)
			f.descend(p.Layout)
		}
	}
	return time.Duration(bound)
}

// best returns the best layout; nil if there are too many to price all.
func (w Workload) best() *Prices {
	g, err := newGraph(w)
	if err != nil {
		return nil
	}
	f := newFinder(g)
	if f.size(f.groups) > SearchLimit {
		return nil
	}
	f.all(f.groups, Layout{})
	return &f.best[0]
}
