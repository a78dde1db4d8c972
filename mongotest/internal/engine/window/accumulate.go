package window

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// accumulating is an accumulator over the window of each document.
type accumulating struct {
	name string
	acc  *expr.Accumulator
	*bounds
	by *collation.Collator
}

func parseAccumulator(name string, spec bson.D, s Stage) (Function, error) {
	read := func() (any, *bounds, error) { return readParts(spec, s) }
	if slices.Contains([]string{
		"$firstN", "$lastN", "$minN", "$maxN", "$top", "$topN", "$bottom", "$bottomN", "$median", "$percentile",
	}, name) {
		read = func() (any, *bounds, error) { return readNamedParts(name, spec, s) }
	}
	arg, b, err := read()
	if err != nil {
		return nil, err
	}
	acc, err := expr.WindowAccumulator(name, arg, s.Scope)
	return accumulating{name, acc, b, s.Scope.Collation()}, err
}

// parseCount makes $count what it stands for: a sum of ones.
func parseCount(_ string, spec bson.D, s Stage) (Function, error) {
	arg, b, err := readParts(spec, s)
	if err != nil {
		return nil, err
	}
	if d, ok := arg.(bson.D); !ok || len(d) > 0 {
		return nil, newError("$count only accepts an empty object as input")
	}
	acc, err := expr.WindowAccumulator("$sum", int32(1), s.Scope)
	return accumulating{"$sum", acc, b, s.Scope.Collation()}, err
}

// Over computes over windows that begin with the partition in one pass, and keeps of others what can be given back.
// What neither holds for is computed anew for each window.
func (a accumulating) Over(p *Partition) Values {
	in := &inputs{p: p, eval: a.acc.Eval}
	switch {
	case a.bounds.grows():
		return a.accumulate(p, in)
	case a.name == "$sum":
		return a.slide(p, in, &total{})
	case a.name == "$avg":
		return a.slide(p, in, &mean{})
	case a.name == "$min":
		return a.slide(p, in, &extremes{by: a.by, sign: -1})
	case a.name == "$max":
		return a.slide(p, in, &extremes{by: a.by, sign: 1})
	}
	return a.recompute(p, in)
}

// inputs are what a function takes of each document, evaluated when a window first has it.
type inputs struct {
	p    *Partition
	eval func(c *expr.Context) (any, error)
	list []any
	done []bool
}

func (in *inputs) at(i int) (any, error) {
	if in.list == nil {
		in.list, in.done = make([]any, len(in.p.Docs)), make([]bool, len(in.p.Docs))
	}
	if !in.done[i] {
		v, err := in.eval(in.p.Context.On(in.p.Docs[i]))
		if err == nil {
			err = in.p.Context.Step()
		}
		if err != nil {
			return nil, err
		}
		in.list[i], in.done[i] = v, true
	}
	return in.list[i], nil
}

func (a accumulating) accumulate(p *Partition, in *inputs) Values {
	group, f, next := a.acc.Start(), a.bounds.newFrames(p), 0
	result := group.Result()
	return func(i int) (any, error) {
		_, last, err := f.at(i)
		if err != nil || next > last {
			return result, err
		}
		for ; next <= last; next++ {
			v, err := in.at(next)
			if err == nil {
				err = group.AddValue(v)
			}
			if err != nil {
				return nil, err
			}
		}
		result = clipValue(group.Result())
		return result, nil
	}
}

// clipValue keeps what is appended to a list later out of the list's own memory.
func clipValue(v any) any {
	if a, ok := v.(bson.A); ok {
		return slices.Clip(a)
	}
	return v
}

func (a accumulating) recompute(p *Partition, in *inputs) Values {
	f := a.bounds.newFrames(p)
	return func(i int) (any, error) {
		first, last, err := f.at(i)
		if err != nil {
			return nil, err
		}
		group := a.acc.Start()
		for ; first <= last; first++ {
			v, err := in.at(first)
			if err == nil {
				err = group.AddValue(v)
			}
			if err == nil {
				err = p.Context.Step()
			}
			if err != nil {
				return nil, err
			}
		}
		return group.Result(), nil
	}
}

// total is a $sum of a window that moves.
type total struct{ expr.Running }

func (t *total) add(v any) error    { t.Add(v); return nil }
func (t *total) remove(v any) error { t.Remove(v); return nil }
func (t *total) result() (any, error) {
	return t.Sum(), nil
}

// mean is an $avg of a window that moves.
type mean struct{ expr.Running }

func (m *mean) add(v any) error    { m.Add(v); return nil }
func (m *mean) remove(v any) error { m.Remove(v); return nil }
func (m *mean) result() (any, error) {
	return m.Average(), nil
}

// extremes is a $min or $max of a window that moves: the values that none after them comes before, in order.
type extremes struct {
	by   *collation.Collator
	sign int
	list []placed
	in   int // how many values were added
	out  int // how many were removed
}

type placed struct {
	at int
	v  any
}

func (e *extremes) add(v any) error {
	e.in++
	if bsonval.IsNullish(v) {
		return nil
	}
	for n := len(e.list); n > 0; n-- {
		// Of equal values $min gives the oldest, $max the newest.
		c := e.by.Compare(v, e.list[n-1].v)
		if c != e.sign && (c != 0 || e.sign < 0) {
			break
		}
		e.list = e.list[:n-1]
	}
	e.list = append(e.list, placed{e.in - 1, v})
	return nil
}

func (e *extremes) remove(any) error {
	if len(e.list) > 0 && e.list[0].at == e.out {
		e.list = e.list[1:]
	}
	e.out++
	return nil
}

func (e *extremes) result() (any, error) {
	if len(e.list) == 0 {
		return nil, nil
	}
	return e.list[0].v, nil
}
