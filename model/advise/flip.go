package advise

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model"
)

// A Change is another value for one field of a [Relation].
type Change struct {
	Field string // as in Go: "Standalone", "Children.Max"
	From  any    // int64, float64 or bool, as the field is; what the relation says, also where that is 0, not known
	To    any
}

// Apply returns the relation with the change. A field that a relation doesn't have, or of another type, is an error.
func (c Change) Apply(r Relation) (Relation, error) {
	ok := false
	switch p := r.at(c.Field).(type) {
	case *int64:
		ok = assign(p, c.To)
	case *float64:
		ok = assign(p, c.To)
	case *bool:
		ok = assign(p, c.To)
	}
	if !ok {
		return r, refuse(c.Field, c.To, "a Relation has no such field of that type")
	}
	return r, nil
}

func assign[T any](p *T, to any) bool {
	v, ok := to.(T)
	if ok {
		*p = v
	}
	return ok
}

// String is "Children.Max 12 → 301".
func (c Change) String() string {
	return fmt.Sprintf("%s %s → %s", c.Field, valueText(c.From), valueText(c.To))
}

func valueText(v any) string {
	switch v := v.(type) {
	case int64:
		if v == 0 {
			return "not given"
		}
		return countText(v)
	case float64:
		switch v {
		case 0:
			return "not given"
		case None:
			return "none"
		}
		return ratioText(v)
	case bool, string, Choice:
		return fmt.Sprint(v)
	}
	return model.Shell(v)
}

// A Flip is what would make [Choose] answer the runner-up: all of its changes, together.
type Flip []Change

// Apply returns the relation with all changes.
func (f Flip) Apply(r Relation) (Relation, error) {
	for _, c := range f {
		var err error
		if r, err = c.Apply(r); err != nil {
			return r, err
		}
	}
	return r, nil
}

// String is the changes, joined by "and".
func (f Flip) String() string {
	s := make([]string, len(f))
	for i, c := range f {
		s[i] = c.String()
	}
	return strings.Join(s, " and ")
}

// changeable are where the fields of a [Relation] are that a [Change] can set: its numbers and switches, by their dotted names.
var changeable = fieldsOf(reflect.TypeFor[Relation](), "", nil, map[string][]int{})

func fieldsOf(t reflect.Type, prefix string, above []int, into map[string][]int) map[string][]int {
	for i := range t.NumField() {
		f := t.Field(i)
		switch index := append(slices.Clone(above), i); f.Type.Kind() {
		case reflect.Struct:
			fieldsOf(f.Type, prefix+f.Name+".", index, into)
		case reflect.Int64, reflect.Float64, reflect.Bool:
			into[prefix+f.Name] = index
		}
	}
	return into
}

// at points at a field; nil if there is none of that name.
func (r *Relation) at(field string) any {
	index, ok := changeable[field]
	if !ok {
		return nil
	}
	return reflect.ValueOf(r).Elem().FieldByIndex(index).Addr().Interface()
}

// A candidate is a flip that may lead elsewhere, and how far away what it supposes is.
type candidate struct {
	flip     Flip
	distance float64
	choice   Choice
}

// flips finds the runner-up, which is the choice that the nearest change leads to, and all single changes that lead there; if no
// single one leads anywhere else, pairs of them, and then triples.
func (f *facts) flips(r Relation, chosen Choice) (runnerUp Choice, out []Flip) {
	all := f.candidates(r)
	found := all.leading(r, chosen)
	for size := 2; len(found) == 0 && size <= 3; size++ {
		found = all.joined(size).leading(r, chosen)
	}
	if len(found) == 0 {
		return 0, nil
	}
	for _, c := range found {
		if c.choice == found[0].choice && !slices.ContainsFunc(out, c.flip.sameFields) {
			out = append(out, c.flip)
		}
	}
	return found[0].choice, out
}

// sameFields reports whether two flips change the same fields: the nearer one says it all.
func (f Flip) sameFields(g Flip) bool {
	return slices.EqualFunc(f, g, func(a, b Change) bool { return a.Field == b.Field })
}

type candidates []candidate

// leading keeps those that lead to another choice, the nearest first.
func (list candidates) leading(r Relation, chosen Choice) (out candidates) {
	for _, c := range list {
		changed, err := c.flip.Apply(r)
		if err != nil {
			continue
		}
		f, err := changed.facts()
		if err != nil {
			continue
		}
		if c.choice = f.decide(false).choice; c.choice != chosen {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	return out
}

// joined makes candidates of several, on different fields.
func (list candidates) joined(size int) (out candidates) {
	if size == 1 {
		return list
	}
	for i, c := range list {
		for _, rest := range list[i+1:].joined(size - 1) {
			if !slices.ContainsFunc(rest.flip, func(x Change) bool {
				return slices.ContainsFunc(c.flip, func(y Change) bool { return x.Field == y.Field })
			}) {
				out = append(out, candidate{slices.Concat(c.flip, rest.flip), c.distance + rest.distance, 0})
			}
		}
	}
	return out
}

// candidates are the steps across each limit that the decision knows, from where the relation is.
func (f *facts) candidates(r Relation) candidates {
	s := &steps{r: r}
	room := model.MaxDocument - f.ParentBytes
	s.count("Children", f.Children, f.n, FewLimit, ManyLimit, maxItems(room, f.ChildBytes), maxItems(room, f.IDBytes))
	s.count("Parents", f.Parents, f.parents, 1, ManyLimit)
	s.share("Standalone", f.Standalone)
	s.share("Together", f.Together)
	s.share("ToParent", f.ToParent)
	s.ratio("ReadsPerWrite", f.ReadsPerWrite, WriteLimit)
	s.toggle("Atomic", f.Atomic)
	s.size("ChildBytes", f.ChildBytes, f.largestChild(f.n))
	if f.IntoParent.Fields != "" {
		s.ratio("IntoParent.ReadsPerChange", f.IntoParent.ReadsPerChange, max(CopyLimit, float64(f.sharing)))
		s.toggle("IntoParent.Strong", f.IntoParent.Strong)
	}
	if f.IntoChild.Fields != "" {
		s.ratio("IntoChild.ReadsPerChange", f.IntoChild.ReadsPerChange, max(CopyLimit, float64(f.typical)))
		s.toggle("IntoChild.Strong", f.IntoChild.Strong)
		s.toggle("IntoChild.Whole", f.IntoChild.Whole)
	}
	if f.Newest.N > 0 {
		s.ratio("Newest.ReadsPerWrite", f.newestRatio, WriteLimit)
		s.toggle("Newest.Drop", f.Newest.Drop)
		for _, limit := range []int64{FewLimit, ManyLimit, maxItems(room, f.ChildBytes)} {
			s.size("Newest.N", f.Newest.N, limit)
		}
	}
	if f.Page > 0 {
		s.add(1, Change{"Page", r.Page, int64(0)})
	}
	if r.TotalReadsPerChange != 0 {
		s.ratio("TotalReadsPerChange", f.aTotals, CopyLimit)
	}
	return s.list
}

// largestChild is the largest of n children that fit their parent.
func (f *facts) largestChild(n int64) int64 {
	if n == unbounded || n == 0 {
		return 0
	}
	return max(0, (model.MaxDocument-f.ParentBytes-arrayBytes(n, 0))/n)
}

type steps struct {
	r    Relation
	list candidates
}

func (s *steps) add(distance float64, changes ...Change) {
	s.list = append(s.list, candidate{flip: changes, distance: distance})
}

// count steps to either side of the limits, and over the edge.
func (s *steps) count(name string, c Count, worst int64, limits ...int64) {
	kind := 0.0
	if name == "Parents" && worst == 1 {
		kind = 6 // that children become shared is farther away than any figure
	}
	slices.Sort(limits)
	for _, limit := range slices.Compact(limits) {
		if limit < 1 {
			continue
		}
		if worst > limit {
			s.add(apart(float64(worst), float64(limit)), s.bounded(name, c, limit)...)
		} else {
			s.add(kind+apart(float64(worst), float64(limit+1)), Change{name + ".Max", *s.r.at(name + ".Max").(*int64), limit + 1})
		}
	}
	if !c.Unbounded && c.PerDay != None {
		s.add(kind+4, Change{name + ".Unbounded", false, true})
	}
}

// bounded are the changes that make a count have a worst case.
func (s *steps) bounded(name string, c Count, limit int64) (out Flip) {
	given, typical := *s.r.at(name + ".Max").(*int64), *s.r.at(name + ".Typical").(*int64)
	today := given
	if given == 0 && typical > 0 {
		today = tenTimes(typical)
	}
	if c.Unbounded {
		out = append(out, Change{name + ".Unbounded", true, false})
	}
	if c.PerDay > 0 {
		out = append(out, Change{name + ".PerDay", c.PerDay, float64(None)})
		if c.Days > 0 {
			out = append(out, Change{name + ".Days", c.Days, 0.0})
		}
	}
	if today == 0 || today > limit {
		out = append(out, Change{name + ".Max", given, limit})
	}
	if typical > limit {
		out = append(out, Change{name + ".Typical", typical, limit})
	}
	return out
}

func (s *steps) share(field string, now float64) {
	to := AccessLimit
	if now >= AccessLimit {
		to = AccessLimit / 2
	}
	s.add(5*math.Abs(now-to), Change{field, *s.r.at(field).(*float64), to})
}

func (s *steps) ratio(field string, now, limit float64) {
	to := limit
	if now >= limit {
		to = limit / 2
	}
	s.add(apart(max(now, limit/100), to), Change{field, *s.r.at(field).(*float64), to})
}

func (s *steps) toggle(field string, now bool) { s.add(2, Change{field, now, !now}) }

// size steps across a limit of a number that is at least 1.
func (s *steps) size(field string, now, limit int64) {
	to := limit
	if now <= limit {
		to = limit + 1
	}
	if to >= 1 {
		s.add(apart(float64(now), float64(to)), Change{field, *s.r.at(field).(*int64), to})
	}
}

// apart is how many times one number is the other, as a logarithm; at most 7.
func apart(a, b float64) float64 { return min(7, math.Abs(math.Log(a/b))) }
