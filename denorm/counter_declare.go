package denorm

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// counter is what of a [Counter] doesn't depend on its types. Documents come to it encoded.
type counter struct {
	children, parents string // collections
	reference         string
	slots             []slot
	sources           []source
	where             []condition
	filter            bson.D // of the children that count: where, and not being deleted
	tokens, pending   string // "" without tokens
	keep              int
	partial           bool
	doc               stored // reads and checks values of children
}

// A slot is a number that a parent keeps.
type slot struct {
	path   string // in the parent
	kind   slotKind
	source int // of counter.sources; unused by countChildren
	sum, n int // of a quotient: the slots that it is made of
}

type slotKind uint8

const (
	countChildren slotKind = iota
	countValues
	addUp
	smallest
	greatest
	quotient
)

// name is the slot's name in a drift: its path, with "/" for a dot.
func (s slot) name() string { return strings.ReplaceAll(s.path, ".", "/") }

func (s slot) extreme() bool { return s.kind == smallest || s.kind == greatest }

// A source is a number or date of a child.
type source struct {
	path string
	date bool
}

func (s source) name() string { return strings.ReplaceAll(s.path, ".", "/") }

// counterSides is what a declaration needs of both collections.
type counterSides struct {
	doc                    stored // the children
	parents                string
	emptyChild             any
	child, parent, anArray func(string) model.Field
}

func declareCounter(s counterSides, reference string, spec CounterSpec) *counter {
	c := &counter{
		children: s.doc.docs, parents: s.parents, reference: reference, tokens: spec.Tokens, pending: spec.Pending,
		keep: cmp.Or(spec.Keep, 100), partial: spec.Partial,
		doc: s.doc,
	}
	c.declareReference(s)
	c.declareTokens(s, spec)
	c.declareSlots(s, spec)
	c.declareWhere(s, spec.Where)
	return c
}

// declareSlots checks where the parents keep the numbers, and from what.
func (c *counter) declareSlots(s counterSides, spec CounterSpec) {
	taken := []string{"_id"}
	if c.tokens != "" {
		taken = append(taken, c.tokens)
	}
	keep := func(path string, ok func(model.Field) bool, want string) {
		f := s.parent(path)
		switch {
		case f.Arrays > 0:
			c.bad(fmt.Sprintf("the parents' path %q lies inside an array, or is one", path), "keep it in a field outside arrays")
		case !f.Open && !ok(f):
			c.bad(fmt.Sprintf("the parents' path %q is a %s", path, f.Type), "declare it as "+want)
		}
		for _, other := range taken {
			if model.Overlap(path, other) {
				c.bad(fmt.Sprintf("the parents' paths %q and %q overlap", other, path), "keep each in a field of its own")
			}
		}
		taken = append(taken, path)
	}
	number := func(f model.Field) bool { return isAmount(f.Type) }
	if spec.Count != "" {
		keep(spec.Count, number, "a number")
		c.slots = append(c.slots, slot{path: spec.Count})
	}
	for _, f := range spec.Sums {
		keep(f.To, number, "a number")
		c.slots = append(c.slots, slot{path: f.To, kind: addUp, source: c.source(s, f.From, false)})
	}
	for _, a := range spec.Averages {
		from, sum := c.source(s, a.From, false), len(c.slots)
		keep(a.To+".sum", number, "a number")
		keep(a.To+".n", number, "a number")
		c.slots = append(c.slots,
			slot{path: a.To + ".sum", kind: addUp, source: from}, slot{path: a.To + ".n", kind: countValues, source: from})
		if a.Value != "" {
			keep(a.Value, number, "a number")
			c.slots = append(c.slots, slot{path: a.Value, kind: quotient, sum: sum, n: sum + 1})
		}
	}
	for kind, list := range [][]CounterField{spec.Mins, spec.Maxs} {
		for _, f := range list {
			from := c.source(s, f.From, true)
			keep(f.To, func(to model.Field) bool {
				return c.sources[from].date == isDate(to.Type) && (isDate(to.Type) || isAmount(to.Type))
			},
				"the same kind as the children's, a number or a date")
			c.slots = append(c.slots, slot{path: f.To, kind: smallest + slotKind(kind), source: from})
		}
	}
	if len(c.slots) == 0 {
		c.bad("nothing is kept", "give a Count, Sums, Averages, Mins or Maxs")
	}
}

func (c *counter) bad(problem, remedy string) {
	panic(&model.DeclarationError{
		Problem: problem, Place: fmt.Sprintf("NewCounter of %s by %s.%s", c.parents, c.children, c.reference), Remedy: remedy,
	})
}

func (c *counter) declareReference(s counterSides) {
	ref, id := s.child(c.reference), s.parent("_id")
	switch {
	case ref.Arrays > 0:
		c.bad(fmt.Sprintf("the reference %q is an array, or lies inside one", c.reference), "a child has one parent: name a scalar")
	case model.Overlap(c.reference, "_id"):
		c.bad(fmt.Sprintf("the reference %q is within _id", c.reference), "keep it in a field that can be set")
	case !ref.Open && !id.Open && ref.Type != id.Type:
		c.bad(fmt.Sprintf("the reference %q is a %s, the parents' _id a %s", c.reference, ref.Type, id.Type), "give both one type")
	}
}

func (c *counter) declareTokens(s counterSides, spec CounterSpec) {
	switch {
	case (c.tokens == "") != (c.pending == ""):
		c.bad("Tokens and Pending come together", "give both, or neither and run in transactions")
	case spec.Keep != 0 && c.tokens == "":
		c.bad("Keep without Tokens", "give Tokens and Pending too")
	case c.partial && c.tokens != "":
		c.bad("Partial with Tokens", "operations with tokens need no transaction: leave Partial out")
	case c.keep < 1 || c.keep > 10_000:
		c.bad(fmt.Sprintf("Keep is %d", spec.Keep), "keep at least one token, and at most 10,000")
	case c.tokens == "":
		return
	}
	if f := s.anArray(c.tokens); !f.Open && f.Type != reflect.TypeFor[bson.ObjectID]() {
		c.bad(fmt.Sprintf("Tokens %q is an array of %s", c.tokens, f.Type), "declare it as []bson.ObjectID")
	}
	f := s.child(c.pending)
	switch {
	case strings.Contains(c.pending, "."):
		c.bad(fmt.Sprintf("Pending %q is not a field of the child itself", c.pending), "give it a field of its own")
	case f.Arrays > 0 || !f.Open && f.Type != reflect.TypeFor[CounterPending]():
		c.bad(fmt.Sprintf("Pending %q is a %s", c.pending, f.Type), "declare it as *denorm.CounterPending, tagged omitempty")
	case model.Overlap(c.pending, c.reference) || model.Overlap(c.pending, "_id"):
		c.bad(fmt.Sprintf("Pending %q overlaps the reference or _id", c.pending), "give it a field of its own")
	}
	if raw, err := rawDocument(s.emptyChild); err == nil && !f.Open {
		if _, err := raw.LookupErr(strings.Split(c.pending, ".")...); err == nil {
			c.bad(fmt.Sprintf("Pending %q is stored when it is empty", c.pending),
				"declare it as *denorm.CounterPending, tagged omitempty")
		}
	}
}

// source looks a field of the children up, and returns its number.
func (c *counter) source(s counterSides, path string, extreme bool) int {
	f := c.watched(s, path)
	date := isDate(f.Type)
	if !f.Open && !isAmount(f.Type) && !(extreme && date) {
		c.bad(fmt.Sprintf("the children's path %q is a %s", path, f.Type), "name a number, or for the smallest and greatest a date")
	}
	if i := slices.IndexFunc(c.sources, func(x source) bool { return x.path == path }); i >= 0 {
		return i
	}
	c.sources = append(c.sources, source{path, date})
	return len(c.sources) - 1
}

// watched looks up a field that what a child counts for depends on.
func (c *counter) watched(s counterSides, path string) model.Field {
	f := s.child(path)
	switch {
	case f.Arrays > 0:
		c.bad(fmt.Sprintf("the children's path %q lies inside an array, or is one", path), "name a field outside arrays")
	case c.pending != "" && model.Overlap(path, c.pending) || model.Overlap(path, c.reference):
		c.bad(fmt.Sprintf("the children's path %q overlaps the reference or Pending", path), "name a field of its own")
	}
	return f
}

func isAmount(t reflect.Type) bool {
	return t != nil && (isNumberType(t) || t == reflect.TypeFor[bson.Decimal128]())
}

func isDate(t reflect.Type) bool {
	return t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[bson.DateTime]()
}

// paths are what a child counts for depends on, none below another.
func (c *counter) paths() []string {
	all := []string{c.reference}
	for _, s := range c.sources {
		all = append(all, s.path)
	}
	for _, w := range c.where {
		all = append(all, w.path)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(slices.Clone(all), func(p string) bool {
		return slices.ContainsFunc(all, func(q string) bool { return strings.HasPrefix(p, q+".") })
	})
}

func (c *counter) index(keys bson.D, why string) model.Index {
	x := model.NewIndex(c.children, keys)
	x.Why = why
	return x
}

func (c *counter) opIndex() model.Index {
	if c.pending == "" {
		return model.Index{}
	}
	x := c.index(bson.D{{Key: c.pending + ".op", Value: 1}}, "operations that were cut")
	x.Partial = bson.D{{Key: c.pending + ".op", Value: bson.D{{Key: "$exists", Value: true}}}}
	return x
}

// hasPending is the condition of the children with an operation under way.
func (c *counter) hasPending() bson.D {
	return bson.D{{Key: c.pending + ".parents", Value: bson.D{{Key: "$exists", Value: true}}}}
}

func (c *counter) indexes() []model.Index {
	var out []model.Index
	for _, s := range c.slots {
		if s.extreme() {
			keys := bson.D{{Key: c.reference, Value: 1}, {Key: c.sources[s.source].path, Value: 1}}
			x := c.index(keys, "the next smallest or greatest; a parent's children")
			if !slices.ContainsFunc(out, func(y model.Index) bool { return y.Name == x.Name }) {
				out = append(out, x)
			}
		}
	}
	if len(out) == 0 {
		out = append(out, c.index(bson.D{{Key: c.reference, Value: 1}}, "a parent's children"))
	}
	if c.pending != "" {
		x := c.index(bson.D{{Key: c.pending + ".parents", Value: 1}}, "the operations under way on a parent")
		x.Partial = c.hasPending()
		out = append(out, x, c.opIndex())
	}
	return out
}
