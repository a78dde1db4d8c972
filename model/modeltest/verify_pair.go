package modeltest

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// share reports whether one of two operations writes to a collection of the other.
func (w *way) share(a, b *solo) bool {
	for _, name := range w.model.Collections() {
		on := func(c mongotest.Command) bool { return isOn(c, name) }
		writes := func(c mongotest.Command) bool { return mongotest.Writes(c) && isOn(c, name) }
		if slices.ContainsFunc(a.commands, writes) && slices.ContainsFunc(b.commands, on) ||
			slices.ContainsFunc(b.commands, writes) && slices.ContainsFunc(a.commands, on) {
			return true
		}
	}
	return false
}

// A serial is the results of two operations that don't overlap.
type serial struct{ ab, ba, a, b outcome }

// inTurn runs two operations one after the other.
func (s *stage) inTurn(a, b VerifyOperation) outcome {
	s.again()
	errA := s.run(a)(s.ctx, s.db)
	errB := s.run(b)(s.ctx, s.db)
	o, err := s.outcome(errA, errB)
	if err != nil {
		s.t.Fatalf("after %s and then %s, %s: %v", a.Name, b.Name, s.way.name, err)
	}
	return o
}

// apart returns the results of two operations in turn, and alone.
func (s *stage) apart(a, b VerifyOperation, aloneA, aloneB *solo) serial {
	out := serial{a: aloneA.outcome, b: aloneB.outcome, ab: s.inTurn(a, b)}
	out.ba = out.ab
	if a.Name != b.Name {
		out.ba = s.inTurn(b, a)
		out.ba.errs[0], out.ba.errs[1] = out.ba.errs[1], out.ba.errs[0]
	}
	return out
}

// runPair runs two operations at the same time.
func (p *part) runPair(t *testing.T, a, b VerifyOperation) {
	aloneA, aloneB := p.ran(t, a), p.ran(t, b)
	n, how := 0, ""
	p.fresh(t, func(_ context.Context, st *stage) {
		s := st.apart(a, b, aloneA, aloneB)
		for i, o := range []outcome{s.ab, s.ba} {
			when := []string{a.Name + " and then " + b.Name, b.Name + " and then " + a.Name}[i] + ": "
			p.wrong(o, a, b, when, "")
			if len(o.found) > 0 && len(s.a.found)+len(s.b.found) == 0 {
				p.problem("", "%sthe checks find:%s", when, lines(o.found))
			}
		}
		c := InterleaveCase{
			A: p.run(a), B: p.run(b),
			judge: func(_ testing.TB, _ *mongo.Database, errA, errB error, story func() string) {
				n++
				p.judge(st, s, a, b, [2]error{errA, errB}, story)
			},
		}
		how = p.interleave(st, c, aloneA.commands, aloneB.commands)
	})
	if p.done.pairs == nil {
		p.done.pairs = map[string]int{}
	}
	p.done.pairs[how]++
	p.done.orders += n
}

// judge checks the result of two concurrent operations.
func (p *part) judge(st *stage, s serial, a, b VerifyOperation, errs [2]error, story func() string) {
	order := "\nThe order was (A is " + a.Name + ", B is " + b.Name + "):" + story()
	o, err := st.outcome(errs[0], errs[1])
	if err != nil {
		p.problem(order, "%v", err)
		return
	}
	p.wrong(o, a, b, "", order)
	if p.mends(o) {
		p.done.ordersMended++
	}
	if len(o.left) > 0 || s.allows(o, p.before) {
		return
	}
	nor := ""
	if a.Name != b.Name {
		nor = fmt.Sprintf("\nnor as after %s and then %s:\n%s", b.Name, a.Name, o.docs.diff(s.ba.docs))
	}
	p.problem(order, "the documents aren't as after %s and then %s:\n%s%s", a.Name, b.Name, o.docs.diff(s.ab.docs), nor)
}

// allows reports whether the documents are as after one operation and then the other, or,
// if one returned an error, as after the other alone.
func (s serial) allows(o outcome, before stored) bool {
	allowed := []stored{s.ab.docs, s.ba.docs}
	if o.errs[0] != nil {
		allowed = append(allowed, s.b.docs)
	}
	if o.errs[1] != nil {
		allowed = append(allowed, s.a.docs)
	}
	if o.errs[0] != nil && o.errs[1] != nil {
		allowed = append(allowed, before)
	}
	return slices.ContainsFunc(allowed, o.docs.equal)
}

// wrong checks one outcome.
func (p *part) wrong(o outcome, a, b VerifyOperation, when, order string) {
	for i, by := range []VerifyOperation{a, b} {
		if err := o.errs[i]; err != nil && !by.refused(err) && !typed(err) {
			p.problem(order, "%s%s returned an error that is none of Refused: %v (%T)", when, by.Name, err, err)
		}
	}
	if len(o.left) > 0 {
		p.problem(order, "%safter the audit's job the checks find:%s", when, lines(o.left))
	}
	p.beside(o.settled, when, order)
}

// interleave runs two operations in as many orders as allowed, and says how they were
// chosen.
func (p *part) interleave(st *stage, c InterleaveCase, ofA, ofB []mongotest.Command) (how string) {
	writes := func(list []mongotest.Command) int {
		return len(list) - len(slices.DeleteFunc(slices.Clone(list), mongotest.Writes))
	}
	c.Max = p.Max
	switch {
	case testing.Short():
		c.Match, c.Nested, how = commands, true, "in four orders, with -short"
	case orders(len(ofA), len(ofB)) <= p.Max:
		c.Match, how = commands, "in all orders of their commands"
	case orders(writes(ofA), writes(ofB)) <= p.Max:
		c.Match, how = mongotest.Writes, "in all orders of their writes"
	default:
		c.Match, c.Nested, how = commands, true, "in the orders in which one runs at once, at each moment of the other"
	}
	if c.Nested {
		c.Max = 5000
	}
	more := false
	c.more = func() { more = true }
	if p.backend.plain == nil {
		c.orders(st.t, func(s schedule) schedule { return st.play(&c, s) })
		if more {
			c.Match, c.Nested, c.Max = commands, true, 5000
			c.orders(st.t, func(s schedule) schedule { return st.play(&c, s) })
			return fmt.Sprintf("in the first %d orders of their commands or writes, and those in which one runs at once", p.Max)
		}
		return how
	}
	for _, s := range sample(p.ordersOf(st.t, c), p.Sample) {
		st.play(&c, s)
	}
	return fmt.Sprintf("%s, of which %d ran", how, p.Sample)
}

// ordersOf computes the orders for a server on an engine, which is fast.
func (w *way) ordersOf(t *testing.T, c InterleaveCase) (all []schedule) {
	c.judge = func(testing.TB, *mongo.Database, error, error, func() string) {}
	w.onEngine(t, func(_ context.Context, st *stage) {
		all = c.orders(st.t, func(s schedule) schedule { return st.play(&c, s) })
	})
	return all
}

// commands matches what operations send, without the hello before a transaction.
func commands(c mongotest.Command) bool { return c.Name != "hello" }

// orders returns the number of orders of m and n commands, at most the greatest int.
func orders(m, n int) int {
	all := new(big.Int).Binomial(int64(m+n), int64(m))
	if !all.IsInt64() {
		return int(^uint(0) >> 1)
	}
	return int(all.Int64())
}
