package design

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model/advise"
)

// groups returns the candidates for each entity that has parents.
func (g *graph) groups() (out [][]Layout) {
	for _, name := range slices.Sorted(maps.Keys(g.entities)) { // independent of the workload's order
		e := g.entities[name]
		if len(e.parents) == 0 {
			continue
		}
		group := []Layout{{}}
		parents := slices.Clone(e.parents)
		slices.SortFunc(parents, func(a, b *relation) int { return strings.Compare(a.Field, b.Field) })
		for _, r := range parents {
			var longer []Layout
			for _, l := range group {
				for _, st := range g.candidates(r) {
					if st.As == Reference || !l.embeds() {
						longer = append(longer, l.with(r.name(), st))
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

// candidates returns the possible storages of a relation.
func (g *graph) candidates(r *relation) []Storage {
	out := []Storage{{}}
	if !r.Ordered {
		for _, fields := range g.wanted(r) {
			out = append(out, Storage{Copy: fields})
		}
		if r.many() {
			return out
		}
		var more []Storage
		for _, st := range out {
			for _, newest := range g.newestOf(r) {
				newest.Copy = st.Copy
				more = append(more, newest)
			}
			if len(g.totals(r)) > 0 {
				st.Totals = true
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

// pageSize is the number of children in a page: "comments in batches of 100" (data
// modeling for Azure Cosmos DB).
const pageSize = 100

// pagedBy returns the storage of children in pages, if they have an order, never change,
// and an operation reads pages of a parent.
func (g *graph) pagedBy(r *relation) (Storage, bool) {
	s := &store{graph: g}
	item, err := sizeOf(s.document(exampleWorld, r.child, 0))
	if r.parent == r.child || r.Ordered || r.average() < pageSize/4 || g.writes(r.child, Update, Delete) || err != nil ||
		item*pageSize > advise.ArrayLimit {
		return Storage{}, false
	}
	for _, list := range g.accesses {
		for _, a := range list {
			if a.Do == Read && a.of == r.child &&
				slices.ContainsFunc(a.by, func(p path) bool { return p.rel == nil && p.own == r }) {
				return Storage{As: Paged, Page: pageSize}, true
			}
		}
	}
	return Storage{}, false
}

// newestOf returns the subsets that serve reads of a parent's first children.
func (g *graph) newestOf(r *relation) (out []Storage) {
	for _, list := range g.accesses {
		for _, a := range list {
			if a.Do != Read || a.of != r.child || len(a.by) != 1 || a.by[0].own != r || a.by[0].rel != nil || a.order == nil ||
				a.order.rel != nil || a.since != nil {
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
	slices.SortFunc(out, func(a, b Storage) int {
		return cmp.Or(strings.Compare(a.By, b.By), cmp.Compare(a.Newest, b.Newest))
	})
	return out
}

// newestLimit is the greatest number of children in a parent's subset.
const newestLimit = 100

// wanted returns the sets of a parent's fields that reads of its children need: each
// read's, and all of them.
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
	slices.SortFunc(out, slices.Compare[[]string])
	return out
}

func optional(p *path) []path {
	if p == nil {
		return nil
	}
	return []path{*p}
}
