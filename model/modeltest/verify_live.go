package modeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/verify"
	"github.com/docmodel/docmodel/model"
)

// Live runs on the engine.
func (w two) Live(t *testing.T, o verify.Operation, life []verify.Operation) (out verify.Lifetime) {
	op := VerifyOperation{Name: o.Name, Run: o.Run}
	whole := runEach(life)
	w.w.onEngine(t, func(_ context.Context, st *stage) {
		var allowed []outcome
		for i := range len(life) + 1 {
			before, after := runEach(life[:i]), runEach(life[i:])
			st.again()
			errBefore := st.run(before)(st.ctx, st.db)
			errOp := st.run(op)(st.ctx, st.db)
			o := st.judgeLife(errOp, errors.Join(errBefore, st.run(after)(st.ctx, st.db)))
			allowed, out.InTurn = append(allowed, o), append(out.InTurn, w.shown(o))
		}
		st.again()
		without := st.judgeLife(nil, st.run(whole)(st.ctx, st.db))
		out.Without = w.shown(without)
		c := InterleaveCase{A: w.w.run(op), B: w.w.run(whole), Match: commands, Nested: true, Max: 5000}
		c.judge = func(_ testing.TB, _ *mongo.Database, errOp, errLife error, story func() string) {
			o := st.judgeLife(errOp, errLife)
			shown := w.shown(o)
			like := func(a outcome) bool { return a.docs.equal(o.docs) && (a.errs[0] == nil || errOp != nil) }
			// all of it
			lived := errLife == nil || slices.ContainsFunc(allowed, func(a outcome) bool { return a.errs[1] != nil })
			if lived && !slices.ContainsFunc(allowed, like) && (errOp == nil || !o.docs.equal(without.docs)) {
				shown.Odd = o.unlike(allowed, without)
			}
			shown.Order = story()
			out.Together = append(out.Together, shown)
		}
		c.orders(st.t, func(s schedule) schedule { return st.play(&c, s) })
	})
	return out
}

// runEach is an operation that runs all of a list, whatever errors they return, and returns these.
func runEach(list []verify.Operation) VerifyOperation {
	return VerifyOperation{Name: "life", Run: func(ctx context.Context, db model.DB) error {
		var errs []error
		for _, o := range list {
			errs = append(errs, o.Run(ctx, db))
		}
		return errors.Join(errs...)
	}}
}

// judgeLife is the outcome of an operation and a life. What a check dates by the second of a token is over by then.
func (s *stage) judgeLife(errOp, errLife error) outcome {
	time.Sleep(2 * time.Second) // takes no time on the engine
	o, err := s.outcome(errOp, errLife)
	if err != nil {
		s.t.Fatal(err)
	}
	return o
}

// unlike lists how the documents differ from each of the allowed outcomes.
func (o outcome) unlike(allowed []outcome, without outcome) string {
	var b strings.Builder
	for i, a := range allowed {
		fmt.Fprintf(&b, "after the operation as number %d of the life (%v):\n%s\n", i, a.errs[0], o.docs.diff(a.docs))
	}
	fmt.Fprintf(&b, "without the operation:\n%s", o.docs.diff(without.docs))
	return b.String()
}
