// Package counter is what is behind denorm.Counter: it keeps numbers in parents that are computed from their children.
package counter

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Counter is a declaration of denorm.Counter without its types. Its methods take encoded documents.
type Counter struct {
	docs, parents *core.Docs // docs are the children
	place         core.Place
	reference     string
	slots         []slot
	sources       []source
	where         []condition
	filter        bson.D // of the children that count: where, and not being deleted
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

// flatName is the name of a path in a drift: with "/" for a dot.
func flatName(path string) string { return strings.ReplaceAll(path, ".", "/") }

func (s slot) extreme() bool { return s.kind == smallest || s.kind == greatest }

// A source is a number or date of a child.
type source struct {
	path string
	date bool
}

// A Spec says what the parents keep, as denorm.CounterSpec does.
type Spec struct {
	Count            string
	Sums, Mins, Maxs []Field
	Averages         []Average
	Where            bson.D
}

// A Field is the path of a number in a child, and the path of the computed number in the parent.
type Field struct{ From, To string }

// An Average is a Field with the path in the parent of the quotient, or "".
type Average struct{ From, To, Value string }

// Declare checks a declaration, and panics if it doesn't fit the documents.
func Declare(children *core.Docs, reference string, parents *core.Docs, spec Spec) *Counter {
	c := &Counter{
		docs: children, parents: parents, reference: reference,
		place: core.Place(fmt.Sprintf("NewCounter of %s by %s.%s", parents.Name(), children.Name(), reference)),
	}
	c.declareReference()
	c.declareSlots(spec)
	c.declareWhere(spec.Where)
	return c
}

// declareSlots checks where the parents keep the numbers, and from what.
func (c *Counter) declareSlots(spec Spec) {
	taken := []string{"_id"}
	keep := func(path string, ok func(core.Field) bool, want string) {
		f := c.parents.MustField(path)
		switch {
		case f.Arrays > 0:
			c.place.Fail(fmt.Sprintf("the parents' path %q is an array, or is in one", path), "name a field that is neither an array nor in one")
		case !f.Open && !ok(f):
			c.place.Fail(fmt.Sprintf("the parents' path %q is of type %s", path, f.Type), "declare it as "+want)
		}
		for _, other := range taken {
			if core.Overlap(path, other) {
				c.place.Fail(fmt.Sprintf("the parents' paths %q and %q overlap", other, path), "give each a field of its own")
			}
		}
		taken = append(taken, path)
	}
	number := func(f core.Field) bool { return isAmount(f.Type) }
	if spec.Count != "" {
		keep(spec.Count, number, "a number")
		c.slots = append(c.slots, slot{path: spec.Count})
	}
	for _, f := range spec.Sums {
		keep(f.To, number, "a number")
		c.slots = append(c.slots, slot{path: f.To, kind: addUp, source: c.source(f.From, false)})
	}
	for _, a := range spec.Averages {
		from, sum := c.source(a.From, false), len(c.slots)
		keep(a.To+".sum", number, "a number")
		keep(a.To+".n", number, "a number")
		c.slots = append(c.slots,
			slot{path: a.To + ".sum", kind: addUp, source: from}, slot{path: a.To + ".n", kind: countValues, source: from})
		if a.Value != "" {
			keep(a.Value, number, "a number")
			c.slots = append(c.slots, slot{path: a.Value, kind: quotient, sum: sum, n: sum + 1})
		}
	}
	for kind, list := range [][]Field{spec.Mins, spec.Maxs} {
		for _, f := range list {
			from := c.source(f.From, true)
			keep(f.To, func(to core.Field) bool {
				return c.sources[from].date == isDate(to.Type) && (isDate(to.Type) || isAmount(to.Type))
			},
				"a number or a date, like the children's field")
			c.slots = append(c.slots, slot{path: f.To, kind: smallest + slotKind(kind), source: from})
		}
	}
	if len(c.slots) == 0 {
		c.place.Fail("the spec names no number to keep", "give a Count, Sums, Averages, Mins or Maxs")
	}
}

func (c *Counter) declareReference() {
	ref, id := c.docs.MustField(c.reference), c.parents.MustField("_id")
	switch {
	case ref.Arrays > 0:
		c.place.Fail(fmt.Sprintf("the reference %q is an array, or is in one", c.reference), "name a field with a single value: a child has one parent. To count a many-to-many relation, count the links of a relate.JoinCollection")
	case core.Overlap(c.reference, "_id"):
		c.place.Fail(fmt.Sprintf("the reference %q is in the _id", c.reference), "use another field: an _id can't change")
	case !ref.Open && !id.Open && ref.Type != id.Type:
		c.place.Fail(fmt.Sprintf("the reference %q is of type %s, but the parents' _id is of type %s", c.reference, ref.Type, id.Type), "declare both with the same type")
	}
}

// source looks a field of the children up, and returns its number.
func (c *Counter) source(path string, extreme bool) int {
	f := c.watched(path)
	date := isDate(f.Type)
	if !f.Open && !isAmount(f.Type) && !(extreme && date) {
		c.place.Fail(fmt.Sprintf("the children's path %q is of type %s", path, f.Type), "name a number, or for Mins and Maxs a number or a date")
	}
	if i := slices.IndexFunc(c.sources, func(x source) bool { return x.path == path }); i >= 0 {
		return i
	}
	c.sources = append(c.sources, source{path, date})
	return len(c.sources) - 1
}

// watched looks up a field that decides what a child counts for.
func (c *Counter) watched(path string) core.Field {
	f := c.docs.MustField(path)
	switch {
	case f.Arrays > 0:
		c.place.Fail(fmt.Sprintf("the children's path %q is an array, or is in one", path), "name a field that is neither an array nor in one")
	case core.Overlap(path, c.reference):
		c.place.Fail(fmt.Sprintf("the children's path %q overlaps the reference", path), "name a field of its own")
	}
	return f
}

func isAmount(t reflect.Type) bool {
	return t != nil && (stored.IsNumberType(t) || t == reflect.TypeFor[bson.Decimal128]())
}

func isDate(t reflect.Type) bool {
	return t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[bson.DateTime]()
}

// paths are the fields that decide what a child counts for. None is within another.
func (c *Counter) paths() []string {
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

// index is an index of the children.
func (c *Counter) index(keys bson.D, why string) model.Index {
	return commands.Lookup(c.docs.Name(), why, keys...)
}

// Indexes are the indexes by which a deletion finds the next smallest or greatest value.
func (c *Counter) Indexes() []model.Index {
	var out []model.Index
	for _, s := range c.slots {
		if s.extreme() {
			keys := bson.D{{Key: c.reference, Value: 1}, {Key: c.sources[s.source].path, Value: 1}}
			x := c.index(keys, "the next smallest or greatest value")
			if !slices.ContainsFunc(out, func(y model.Index) bool { return y.Name == x.Name }) {
				out = append(out, x)
			}
		}
	}
	return out
}

// Relations says that children name their parents.
func (c *Counter) Relations() []model.Relation {
	return []model.Relation{{
		From: c.docs.Name(), FromPath: c.reference, To: c.parents.Name(), ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "counted",
	}}
}

// Footprints are the paths that are used.
func (c *Counter) Footprints() []model.Footprint {
	children, parents := c.docs.Name(), c.parents.Name()
	out := model.Writes.In(children, model.Whole, c.reference)
	for _, s := range c.slots {
		out = append(out, model.Owns.In(parents, s.path)...)
	}
	for _, s := range c.sources {
		out = append(out, model.Writes.In(children, s.path)...)
	}
	for _, w := range c.where {
		out = append(out, model.Reads.In(children, w.path)...)
	}
	return out
}
