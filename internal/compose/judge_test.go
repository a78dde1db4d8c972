package compose

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A tally is what came of a pair.
type tally struct {
	met       int      // pairs of operations
	schedules int      // orders in which they ran at the same time
	mended    int      // of these, those that left something for the audit to mend
	ran       []string // what ran, as problems name it
	past      []string // operations of one technique that leave something for the audit to mend by themselves
	problems  []problem
}

// A problem is what no pair of operations may show.
type problem struct{ where, says string }

func (t *tally) add(o tally) {
	t.met, t.schedules, t.mended = t.met+o.met, t.schedules+o.schedules, t.mended+o.mended
	t.ran = append(t.ran, o.ran...)
}

// meet runs two operations, one after the other and at the same time, and judges what they leave.
func (p *pair) meet(t *testing.T, a, b operation, c modeltest.InterleaveCase, to *tally) {
	where := fmt.Sprintf("%s %s | %s %s, %s", p.a.name, a.name, p.b.name, b.name, p.way.name)
	to.ran = append(to.ran, where)
	problem := func(format string, args ...any) {
		if s := (problem{where, fmt.Sprintf(format, args...)}); !slices.Contains(to.problems, s) {
			to.problems = append(to.problems, s)
		}
	}
	serial, err := p.serial(t, [2]*operation{&a, &b}, [2]*operation{&b, &a})
	if err != nil {
		problem("%v", err)
		return
	}
	serial[1].errA, serial[1].errB = serial[1].errB, serial[1].errA
	for i, op := range []*operation{&a, &b, named(p.opsA, a.like), named(p.opsB, b.like)} {
		o, err := p.alone(t, op, [...]string{"A", "B"}[i%2])
		if err != nil {
			problem("%v", err)
			return
		}
		if op == nil && len(o.found) > 0 {
			problem("before any operation the checks find %q", o.found)
		}
		serial = append(serial, o)
	}
	serial[3].errA, serial[3].errB = nil, serial[3].errA
	by := func(f, other *fixture, op operation, o outcome) {
		if len(o.found) > 0 {
			to.past = append(to.past, f.name+" "+op.name+" past "+other.name+ifAny(o.left, ", for a person to decide"))
		}
	}
	by(p.a, p.b, a, serial[2])
	by(p.b, p.a, b, serial[3])
	past, person := false, false
	for _, o := range serial[2:] {
		past, person = past || len(o.found) > 0, person || len(o.left) > 0
	}
	for i, o := range serial[:4] {
		for _, s := range p.wrong(o) {
			problem("%s: %s", [...]string{"A then B", "B then A", "A alone", "B alone"}[i], s)
		}
		switch {
		case i < 2 && len(o.left) > 0 && !person:
			problem("one after the other: after mending the checks find %q", o.left)
		case i < 2 && len(o.found) > 0 && !past:
			problem("one after the other: the checks find %q", o.found)
		}
	}
	together := p.interleaved(t, a, b, c)
	to.met++
	to.schedules += len(together)
	for _, o := range together {
		for _, s := range p.wrong(o) {
			problem("together: %s", s)
		}
		if len(o.found) > 0 {
			to.mended++
		}
		switch {
		case len(o.left) > 0 && !person:
			problem("together: after mending the checks find %q", o.left)
		case len(o.found) > 0 && !past && o.errA == nil && o.errB == nil:
			problem("together: without an error, the checks find %q", o.found)
		case !legal(o, serial):
			problem("together: the documents are as after none of the orders (errors %v, %v):\n%s", o.errA, o.errB, apart(o.state, serial[0].state, serial[1].state))
		}
	}
}

// named is the operation of a name, or nil.
func named(list []operation, name string) *operation {
	if i := slices.IndexFunc(list, func(o operation) bool { return o.name == name }); i >= 0 {
		return &list[i]
	}
	return nil
}

func ifAny(list []string, s string) string {
	if len(list) == 0 {
		return ""
	}
	return s
}

// legal reports whether the outcome is that of one operation after the other, or, where one returned an error, of the other alone.
func legal(o outcome, serial []outcome) bool {
	states := []string{serial[0].state, serial[1].state}
	if o.errA != nil {
		states = append(states, serial[3].state)
	}
	if o.errB != nil {
		states = append(states, serial[2].state)
	}
	return slices.Contains(states, o.state) || o.errA != nil && o.errB != nil
}

// wrong says what is wrong with an outcome by itself.
func (p *pair) wrong(o outcome) (out []string) {
	for _, err := range []error{o.errA, o.errB} {
		if err != nil && !typed(err) {
			out = append(out, fmt.Sprintf("an error of no type: %v (%T)", err, err))
		}
	}
	if o.theirs != p.theirs {
		out = append(out, "the other tenant's documents changed:\n"+apart(o.theirs, p.theirs))
	}
	return out
}

// typed reports whether a caller can tell what an error means.
func typed(err error) bool {
	for _, known := range []error{
		model.ErrNotFound, model.ErrStale, model.ErrFull, model.ErrTaken, model.ErrLeased, embed.ErrGuard, paths.ErrCycle, paths.ErrHasChildren,
		paths.ErrDamaged, paths.ErrGraphState, relate.ErrDropping, relate.ErrPresent,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	var left *model.LeftError
	return errors.As(err, &left) || mongo.IsDuplicateKeyError(err)
}
