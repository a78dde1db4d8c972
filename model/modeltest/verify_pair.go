package modeltest

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// share reports whether one of two operations writes to a collection that the other uses.
func (w *way) share(a, b *solo) bool {
	for _, name := range w.model.Collections() {
		on := func(c Command) bool { return c.isOn(name) }
		writes := func(c Command) bool { return Writes(c) && c.isOn(name) }
		if slices.ContainsFunc(a.commands, writes) && slices.ContainsFunc(b.commands, on) ||
			slices.ContainsFunc(b.commands, writes) && slices.ContainsFunc(a.commands, on) {
			return true
		}
	}
	return false
}

// A serial is what two operations leave that don't meet.
type serial struct{ ab, ba, a, b outcome }

// inTurn runs two operations one after the other.
func (p *part) inTurn(t *testing.T, a, b VerifyOperation) (o outcome) {
	p.fresh(t, func(ctx context.Context, t *testing.T, _ *backend, db *mongo.Database) {
		errA := p.run(a)(ctx, db)
		errB := p.run(b)(ctx, db)
		var err error
		if o, err = p.outcome(ctx, db, errA, errB); err != nil {
			t.Fatalf("after %s and then %s, %s: %v", a.Name, b.Name, p.way.name, err)
		}
	})
	return o
}

// runPair runs two operations at the same time.
func (p *part) runPair(t *testing.T, a, b VerifyOperation) {
	s := serial{a: p.ran(t, a).outcome, b: p.ran(t, b).outcome}
	s.ab = p.inTurn(t, a, b)
	s.ba = s.ab
	if a.Name != b.Name {
		s.ba = p.inTurn(t, b, a)
		s.ba.errs[0], s.ba.errs[1] = s.ba.errs[1], s.ba.errs[0]
	}
	for i, o := range []outcome{s.ab, s.ba} {
		when := []string{a.Name + " and then " + b.Name, b.Name + " and then " + a.Name}[i] + ": "
		p.wrong(o, a, b, when, "")
		if len(o.found) > 0 && len(s.a.found)+len(s.b.found) == 0 {
			p.problem("", "%sthe checks find:%s", when, lines(o.found))
		}
	}
	n := 0
	c := InterleaveCase{Seed: p.image.store, A: p.run(a), B: p.run(b)}
	c.judge = func(t testing.TB, db *mongo.Database, errA, errB error, story func() string) {
		n++
		p.judge(db, s, a, b, [2]error{errA, errB}, story)
	}
	how := p.interleave(t, c, len(p.alone[a.Name].commands), len(p.alone[b.Name].commands), a, b)
	if p.done.pairs == nil {
		p.done.pairs = map[string]int{}
	}
	p.done.pairs[how]++
	p.done.orders += n
}

// judge looks at what two operations that met have left.
func (p *part) judge(db *mongo.Database, s serial, a, b VerifyOperation, errs [2]error, story func() string) {
	order := "\nThe order was (A is " + a.Name + ", B is " + b.Name + "):" + story()
	o, err := p.outcome(context.Background(), db, errs[0], errs[1])
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

// allows reports whether the documents are as after one operation and then the other, or, where one returned an error, as after the
// other alone.
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

// wrong looks at an outcome by itself.
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

// interleave runs two operations, which alone send m and n commands, in as many orders as there may be. It says how these were chosen.
func (p *part) interleave(t *testing.T, c InterleaveCase, m, n int, a, b VerifyOperation) (how string) {
	writes := func(o VerifyOperation) (n int) {
		for _, c := range p.alone[o.Name].commands {
			if Writes(c) {
				n++
			}
		}
		return n
	}
	c.Max = p.Max
	switch {
	case testing.Short():
		c.Match, c.Nested, how = commands, true, "in four orders, with -short"
	case orders(m, n) <= p.Max:
		c.Match, how = commands, "in all orders of their commands"
	case orders(writes(a), writes(b)) <= p.Max:
		c.Match, how = Writes, "in all orders of their writes"
	default:
		c.Match, c.Nested, how = commands, true, "in the orders in which one runs at once, at each moment of the other"
	}
	if c.Nested {
		c.Max = 5000
	}
	more := false
	c.more = func() { more = true }
	if p.backend.plain == nil {
		c.orders(t)
		if more {
			c.Match, c.Nested, c.Max = commands, true, 5000
			c.orders(t)
			return fmt.Sprintf("in the first %d orders of their commands or writes, and those in which one runs at once", p.Max)
		}
		return how
	}
	judge := c.judge
	c.judge = func(testing.TB, *mongo.Database, error, error, func() string) {}
	all := c.orders(t)
	c.judge = judge
	for _, s := range sample(all, p.OnServer) {
		c.play(t, p.backend, s, serverPatience)
	}
	return fmt.Sprintf("%s, of which %d ran", how, p.OnServer)
}

// commands matches what operations send, but for the question that begins a transaction.
func commands(c Command) bool { return c.Name != "hello" }

// orders is in how many orders two operations of m and n commands can go on, as far as an int can hold it.
func orders(m, n int) int {
	all := new(big.Int).Binomial(int64(m+n), int64(m))
	if !all.IsInt64() {
		return int(^uint(0) >> 1)
	}
	return int(all.Int64())
}
