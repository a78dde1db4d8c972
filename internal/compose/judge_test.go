package compose

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/verify"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/relate/migrate"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A tally is what came of a pair.
type tally struct {
	met       int      // pairs of operations, each way counted
	schedules int      // orders in which they ran at the same time
	mended    int      // of these, those that left something for the audit to mend
	past      []string // operations of one technique that leave something for the audit to mend by themselves
	problems  []problem
}

// A problem is what no pair of operations may show.
type problem struct{ where, says string }

func (t *tally) add(o tally) {
	t.met, t.schedules, t.mended = t.met+o.met, t.schedules+o.schedules, t.mended+o.mended
}

// A pair is two techniques in one way.
type pair struct {
	a, b       *fixture
	opsA, opsB []operation
	way        way
	model      *model.Model
	ready      verify.Way // nil until it is needed
}

// needsTx reports whether chosen operations need a server with transactions.
func (p *pair) needsTx(c choice) bool {
	return p.way.tx || p.opsA[c.a].needsTx || p.opsB[c.b].needsTx
}

// meet runs two operations, alone, one after the other and at the same time, and judges what they leave.
func (p *pair) meet(t *testing.T, a, b operation, to *tally) {
	if p.ready == nil {
		p.ready = verify.New(t, p.way.of(p.a, p.b, p.model))
	}
	where := fmt.Sprintf("%s %s | %s %s, %s", p.a.name, a.name, p.b.name, b.name, p.way.name)
	problem := func(format string, args ...any) {
		if s := (problem{where, fmt.Sprintf(format, args...)}); !slices.Contains(to.problems, s) {
			to.problems = append(to.problems, s)
		}
	}
	m := p.ready.Meet(t, p.a.runs(a), p.b.runs(b))
	alone := m.Alone[:]
	for _, like := range []verify.Operation{p.a.runs(named(p.opsA, a.like)), p.b.runs(named(p.opsB, b.like))} {
		if like.Run != nil {
			alone = append(alone, p.ready.Alone(t, like))
		}
	}
	past, person := false, false
	for i, o := range alone {
		if i < 2 && len(o.Found) > 0 {
			f, op, other := p.a, a, p.b
			if i == 1 {
				f, op, other = p.b, b, p.a
			}
			to.past = append(to.past, f.name+" "+op.name+" past "+other.name+ifAny(o.Left, ", for a person to decide"))
		}
		past, person = past || len(o.Found) > 0, person || len(o.Left) > 0
	}
	for i, o := range slices.Concat(m.InTurn[:], m.Alone[:]) {
		wrong(o, func(s string) { problem("%s: %s", [...]string{"A then B", "B then A", "A alone", "B alone"}[i], s) })
		switch {
		case i < 2 && len(o.Left) > 0 && !person:
			problem("one after the other: after mending the checks find %q", o.Left)
		case i < 2 && len(o.Found) > 0 && !past:
			problem("one after the other: the checks find %q", o.Found)
		}
	}
	to.met++
	to.schedules += len(m.Together)
	for _, o := range m.Together {
		wrong(o, func(s string) { problem("together: %s", s) })
		if len(o.Found) > 0 {
			to.mended++
		}
		switch {
		case len(o.Left) > 0 && !person:
			problem("together: after mending the checks find %q (errors %v, %v)", o.Left, o.Errs[0], o.Errs[1])
		case len(o.Found) > 0 && !past && o.Errs[0] == nil && o.Errs[1] == nil:
			problem("together: without an error, the checks find %q", o.Found)
		case o.Odd != "":
			problem("together: the documents are as after none of the orders (errors %v, %v):\n%s", o.Errs[0], o.Errs[1], o.Odd)
		}
	}
}

// runs is an operation of the technique, under a name of its own.
func (f *fixture) runs(o operation) verify.Operation {
	return verify.Operation{Name: f.name + " " + o.name, Run: o.run}
}

// named is the operation of a name, or none.
func named(list []operation, name string) operation {
	if i := slices.IndexFunc(list, func(o operation) bool { return o.name == name }); i >= 0 {
		return list[i]
	}
	return operation{}
}

func ifAny(list []string, s string) string {
	if len(list) == 0 {
		return ""
	}
	return s
}

// wrong says what is wrong with an outcome by itself.
func wrong(o verify.Outcome, say func(string)) {
	for _, err := range o.Errs {
		if err != nil && !typed(err) {
			say(fmt.Sprintf("an error of no type: %v (%T)", err, err))
		}
	}
	if o.Theirs != "" {
		say("the other tenant's documents changed:\n" + o.Theirs)
	}
}

// typed reports whether a caller can tell what an error means.
func typed(err error) bool {
	for _, known := range []error{
		model.ErrNotFound, model.ErrStale, model.ErrFull, model.ErrTaken, model.ErrLeased, model.ErrGuard,
		paths.ErrCycle, paths.ErrHasChildren, paths.ErrDamaged, paths.ErrGraphState, migrate.ErrDropping, migrate.ErrPresent,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	var left *model.LeftError
	return errors.As(err, &left) || mongo.IsDuplicateKeyError(err)
}
