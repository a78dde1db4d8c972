package window

// This file has the functions that $group knows as accumulators too, and chooses how to compute them.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// accumulating is an accumulator over the window of each document. $min and $max compare by its collator.
type accumulating struct {
	name string
	acc  *expr.Accumulator
	*bounds
	by *collation.Collator
}

// parseAccumulator parses a function that is an accumulator of $group too. Some accumulators name themselves in the
// errors about their parts, as MongoDB's do.
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
	return accumulating{name: name, acc: acc, bounds: b, by: s.Scope.Collation()}, err
}

// parseCount parses $count as a sum of ones. The argument of $count must be an empty document.
func parseCount(_ string, spec bson.D, s Stage) (Function, error) {
	arg, b, err := readParts(spec, s)
	if err != nil {
		return nil, err
	}
	if d, ok := arg.(bson.D); !ok || len(d) > 0 {
		return nil, newError("$count only accepts an empty object as input")
	}
	acc, err := expr.WindowAccumulator("$sum", int32(1), s.Scope)
	return accumulating{name: "$sum", acc: acc, bounds: b, by: s.Scope.Collation()}, err
}

// StartPartition chooses the cheapest way. Windows that begin with the partition only grow, so an accumulator of any
// kind takes in each document once. Other windows also lose documents. $sum, $avg, $min and $max can forget a value;
// all other accumulators start again for each window.
func (a accumulating) StartPartition(p *Partition) Values {
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

// inputs are the values that a function takes from the documents of a partition. Windows share documents, so each
// value is kept after its first use.
type inputs struct {
	p    *Partition
	eval func(c *expr.Context) (any, error)
	list []any
	done []bool
}

// evalInput returns the input of the i-th document, evaluated at its first use. Each evaluation is a step of the
// command's watch, so a command over a long partition can be interrupted.
func (in *inputs) evalInput(i int) (any, error) {
	if in.list == nil {
		in.list, in.done = make([]any, len(in.p.Docs)), make([]bool, len(in.p.Docs))
	}
	if !in.done[i] {
		v, err := in.eval(in.p.Context.ForDocument(in.p.Docs[i]))
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

// accumulate adds the documents to one group for the whole partition. Its windows begin with the partition, so only
// their last documents matter.
func (a accumulating) accumulate(p *Partition, in *inputs) Values {
	group, f, next := a.acc.Start(), a.bounds.newFrames(p), 0
	result := group.Result()
	return func(i int) (any, error) {
		_, last, err := f.findFrame(i)
		// The frame reaches no new document, so the result of the document before is right for this one.
		if err != nil || next > last {
			return result, err
		}
		for ; next <= last; next++ {
			v, err := in.evalInput(next)
			if err == nil {
				err = group.AddValue(v)
			}
			if err != nil {
				return nil, err
			}
		}
		result = clipList(group.Result())
		return result, nil
	}
}

// clipList takes the spare capacity from a list. The results of $push share one array: an append to one result would
// otherwise overwrite the elements of a later one.
func clipList(v any) any {
	if a, ok := v.(bson.A); ok {
		return slices.Clip(a)
	}
	return v
}

// recompute starts a group for each window, so each document costs as much as its window is long. The result of an
// empty window is what the accumulator gives for no values.
func (a accumulating) recompute(p *Partition, in *inputs) Values {
	f := a.bounds.newFrames(p)
	return func(i int) (any, error) {
		first, last, err := f.findFrame(i)
		if err != nil {
			return nil, err
		}
		group := a.acc.Start()
		for ; first <= last; first++ {
			v, err := in.evalInput(first)
			if err == nil {
				err = group.AddValue(v)
			}
			// Most inputs are evaluated already, and evalInput counts no step for them.
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

// total is a $sum of a window that moves. Running can take out again what it has added.
type total struct{ expr.Running }

func (t *total) add(v any) error    { t.Add(v); return nil }
func (t *total) remove(v any) error { t.Remove(v); return nil }
func (t *total) result() (any, error) {
	return t.Sum(), nil
}

// mean is an $avg of a window that moves. It is null while the window has no number.
type mean struct{ expr.Running }

func (m *mean) add(v any) error    { m.Add(v); return nil }
func (m *mean) remove(v any) error { m.Remove(v); return nil }
func (m *mean) result() (any, error) {
	return m.Average(), nil
}

// extremes is a $min or $max of a window that moves. Its list has the values that may still become the result, in the
// order of the documents: a value drops out when a later value beats it. So the first value of the list is the result.
// Each value is added and dropped once, so the cost of a document doesn't grow with the window.
type extremes struct {
	by   *collation.Collator
	sign int // of a comparison of the new value with the old one, if the new one beats it
	list []placed
	in   int // how many values were added
	out  int // how many were removed
}

// placed is a value and its place among the values that were added.
type placed struct {
	at int
	v  any
}

// add drops the values that the new value beats: they leave the window before it, so they can't be the result again.
// Null and missing values don't count, but they have a place.
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

// remove drops the oldest value of the window, unless it isn't in the list.
func (e *extremes) remove(any) error {
	if len(e.list) > 0 && e.list[0].at == e.out {
		e.list = e.list[1:]
	}
	e.out++
	return nil
}

// result returns null if the window has no value that counts.
func (e *extremes) result() (any, error) {
	if len(e.list) == 0 {
		return nil, nil
	}
	return e.list[0].v, nil
}
