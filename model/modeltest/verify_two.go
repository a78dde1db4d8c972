package modeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/internal/verify"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func init() {
	verify.New = func(t *testing.T, c verify.Case) verify.Way {
		v := &verification{
			VerifyCase: VerifyCase{Ignore: c.Ignore}, model: c.Model, backend: &backend{}, storeFields: storeFieldsOf(c.Model),
		}
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
	c := InterleaveCase{A: w.w.run(opA), B: w.w.run(opB), Match: mongotest.Writes, Nested: true, Max: 5000}
	var s serial
	var all []schedule
	server := testserver.IsOnServer(t)
	judge := func(st *stage, errA, errB error) {
		o, err := st.outcome(errA, errB)
		if err != nil {
			st.t.Fatalf("after %s and %s, %s: %v", opA.Name, opB.Name, w.w.name, err)
		}
		out := w.shown(o)
		if !s.allows(o, w.w.before) {
			out.Odd = fmt.Sprintf("after A and then B:\n%s\nafter B and then A:\n%s",
				o.docs.diff(s.ab.docs), o.docs.diff(s.ba.docs))
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

func (w two) RunJoined(t *testing.T, a, b, both verify.Operation) verify.Outcome {
	opA, opB := VerifyOperation{Name: a.Name, Run: a.Run}, VerifyOperation{Name: b.Name, Run: b.Run}
	aloneA, aloneB := w.w.ran(t, opA), w.w.ran(t, opB)
	opBoth := VerifyOperation{Name: both.Name, Run: both.Run}
	undisturbed := w.w.ran(t, opBoth)
	joined := undisturbed.outcome
	out := w.shown(joined)
	if joined.errs[0] == nil {
		out.Again = w.again(t, opBoth, aloneA, aloneB, undisturbed, w.stay(t, opA, opB) && w.stay(t, opB, opA))
	}
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

// stay reports whether two operations in turn, run twice more, change nothing and return
// no error.
func (w two) stay(t *testing.T, a, b VerifyOperation) (stay bool) {
	w.w.onEngine(t, func(ctx context.Context, st *stage) {
		var docs [3]stored
		for n := range docs {
			if w.w.run(a)(ctx, st.db) != nil || w.w.run(b)(ctx, st.db) != nil {
				return
			}
			docs[n] = w.documents(st)
		}
		stay = docs[1].equal(docs[0]) && docs[2].equal(docs[0])
	})
	return stay
}

func (w two) documents(st *stage) stored {
	st.t.Helper()
	now, err := st.now()
	if err != nil {
		st.t.Fatal(err)
	}
	ours, _, err := w.w.documents(now)
	if err != nil {
		st.t.Fatal(err)
	}
	return ours
}

// again runs two joined operations three times, and after a cut at a write. Operations
// that stay must have the effect of one run. If the operations write one document with one
// update, a later run may return an error instead. It returns the first problem.
func (w two) again(t *testing.T, both VerifyOperation, a, b, joined *solo, stay bool) (problem string) {
	var once stored
	oneUpdate := countStatements(joined) < countStatements(a)+countStatements(b)
	judge := func(st *stage, after string, err error, allowed ...stored) {
		docs := w.documents(st)
		switch stale := errors.Is(err, model.ErrStale) || errors.Is(err, model.ErrTaken); {
		case problem != "":
		case err != nil && stay && !(stale && oneUpdate):
			problem = fmt.Sprintf("after %s: %v", after, err)
		case !slices.ContainsFunc(allowed, docs.equal):
			problem = fmt.Sprintf("after %s (%v):\n%s", after, err, docs.diff(once))
		}
	}
	w.w.onEngine(t, func(ctx context.Context, st *stage) {
		for n := range 3 {
			switch err := w.w.run(both)(ctx, st.db); {
			case n == 0:
				once = w.documents(st)
			case stay:
				judge(st, fmt.Sprintf("run %d", n+1), err, once)
			}
		}
	})
	isRead := func(c mongotest.Command) bool { return !mongotest.Writes(c) }
	writes := slices.DeleteFunc(lastAttempts(joined.commands), isRead)
	for _, row := range sample(faultRows(writes), 2) {
		w.w.onEngine(t, func(ctx context.Context, st *stage) {
			c := FaultCase{Run: w.w.run(both), Match: mongotest.Writes}
			if c.runCut(ctx, st.t, st.b, st.db, mongotest.NewFaults(), row); !stay && !w.documents(st).equal(w.w.before) {
				return
			}
			err := w.w.run(both)(ctx, st.db)
			judge(st, row.name+" and another run", err, once)
		})
	}
	return problem
}

// countStatements returns how many statements an operation's writes have.
func countStatements(s *solo) (n int) {
	for _, c := range lastAttempts(s.commands) {
		if mongotest.Writes(c) && c.Name != "commitTransaction" {
			n += max(1, len(testserver.Statements(c.Name, c.Body)))
		}
	}
	return n
}

// meetOnServer runs f with a database of the server that has the engine's image.
func (w *way) meetOnServer(t *testing.T, f func(st *stage)) {
	b := &backend{server: testserver.FindOfTest(t)}
	b.plain = b.mustConnect(t)
	if w.tx {
		mongotest.Need(t, b.plain.Database("admin"), mongotest.Transactions)
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
