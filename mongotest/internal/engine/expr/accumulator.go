package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// Accumulator is a parsed accumulator of $group, such as {$sum: "$n"}.
type Accumulator struct {
	arg   Expr
	start func() accumulation
}

// starter begins a group that compares under a collation.
type starter func(by *collation.Collator) accumulation

// accumulation is what an accumulator has seen of a group.
type accumulation interface {
	add(v any) error
	result() any
}

// holder is an accumulation that holds a list.
type holder interface{ heldBytes() int }

// Group is an accumulator at work on one group.
type Group struct {
	arg   Expr
	state accumulation
}

// Start begins a group.
func (a *Accumulator) Start() Group { return Group{arg: a.arg, state: a.start()} }

// Add takes the context's document into the group.
func (g Group) Add(c *Context) error {
	v, err := g.arg.Eval(c)
	if err != nil {
		return err
	}
	return g.state.add(v)
}

// HeldBytes returns how many bytes the group holds of a list, 0 for a group that holds one value.
func (g Group) HeldBytes() int {
	if h, ok := g.state.(holder); ok {
		return h.heldBytes()
	}
	return 0
}

// Result returns the accumulated value. It is never missing.
func (g Group) Result() any { return g.state.result() }

type summing struct{ sum }

func (s *summing) add(v any) error { s.sum.add(v); return nil }
func (s *summing) result() any     { return s.total() }

type averaging struct{ sum }

func (s *averaging) add(v any) error { s.sum.add(v); return nil }
func (s *averaging) result() any     { return s.average() }

// extreme keeps the least or the greatest value, null and missing apart.
type extreme struct {
	by    *collation.Collator
	sign  int
	v     any
	found bool
}

func (e *extreme) add(v any) error {
	if !bsonval.IsNullish(v) && (!e.found || e.by.Compare(v, e.v) == e.sign) {
		e.v, e.found = v, true
	}
	return nil
}

func (e *extreme) result() any { return e.v }

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

type last struct{ v any }

func (l *last) add(v any) error { l.v = v; return nil }
func (l *last) result() any     { return replaceMissing(l.v) }

type pushing struct {
	list bson.A
	held memory
}

func (p *pushing) add(v any) error {
	if bsonval.IsMissing(v) {
		return nil
	}
	p.list = append(p.list, v)
	return p.held.add("$push", v)
}

func (p *pushing) result() any    { return p.list }
func (p *pushing) heldBytes() int { return p.held.used }

type collecting struct {
	by   *collation.Collator
	list bson.A
	seen map[string]bool
	held memory
}

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

type parseAccumulator func(name string, arg any, s Scope) (*Accumulator, error)

// Eval returns what the accumulator takes of the context's document.
func (a *Accumulator) Eval(c *Context) (any, error) { return a.arg.Eval(c) }

// AddValue takes a value into the group that Eval has returned.
func (g Group) AddValue(v any) error { return g.state.add(v) }
