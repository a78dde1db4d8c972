package expr

// This file has the accumulators that keep one value or a plain list. ranking.go and quantile.go have accumulators that
// sort, deviation.go and merging.go one each. The table is in accumulators.go.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// Accumulator is a parsed accumulator of $group, such as {$sum: "$n"}. It is immutable.
type Accumulator struct {
	arg   Expr                // "$n": the group takes in its value for each document
	start func() accumulation // begins a group
}

// starter begins a group that compares values under a collation.
type starter func(by *collation.Collator) accumulation

// accumulation is the state of an accumulator for one group. add takes in a value, which may be Missing. result returns
// the accumulated value so far. More values may be added after it, because package window asks for the result of a
// growing window after each document. See merging for an exception.
type accumulation interface {
	add(v any) error
	result() any
}

// holder is an accumulation that holds a list. $group counts its bytes.
type holder interface{ heldBytes() int }

// Group is an accumulator's work on one group of documents: the documents with one _id of $group, or of a window.
type Group struct {
	arg   Expr
	state accumulation
}

// Start begins a group.
func (a *Accumulator) Start() Group { return Group{arg: a.arg, state: a.start()} }

// Eval returns the value that the accumulator takes from the context's document. Package window evaluates each document
// once, and then adds the value to several groups by [Group.AddValue].
func (a *Accumulator) Eval(c *Context) (any, error) { return a.arg.Eval(c) }

// Add takes the context's document into the group.
func (g Group) Add(c *Context) error {
	v, err := g.arg.Eval(c)
	if err != nil {
		return err
	}
	return g.state.add(v)
}

// AddValue takes a value into the group that [Accumulator.Eval] has returned.
func (g Group) AddValue(v any) error { return g.state.add(v) }

// HeldBytes returns how many bytes of a list the group holds, 0 for a group that holds one value. $group joins the
// bytes of all its groups, and limits the sum.
func (g Group) HeldBytes() int {
	if h, ok := g.state.(holder); ok {
		return h.heldBytes()
	}
	return 0
}

// Result returns the accumulated value. It is never Missing.
func (g Group) Result() any { return g.state.result() }

// summing is $sum, and $count as a sum of ones.
type summing struct{ sum }

func (s *summing) add(v any) error { s.sum.add(v); return nil }
func (s *summing) result() any     { return s.total() }

// averaging is $avg.
type averaging struct{ sum }

func (s *averaging) add(v any) error { s.sum.add(v); return nil }
func (s *averaging) result() any     { return s.average() }

// extreme is $min or $max. Nullish values don't count. Of equal values, such as 1 and 1.0, the first stays.
type extreme struct {
	by    *collation.Collator
	sign  int // -1 for $min, 1 for $max: a value with this order beside v replaces v
	v     any // null as long as found is false
	found bool
}

func (e *extreme) add(v any) error {
	if !bsonval.IsNullish(v) && (!e.found || e.by.Compare(v, e.v) == e.sign) {
		e.v, e.found = v, true
	}
	return nil
}

func (e *extreme) result() any { return e.v }

// first is $first. The first document counts even if its value is missing: the result is then null.
type first struct {
	v     any
	found bool
}

func (f *first) add(v any) error {
	if !f.found {
		f.v, f.found = v, true
	}
	return nil
}

func (f *first) result() any { return replaceMissing(f.v) }

// last is $last.
type last struct{ v any }

func (l *last) add(v any) error { l.v = v; return nil }
func (l *last) result() any     { return replaceMissing(l.v) }

// pushing is $push: all values but Missing, in the order of the documents.
type pushing struct {
	list bson.A
	held memory
}

// add takes in a value. Its bytes are counted after it is added: the list may be larger than the limit by one value.
func (p *pushing) add(v any) error {
	if bsonval.IsMissing(v) {
		return nil
	}
	p.list = append(p.list, v)
	return p.held.add("$push", v)
}

func (p *pushing) result() any    { return p.list }
func (p *pushing) heldBytes() int { return p.held.used }

// collecting is $addToSet: values without duplicates, in the order in which they came first. MongoDB leaves the order
// open.
type collecting struct {
	by   *collation.Collator
	list bson.A
	seen map[string]bool // by keys of the values: equal values have one key
	held memory
}

// add takes in a value, unless the list has an equal one.
func (s *collecting) add(v any) error {
	if bsonval.IsMissing(v) {
		return nil
	}
	k := string(s.by.AppendKey(nil, v))
	if s.seen[k] {
		return nil
	}
	s.seen[k] = true
	s.list = append(s.list, v)
	return s.held.add("$addToSet", v)
}

func (s *collecting) result() any    { return s.list }
func (s *collecting) heldBytes() int { return s.held.used }
