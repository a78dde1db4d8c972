package advise

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// mostRunnersUp is the greatest number of other answers in an advice.
const mostRunnersUp = 3

// A found flip leads to another answer. A small distance means a small change.
type found struct {
	flip     Flip
	distance float64
	answer   answer
}

// A search looks for the flips of a relation.
type search struct {
	r      Relation
	filled Relation // with assumptions
	chosen answer
	found  []found
}

// answer returns the answer of Choose; ok is false if the relation contradicts itself.
func (r Relation) answer() (a answer, ok bool) {
	f, err := r.facts()
	if err != nil {
		return answer{}, false
	}
	return f.decide(false).answer(), true
}

// flips returns the nearest other answers, and what leads to each.
func (f *facts) flips(r Relation, chosen answer) []found {
	s := &search{r: r, filled: f.filled, chosen: chosen}
	for _, field := range fieldNames {
		if s.applies(field) {
			s.field(field, nil, 0)
		}
	}
	s.bounds()
	if len(s.found) == 0 {
		s.pairs()
	}
	slices.SortStableFunc(s.found, func(a, b found) int { return cmp.Compare(a.distance, b.distance) })
	return s.found
}

// fieldNames are the fields that a flip can change, sorted.
var fieldNames = func() (names []string) {
	for name := range changeable {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}()

// applies reports whether a field matters for the relation. The subject of a relation
// (plain values, kinds, time to live) doesn't change.
func (s *search) applies(field string) bool {
	end, rest, _ := strings.Cut(field, ".")
	e := &s.r.Parent
	switch end {
	case "Tree":
		return s.r.Tree.Nodes > 0
	case childEnd:
		e = &s.r.Child
		if s.r.Tree.Nodes > 0 {
			return false
		}
	case parentEnd:
	default:
		return field == "Atomic" || s.r.Tree.Nodes == 0 && (field != "LinkBytes" || s.r.LinkBytes > 0)
	}
	switch part, last, _ := strings.Cut(rest, "."); part {
	case "Has":
		if last == "AtLeast" {
			return false // it changes no answer
		}
		if last == "P99" && e.Has.Max == 0 && !e.Has.Unbounded {
			return false // Max isn't given, and would follow it
		}
		return e.Has != Count{} || last == "Max" || last == "Unbounded" // the default for a missing count is one
	case "Copied":
		return e.Copied.Fields != ""
	case "Newest":
		return e.Newest.N > 0
	case "Total":
		return e.Total.ReadsPerChange != 0
	case "Page":
		return e.Page > 0
	case "Value", "Kinds", "Days", "Versions", "Log", "Sharded", "Events":
		return false
	}
	return true
}

// field looks for the nearest values of a field, in both directions, that give another
// answer together with the changes in also.
func (s *search) field(field string, also Flip, farther float64) {
	base, err := also.Apply(s.r)
	if err != nil {
		return
	}
	switch own := s.filled.at(field).(type) {
	case *bool:
		s.try(append(slices.Clone(also), Change{field, *s.r.at(field).(*bool), !*base.at(field).(*bool)}), farther+2)
	case *int64:
		from := *s.r.at(field).(*int64)
		set := func(v float64) Change { return Change{field, from, int64(v)} }
		for _, probes := range s.probes(field, float64(*own), mostCount) {
			s.walk(base, also, set, probes, wholeStep, farther)
		}
	case *float64:
		from := *s.r.at(field).(*float64)
		set := func(v float64) Change {
			if v == 0 {
				v = None
			}
			return Change{field, from, v}
		}
		most := math.Inf(1)
		if isShare(field) {
			most = 1
		}
		for _, probes := range s.probes(field, *own, most) {
			s.walk(base, also, set, probes, floatStep, farther)
		}
	}
}

// isShare reports whether a field is a share of reads.
func isShare(field string) bool {
	switch field[strings.LastIndex(field, ".")+1:] {
	case "Alone", "Shows", "Whole", "Below", "Above":
		return true
	}
	return false
}

// try keeps a flip that leads to another answer, without needless changes.
func (s *search) try(flip Flip, distance float64) {
	target, ok := s.leads(flip)
	if !ok || target == s.chosen {
		return
	}
	for i := 0; i < len(flip) && len(flip) > 1; {
		less := slices.Delete(slices.Clone(flip), i, i+1)
		if a, ok := s.leads(less); ok && a == target {
			flip = less
			continue
		}
		i++
	}
	if s.early(flip) {
		return
	}
	s.found = append(s.found, found{flip, distance, target})
}

// early reports whether a flip still leads elsewhere with one of its numbers a step
// nearer to the start. Then it isn't at the boundary.
func (s *search) early(flip Flip) bool {
	for i, c := range flip {
		if to, ok := s.before(c); ok {
			step := slices.Clone(flip)
			step[i].To = to
			if a, ok := s.leads(step); ok && a != s.chosen {
				return true
			}
		}
	}
	return false
}

// before returns the number one step before a change's, towards the field's value.
func (s *search) before(c Change) (to any, ok bool) {
	switch own := s.filled.at(c.Field).(type) {
	case *int64:
		n := c.To.(int64)
		if *own == 0 || *own > n { // 0 means no bound
			return n + 1, true
		}
		return n - 1, n > 1
	case *float64:
		v := math.Nextafter(max(0, c.To.(float64)), max(0, *own))
		if v == 0 {
			v = None
		}
		return v, true
	}
	return nil, false
}

// ending returns the changes that stop a count's growth.
func (s *search) ending(end string) (out Flip) {
	given := s.r.end(end).Has
	if given.Unbounded {
		out = append(out, Change{end + ".Has.Unbounded", true, false})
	}
	if given.PerDay > 0 {
		out = append(out, Change{end + ".Has.PerDay", given.PerDay, float64(None)})
		if given.Days > 0 {
			out = append(out, Change{end + ".Has.Days", given.Days, 0.0})
		}
	}
	return out
}

// limited returns the changes that bring a count to a limit.
func (s *search) limited(end string, limit int64) Flip {
	given := s.r.end(end).Has
	out := s.ending(end)
	for _, c := range []struct {
		field string
		given int64
	}{{".Has.Max", given.Max}, {".Has.P99", given.P99}, {".Has.Typical", given.Typical}} {
		if c.given > limit || c.field == ".Has.Max" && c.given == 0 && several(given.Typical) > limit {
			out = append(out, Change{end + c.field, c.given, limit})
		}
	}
	return out
}

// countLimits are the limits to try for counts.
var countLimits = []int64{FewLimit, ManyLimit}

// bounds tries finite and fixed counts.
func (s *search) bounds() {
	if s.r.Tree.Nodes > 0 {
		return
	}
	for _, end := range []string{parentEnd, childEnd} {
		given, filled := s.r.end(end).Has, s.filled.end(end).Has
		for _, limit := range countLimits {
			if flip := s.limited(end, limit); len(flip) > 1 {
				s.edge(flip, 2+apart(float64(max(filled.Max, 1)), float64(limit)))
			}
		}
		if given.Fixed || filled.Max <= 1 {
			continue
		}
		fixed := append(s.ending(end), Change{end + ".Has.Fixed", false, true})
		if given.Max == 0 {
			fixed = append(fixed, Change{end + ".Has.Max", int64(0), filled.Max})
		}
		s.try(fixed, 2+float64(len(fixed)))
	}
}

// pairs looks for flips of two kinds of changes, for a relation without other flips.
func (s *search) pairs() {
	for _, first := range s.firsts() {
		for _, field := range fieldNames {
			if s.applies(field) && !slices.ContainsFunc(first, func(c Change) bool { return c.Field == field }) {
				s.field(field, first, 7)
			}
		}
	}
}

// firsts are the first halves of pairs: limited counts, and each field far from its
// value.
func (s *search) firsts() (out []Flip) {
	if s.r.Tree.Nodes == 0 {
		for _, limit := range countLimits {
			out = append(out, s.limited(parentEnd, limit), s.limited(childEnd, limit))
		}
	}
	for _, field := range fieldNames {
		if !s.applies(field) {
			continue
		}
		switch p := s.r.at(field).(type) {
		case *bool:
			out = append(out, Flip{{field, *p, !*p}})
		case *float64:
			for _, v := range []float64{None, 1, math.Inf(1)} {
				out = append(out, Flip{{field, *p, v}})
			}
		case *int64:
			for _, v := range []int64{1, FewLimit} {
				out = append(out, Flip{{field, *p, v}})
			}
		}
	}
	return out
}

// edge tries a flip with numbers that are as large as possible.
func (s *search) edge(flip Flip, distance float64) {
	target, ok := s.leads(flip)
	if !ok || target == s.chosen {
		return
	}
	for _, c := range flip {
		if n, number := c.To.(int64); number {
			if a, ok := s.leads(stepped(flip, n+1)); ok && a != s.chosen {
				return // the boundary is elsewhere
			}
		}
	}
	s.try(flip, distance)
}

// leads returns the answer that a flip leads to.
func (s *search) leads(f Flip) (answer, bool) {
	there, err := f.Apply(s.r)
	if err != nil {
		return answer{}, false
	}
	return there.answer()
}

// stepped returns a flip with another number.
func stepped(f Flip, n int64) Flip {
	f = slices.Clone(f)
	for i, c := range f {
		if _, number := c.To.(int64); number {
			f[i].To = n
		}
	}
	return f
}

func (r *Relation) end(name string) *End {
	if name == parentEnd {
		return &r.Parent
	}
	return &r.Child
}
