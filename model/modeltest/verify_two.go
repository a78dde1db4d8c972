package modeltest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/verify"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func init() {
	verify.New = func(t *testing.T, c verify.Case) verify.Way {
		v := &verification{VerifyCase: VerifyCase{Ignore: c.Ignore}, model: c.Model, backend: &backend{name: engineName}}
		w := &way{verification: v, name: c.Name, scope: c.Scope, tx: c.Tx, raw: c.Seed}
		w.prepare(t)
		return two{w}
	}
}

// two is a way for package verify.
type two struct{ w *way }

func (w two) Alone(t *testing.T, o verify.Operation) verify.Outcome {
	return w.shown(w.w.ran(t, VerifyOperation{Name: o.Name, Run: o.Run}).outcome)
}

func (w two) Meet(t *testing.T, a, b verify.Operation) (m verify.Meeting) {
	opA, opB := VerifyOperation{Name: a.Name, Run: a.Run}, VerifyOperation{Name: b.Name, Run: b.Run}
	aloneA, aloneB := w.w.ran(t, opA), w.w.ran(t, opB)
	m.Alone = [2]verify.Outcome{w.shown(aloneA.outcome), w.shown(aloneB.outcome)}
	c := InterleaveCase{A: w.w.run(opA), B: w.w.run(opB), Match: Writes, Nested: true, Max: 5000}
	var s serial
	var all []schedule
	server := onServer(t)
	judge := func(st *stage, errA, errB error) {
		o, err := st.outcome(errA, errB)
		if err != nil {
			st.t.Fatalf("after %s and %s, %s: %v", opA.Name, opB.Name, w.w.name, err)
		}
		out := w.shown(o)
		if !s.allows(o, w.w.before) {
			out.Odd = fmt.Sprintf("after A and then B:\n%s\nafter B and then A:\n%s", o.docs.diff(s.ab.docs), o.docs.diff(s.ba.docs))
		}
		m.Together = append(m.Together, out)
	}
	w.w.onEngine(t, func(_ context.Context, st *stage) {
		s = st.apart(opA, opB, aloneA, aloneB)
		m.InTurn = [2]verify.Outcome{w.shown(s.ab), w.shown(s.ba)}
		c.judge = func(_ testing.TB, _ *mongo.Database, errA, errB error, _ func() string) {
			if !server {
				judge(st, errA, errB)
			}
		}
		all = c.orders(st.t, func(s schedule) schedule { return st.play(&c, s) })
	})
	if server {
		w.w.meetOnServer(t, func(st *stage) {
			c.judge = func(_ testing.TB, _ *mongo.Database, errA, errB error, _ func() string) { judge(st, errA, errB) }
			st.play(&c, all[len(all)/2])
		})
	}
	return m
}

func (w two) Joined(t *testing.T, a, b, both verify.Operation) verify.Outcome {
	opA, opB := VerifyOperation{Name: a.Name, Run: a.Run}, VerifyOperation{Name: b.Name, Run: b.Run}
	aloneA, aloneB := w.w.ran(t, opA), w.w.ran(t, opB)
	joined := w.w.ran(t, VerifyOperation{Name: both.Name, Run: both.Run}).outcome
	out := w.shown(joined)
	w.w.onEngine(t, func(_ context.Context, st *stage) {
		s := st.apart(opA, opB, aloneA, aloneB)
		failed := func(o outcome) bool { return o.errs[0] != nil || o.errs[1] != nil }
		var allowed []stored
		for _, o := range []outcome{s.ab, s.ba} {
			if !failed(o) || joined.errs[0] != nil { // an error may be of what a change runs afterwards
				allowed = append(allowed, o.docs)
			}
		}
		if joined.errs[0] != nil {
			allowed = append(allowed, w.w.before)
		}
		if len(allowed) > 0 && !slices.ContainsFunc(allowed, joined.docs.equal) {
			out.Odd = fmt.Sprintf("after A and then B (%v):\n%s\nafter B and then A (%v):\n%s",
				s.ab.errs, joined.docs.diff(s.ab.docs), s.ba.errs, joined.docs.diff(s.ba.docs))
		}
	})
	return out
}

// meetOnServer runs f with a database of the server that has the engine's image.
func (w *way) meetOnServer(t *testing.T, f func(st *stage)) {
	b := &backend{name: serverName, uri: os.Getenv(EnvURI)}
	b.plain = b.mustConnect(t)
	if w.tx {
		NeedTransactions(t, b.plain.Database("admin"))
	}
	there := *w
	v := *w.verification
	v.backend, there.verification, there.t = b, &v, t
	there.onServer(t, func(_ context.Context, st *stage) { f(st) })
}

func (w two) shown(o outcome) verify.Outcome {
	out := verify.Outcome{Errs: o.errs, Found: o.found, Left: o.left}
	if !o.theirs.equal(w.w.theirs) {
		out.Theirs = o.theirs.diff(w.w.theirs)
	}
	return out
}
