// Inside package counter: parents store
// numbers that are computed from their children. The public type encodes _ids, and passes the
// methods to model.Parts. Stores call makeReactions, audits call listChecks.
//
// # Stored form
//
// A publisher (the parent) and a book (the child) of a Counter with one slot of each
// kind:
//
//	publishers {
//	  _id: "oreilly",
//	  books: 2,                               // countChildren
//	  pages: 900,                             // addUp
//	  rating: {sum: 9.0, n: 2, value: 4.5},   // addUp, countValues, quotient
//	  first: ISODate("2001-…"), longest: 600, // smallest, greatest
//	  _m: {ops: […]},                         // the store's tokens of actions that it knows
//	}
//	books {_id: 7, publisher: "oreilly", pages: 600, rating: 4.0, published: ISODate(…)}
//
// The children are the truth. A number to which nothing is added yet can be missing. A
// smallest or greatest value, and a quotient, is missing while no child has a value.
//
// # Protocol of a store's write of a child
//
//  1. readTransition computes from the child before and after the write what it counted for,
//     and what it counts for now. The difference is a transition (state.go).
//  2. fetchParents reads documents only in two cases. If the child takes away a value that
//     may be the parent's smallest or greatest one, it reads the parent, and the next value
//     of the other children by an index. If the child names a new parent, it holds that
//     parent, so that a deletion of the parent at the same time conflicts.
//  3. The store writes the child.
//  4. planParentUpdates gives one update for each parent (write.go), in an order that is the
//     same in all actions. Counts and sums are incremented. A smallest value that comes in is a
//     $min. One that goes away is replaced, under a condition: the stored value is beyond the
//     value that goes away, or no action has changed the parent since it was read.
//
// The store sends the updates at most once per action: they are Answer.Once.
//
// # What a crash leaves
//
// In a transaction, nothing. Outside transactions, a crash after step 3 leaves a child
// whose parents have the old numbers. The child has the unfinished action in the store's
// field; a retry, or the next client that needs the document, finishes it. The check
// (check.go) skips such parents. recountParent refuses them with model.ErrStale.

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

// An untypedCounter is the Counter without its Go types. Its methods take encoded
// documents.
type untypedCounter struct {
	docs, parents *core.Docs // docs are the children
	place         core.Place
	reference     string
	slots         []slot
	// Numbers and dates of a child from which slots are computed, each once.
	sources []source
	where   []condition
	filter  bson.D // of the children that count: where, and not being deleted
}

// A slot is a number that a parent keeps.
type slot struct {
	path string // in the parent
	kind slotKind
	// Index in Counter.sources; unused by countChildren and quotient.
	source int
	// Of a quotient: the indexes in Counter.slots of the dividend and the divisor.
	sum, n int
}

type slotKind uint8

const (
	// The number of children.
	countChildren slotKind = iota
	// The number of children with a value: the divisor of an average.
	countValues
	// The sum of the children's values.
	addUp
	// The smallest value; MongoDB's $min and $max compare by type too, so a source is
	// either a number or a date. greatest follows smallest: declareSlots and
	// accumulateSlots compute one from the other.
	smallest
	greatest
	// An average, computed on the server from two other slots, after they changed.
	quotient
)

// flattenPath returns the name of a path in a drift, with "/" for a dot. A projection
// can't return a field with a dot in its name.
func flattenPath(path string) string { return strings.ReplaceAll(path, ".", "/") }

// isExtreme reports whether the slot stores the smallest or greatest value. Such a slot
// can't be corrected by an increment when a value goes away.
func (s slot) isExtreme() bool { return s.kind == smallest || s.kind == greatest }

// A source is a number or date of a child.
type source struct {
	path string
	date bool
}

// declareCounter panics with a model.DeclarationError if the declaration doesn't fit the
// documents' types.
func declareCounter(children *core.Docs, reference string, parents *core.Docs, spec Spec) *untypedCounter {
	c := &untypedCounter{
		docs: children, parents: parents, reference: reference,
		place: core.Place(fmt.Sprintf("counter.New of %s by %s.%s", parents.Name(), children.Name(), reference)),
	}
	c.declareReference()
	c.declareSlots(spec)
	c.declareWhere(spec.Where)
	return c
}

// declareSlots appends the slots in the order of the spec. The parents' paths must not
// overlap, because one update sets all of them: MongoDB refuses conflicting paths.
func (c *untypedCounter) declareSlots(spec Spec) {
	taken := []string{"_id"}
	keep := func(path string, ok func(core.Field) bool, want string) {
		f := c.parents.MustField(path)
		switch {
		case f.Arrays > 0:
			c.place.Fail(fmt.Sprintf("the parents' path %q is an array, or is in one", path),
				"name a field that is neither an array nor in one")
		case !f.Untyped && !ok(f):
			c.place.Fail(fmt.Sprintf("the parents' path %q is of type %s", path, f.Type), "declare it as "+want)
		}
		for _, other := range taken {
			if core.Overlap(path, other) {
				c.place.Fail(fmt.Sprintf("the parents' paths %q and %q overlap", other, path),
					"give each a field of its own")
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
		c.slots = append(c.slots, slot{path: f.To, kind: addUp, source: c.declareSource(f.From, false)})
	}
	for _, a := range spec.Averages {
		from, sum := c.declareSource(a.From, false), len(c.slots)
		keep(a.To+".sum", number, "a number")
		keep(a.To+".n", number, "a number")
		c.slots = append(c.slots,
			slot{path: a.To + ".sum", kind: addUp, source: from}, slot{
				path: a.To + ".n", kind: countValues, source: from,
			})
		if a.Value != "" {
			keep(a.Value, number, "a number")
			c.slots = append(c.slots, slot{path: a.Value, kind: quotient, sum: sum, n: sum + 1})
		}
	}
	for kind, list := range [][]Field{spec.Mins, spec.Maxs} {
		for _, f := range list {
			from := c.declareSource(f.From, true)
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

// declareReference requires a single value outside the _id. An _id can't change, and a
// child has one parent.
func (c *untypedCounter) declareReference() {
	ref, id := c.docs.MustField(c.reference), c.parents.MustField("_id")
	switch {
	case ref.Arrays > 0:
		c.place.Fail(fmt.Sprintf("the reference %q is an array, or is in one", c.reference),
			"name a field with a single value: a child has one parent. To count a many-to-many relation, count the "+
				"links of a joincollection.JoinCollection")
	case core.Overlap(c.reference, "_id"):
		c.place.Fail(fmt.Sprintf("the reference %q is in the _id", c.reference),
			"use another field: an _id can't change")
	case !ref.Untyped && !id.Untyped && ref.Type != id.Type:
		c.place.Fail(fmt.Sprintf("the reference %q is of type %s, but the parents' _id is of type %s", c.reference,
			ref.Type, id.Type), "declare both with the same type")
	}
}

// declareSource returns the index in sources of a child's field, and appends the field if
// it is new. Two slots of one field share a source, so that a child's value is read once.
func (c *untypedCounter) declareSource(path string, extreme bool) int {
	f := c.checkChildField(path)
	date := isDate(f.Type)
	if !f.Untyped && !isAmount(f.Type) && !(extreme && date) {
		c.place.Fail(fmt.Sprintf("the children's path %q is of type %s", path, f.Type),
			"name a number, or for Mins and Maxs a number or a date")
	}
	if i := slices.IndexFunc(c.sources, func(x source) bool { return x.path == path }); i >= 0 {
		return i
	}
	c.sources = append(c.sources, source{path, date})
	return len(c.sources) - 1
}

// checkChildField looks up a field that decides what a child counts for. Arrays are
// refused: what they count for would depend on how a query traverses them.
func (c *untypedCounter) checkChildField(path string) core.Field {
	f := c.docs.MustField(path)
	switch {
	case f.Arrays > 0:
		c.place.Fail(fmt.Sprintf("the children's path %q is an array, or is in one", path),
			"name a field that is neither an array nor in one")
	case core.Overlap(path, c.reference):
		c.place.Fail(fmt.Sprintf("the children's path %q overlaps the reference", path), "name a field of its own")
	}
	return f
}

// isAmount reports whether values of a type can be added up.
func isAmount(t reflect.Type) bool {
	return t != nil && (stored.IsNumberType(t) || t == reflect.TypeFor[bson.Decimal128]())
}

func isDate(t reflect.Type) bool {
	return t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[bson.DateTime]()
}

// listChildPaths returns the fields that decide what a child counts for. None is within
// another, because a projection with both is an error
// (https://www.mongodb.com/docs/manual/reference/operator/aggregation/project/).
func (c *untypedCounter) listChildPaths() []string {
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

// makeIndex is an index of the children.
func (c *untypedCounter) makeIndex(keys bson.D, why string) model.Index {
	return commands.MakeLookupIndex(c.docs.Name(), why, keys...)
}

// listIndexes returns the indexes by which a deletion finds the next smallest or greatest
// value. One index serves both ends.
func (c *untypedCounter) listIndexes() []model.Index {
	var out []model.Index
	for _, s := range c.slots {
		if s.isExtreme() {
			keys := bson.D{{Key: c.reference, Value: 1}, {Key: c.sources[s.source].path, Value: 1}}
			x := c.makeIndex(keys, "the next smallest or greatest value")
			if !slices.ContainsFunc(out, func(y model.Index) bool { return y.Name == x.Name }) {
				out = append(out, x)
			}
		}
	}
	return out
}

// listRelations says that children refer to their parents.
func (c *untypedCounter) listRelations() []model.Relation {
	return []model.Relation{{
		From: c.docs.Name(), FromPath: c.reference, To: c.parents.Name(), ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "counted",
	}}
}

// listFootprints are the paths that are used.
func (c *untypedCounter) listFootprints() []model.Footprint {
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
