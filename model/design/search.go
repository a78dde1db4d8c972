package design

import (
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/model/advise"
)

// A Design is the answer to a workload.
type Design struct {
	Workload   Workload
	Best       Prices
	Next       []Prices // the next best layouts, at most three
	Normalized Prices   // the layout of references only, for comparison
	Reasons    []Reason // what each relation's storage is good for; those that are plain references have none
	Flips      []Flip   // what would make the next layouts as good

	Priced int  // how many layouts were priced
	Exact  bool // all layouts that can be made of the candidates were priced: there is none better than Best among them

	// Bound is a time that no layout of the candidates is below. Of an exact design it is that of Best.
	Bound time.Duration
}

// SearchLimit is how many layouts [Workload.Design] prices at most, before it looks for the best one step by step.
const SearchLimit = 5000

// Design finds the layout under which the workload takes the least time. Nothing is sent.
//
// The candidates for each relation are a reference; a reference with copies of what some read shows, or finds documents by; and
// embedding, if no parent has more than [advise.FewLimit] children and no list has more than [advise.ArrayLimit] bytes. If all
// candidates together are at most [SearchLimit] layouts, all are priced. Otherwise the search begins with references, and with the
// layout that is the best for each operation alone, and changes the storage of one or two entities' relations at a time, as long as
// that helps. Then Bound says how much better a layout could be at most.
func (w Workload) Design() (Design, error) {
	g, err := newGraph(w)
	if err != nil {
		return Design{}, err
	}
	f := &finder{graph: g, groups: g.groups(), seen: map[string]bool{}}
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
	d.Best, d.Next, d.Priced = f.best[0], f.best[1:], len(f.seen)
	d.Reasons, d.Flips = f.reasons(d.Best), flips(d.Best, d.Next)
	return d, nil
}

// finder looks for the best layouts.
type finder struct {
	*graph
	groups [][]Layout // for each entity, how the relations to its parents can be stored
	seen   map[string]bool
	best   []Prices // the best four, in order
}

// groups are the candidates for each entity that has parents.
func (g *graph) groups() (out [][]Layout) {
	for i := range g.Entities {
		e := g.entities[g.Entities[i].Name]
		if len(e.parents) == 0 {
			continue
		}
		group := []Layout{{}}
		for _, r := range e.parents {
			var longer []Layout
			for _, l := range group {
				for _, st := range g.candidates(r) {
					if st.As == Reference || !l.embeds() {
						longer = append(longer, l.with(r.Name(), st))
					}
				}
			}
			group = longer
		}
		if len(group) > 1 {
			out = append(out, group)
		}
	}
	return out
}

func (l Layout) embeds() bool {
	for _, s := range l.Stored {
		if s.As != Reference {
			return true
		}
	}
	return false
}

// candidates are the ways of storing a relation.
func (g *graph) candidates(r *relation) []Storage {
	out := []Storage{{}}
	if !r.Ordered {
		for _, fields := range g.wanted(r) {
			out = append(out, Storage{Copy: fields})
		}
		var more []Storage
		for _, st := range out {
			for _, newest := range g.newestOf(r) {
				newest.Copy = st.Copy
				more = append(more, newest)
			}
			if g.counted(r) {
				st.Count = true
				more = append(more, st)
			}
		}
		out = append(out, more...)
	}
	if r.parent != r.child && r.max() <= advise.FewLimit {
		s := &store{graph: g}
		element, err := sizeOf(s.document(exampleWorld, r.child, 0))
		if err == nil && listSize(r.List, float64(r.max()), element) <= advise.ArrayLimit {
			out = append(out, Storage{As: Embedded})
		}
	}
	if st, ok := g.pagedBy(r); ok {
		out = append(out, st)
		for _, newest := range g.newestOf(r) {
			newest.As, newest.Page = st.As, st.Page
			out = append(out, newest)
		}
	}
	return out
}

// pageSize is how many children a page has: "comments in batches of 100" (seeds 000, 003).
const pageSize = 100

// pagedBy is the storage of children in pages, if they come in an order and stay as they are, and pages of a parent are read.
func (g *graph) pagedBy(r *relation) (Storage, bool) {
	s := &store{graph: g}
	item, err := sizeOf(s.document(exampleWorld, r.child, 0))
	if r.parent == r.child || r.Ordered || r.average() < pageSize/4 || g.writes(r.child, Update, Delete) || err != nil || item*pageSize > advise.ArrayLimit {
		return Storage{}, false
	}
	for _, list := range g.accesses {
		for _, a := range list {
			if a.Do == Read && a.of == r.child && slices.ContainsFunc(a.by, func(p path) bool { return p.rel == nil && p.own == r }) {
				return Storage{As: Paged, Page: pageSize}, true
			}
		}
	}
	return Storage{}, false
}

// newestOf are the subsets that serve the reads of a parent's first children.
func (g *graph) newestOf(r *relation) (out []Storage) {
	for _, list := range g.accesses {
		for _, a := range list {
			if a.Do != Read || a.of != r.child || len(a.by) != 1 || a.by[0].own != r || a.by[0].rel != nil || a.order == nil || a.order.rel != nil || a.since != nil {
				continue
			}
			if a.Limit > 0 && a.Limit <= newestLimit {
				st := Storage{Newest: a.Limit, By: a.Order}
				if !slices.ContainsFunc(out, func(o Storage) bool { return o.Newest == st.Newest && o.By == st.By }) {
					out = append(out, st)
				}
			}
		}
	}
	return out
}

// newestLimit is how many children a parent holds at most beside their own collection.
const newestLimit = 100

// counted reports whether a read shows how many children a parent has.
func (g *graph) counted(r *relation) bool {
	for _, list := range g.accesses {
		for _, a := range list {
			if slices.Contains(a.counts, r) {
				return true
			}
		}
	}
	return false
}

// wanted are the sets of a parent's fields that reads of its children ask for: each read's, and all of them.
func (g *graph) wanted(r *relation) (out [][]string) {
	var all []string
	add := func(set []string) {
		slices.Sort(set)
		set = slices.Compact(set)
		if len(set) > 0 && !slices.ContainsFunc(out, func(o []string) bool { return slices.Equal(o, set) }) {
			out = append(out, set)
		}
	}
	for _, list := range g.accesses {
		for _, a := range list {
			if a.Do != Read || a.of != r.child {
				continue
			}
			var set, found []string
			for _, p := range slices.Concat(a.by, a.shown, optional(a.since), optional(a.order)) {
				if p.rel != r {
					continue
				}
				if p.name == "*" {
					for _, f := range r.parent.Fields {
						set = append(set, f.Name)
					}
				} else {
					set = append(set, p.name)
				}
			}
			for _, p := range slices.Concat(a.by, optional(a.since), optional(a.order)) {
				if p.rel == r {
					found = append(found, p.name)
				}
			}
			add(set)
			add(found)
			all = append(all, set...)
		}
	}
	add(all)
	return out
}

func optional(p *path) []path {
	if p == nil {
		return nil
	}
	return []path{*p}
}

// size is how many layouts some groups make.
func (f *finder) size(groups [][]Layout) int {
	n := 1
	for _, group := range groups {
		if n *= len(group); n > SearchLimit {
			return n
		}
	}
	return n
}

// all prices all layouts of some groups, on top of one.
func (f *finder) all(groups [][]Layout, l Layout) {
	if len(groups) == 0 {
		f.try(l)
		return
	}
	for _, part := range groups[0] {
		f.all(groups[1:], l.over(part))
	}
}

// over is the layout with what another says of some relations.
func (l Layout) over(part Layout) Layout {
	for name, s := range part.Stored {
		l = l.with(name, s)
	}
	return l
}

// try prices a layout, keeps it if it is among the best, and returns nil if the workload can't be stored so.
func (f *finder) try(l Layout) *Prices {
	p, err := f.price(l)
	if err != nil {
		return nil
	}
	if key := l.String(); !f.seen[key] {
		f.seen[key] = true
		f.best = append(f.best, *p)
		slices.SortStableFunc(f.best, comparePrices)
		f.best = f.best[:min(4, len(f.best))]
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

// comparePrices puts layouts that keep the operations' limits first, then those that take less time, then the simpler one.
func comparePrices(a, b Prices) int {
	switch {
	case a.Late != b.Late:
		return a.Late - b.Late
	case a.Time != b.Time:
		return int(min(1, max(-1, a.Time-b.Time)))
	}
	return strings.Compare(a.Layout.String(), b.Layout.String())
}

// descend changes one group at a time, as long as that helps, and then two at a time.
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

// pairLimit is how many pairs of storages of two entities are tried at most.
const pairLimit = 200

// steps looks for the best layout step by step, and returns a time that none is below: what the operations take added up, each
// under the layout that is the best for it alone.
func (f *finder) steps() time.Duration {
	f.descend(Layout{})
	var bound float64
	for _, o := range f.Operations {
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

// best is the best layout of all; nil if there are too many to price them all.
func (w Workload) best() *Prices {
	g, err := newGraph(w)
	if err != nil {
		return nil
	}
	f := &finder{graph: g, groups: g.groups(), seen: map[string]bool{}}
	if f.size(f.groups) > SearchLimit {
		return nil
	}
	f.all(f.groups, Layout{})
	return &f.best[0]
}
