// Package counter is what is behind denorm.Counter: it keeps numbers in parents that are computed from their children.
package counter

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Counter is a declaration of denorm.Counter without its types. Its methods take encoded documents.
type Counter struct {
	docs, parents   *core.Docs // docs are the children
	place           core.Place
	reference       string
	slots           []slot
	sources         []source
	where           []condition
	filter          bson.D // of the children that count: where, and not being deleted
	tokens, pending string // "" without tokens
	keep            int
	partial         bool
	guard           string // in the parents, changes with every operation; "" for tokens, or without them for the extreme
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

// flatName is the name of a path in a drift or a mark: with "/" for a dot.
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
	Tokens, Pending  string
	PendingType      reflect.Type // of the children's field at Pending, without the pointer
	Keep             int
	Partial          bool
}

// A Field is the path of a number in a child, and the path of the computed number in the parent.
type Field struct{ From, To string }

// An Average is a Field with the path in the parent of the quotient, or "".
type Average struct{ From, To, Value string }

// Declare checks a declaration, and panics if it doesn't fit the documents.
func Declare(children *core.Docs, reference string, parents *core.Docs, spec Spec) *Counter {
	c := &Counter{
		docs: children, parents: parents, reference: reference, tokens: spec.Tokens, pending: spec.Pending,
		keep: cmp.Or(spec.Keep, 100), partial: spec.Partial,
		place: core.Place(fmt.Sprintf("NewCounter of %s by %s.%s", parents.Name(), children.Name(), reference)),
	}
	c.declareReference()
	c.declareTokens(spec)
	c.declareSlots(spec)
	c.declareWhere(spec.Where)
	return c
}

// declareSlots checks where the parents keep the numbers, and from what.
func (c *Counter) declareSlots(spec Spec) {
	taken := []string{"_id"}
	if c.tokens != "" {
		taken = append(taken, c.tokens)
	}
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

func (c *Counter) declareTokens(spec Spec) {
	switch {
	case (c.tokens == "") != (c.pending == ""):
		c.place.Fail("Tokens and Pending belong together", "give both, or leave both out and run in transactions")
	case spec.Keep != 0 && c.tokens == "":
		c.place.Fail("Keep is given without Tokens", "give Tokens and Pending too")
	case c.partial && c.tokens != "":
		c.place.Fail("Partial is given with Tokens", "leave Partial out: operations with tokens need no transaction")
	case c.keep < 1 || c.keep > 10_000:
		c.place.Fail(fmt.Sprintf("Keep is %d", spec.Keep), "give 1 to 10,000")
	case c.tokens == "":
		return
	}
	if f := c.parents.CheckArray(c.tokens); !f.Open && f.Type != reflect.TypeFor[bson.ObjectID]() {
		c.place.Fail(fmt.Sprintf("Tokens %q is an array of type %s", c.tokens, f.Type), "declare it as []bson.ObjectID")
	}
	f := c.docs.MustField(c.pending)
	switch {
	case strings.Contains(c.pending, "."):
		c.place.Fail(fmt.Sprintf("Pending %q isn't a top-level field of the child", c.pending), "give it a field of its own")
	case f.Arrays > 0 || !f.Open && f.Type != spec.PendingType:
		c.place.Fail(fmt.Sprintf("Pending %q is of type %s", c.pending, f.Type), "declare it as *denorm.CounterPending, tagged omitempty")
	case core.Overlap(c.pending, c.reference) || core.Overlap(c.pending, "_id"):
		c.place.Fail(fmt.Sprintf("Pending %q overlaps the reference or _id", c.pending), "give it a field of its own")
	}
	if raw, err := c.docs.Document(reflect.Zero(c.docs.Type()).Interface()); err == nil && !f.Open {
		if _, err := raw.LookupErr(strings.Split(c.pending, ".")...); err == nil {
			c.place.Fail(fmt.Sprintf("Pending %q is stored even when it is empty", c.pending),
				"declare it as *denorm.CounterPending, tagged omitempty")
		}
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
	case c.pending != "" && core.Overlap(path, c.pending) || core.Overlap(path, c.reference):
		c.place.Fail(fmt.Sprintf("the children's path %q overlaps the reference or Pending", path), "name a field of its own")
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
	return commands.Index(c.docs.Name(), why, keys...)
}

// OpIndex is the index that finds operations that were cut, or none without marks.
func (c *Counter) OpIndex() model.Index {
	if c.pending == "" {
		return model.Index{}
	}
	x := c.index(bson.D{{Key: c.pending + ".op", Value: 1}}, "operations that were interrupted")
	x.Partial = bson.D{{Key: c.pending + ".op", Value: mql.Exists(true)}}
	return x
}

// hasPending matches the children with an operation under way.
func (c *Counter) hasPending() bson.D {
	return bson.D{{Key: c.pending + ".parents", Value: mql.Exists(true)}}
}

// Indexes are the indexes that the reads of the children need.
func (c *Counter) Indexes() []model.Index {
	var out []model.Index
	for _, s := range c.slots {
		if s.extreme() {
			keys := bson.D{{Key: c.reference, Value: 1}, {Key: c.sources[s.source].path, Value: 1}}
			x := c.index(keys, "the next smallest or greatest value; a parent's children")
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
		out = append(out, x, c.OpIndex())
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
	out := slices.Concat(
		model.Writes.In(children, model.Whole, c.reference), model.Owns.In(children, c.pending), model.Owns.In(parents, c.tokens),
	)
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
