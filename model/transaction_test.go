package model_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// moving takes from one part and gives to another: a plan that needs a transaction.
func moving(n int32) model.Plan {
	return model.NewPlan(
		expectOne(updateOne(d("_id", 1, "qty", d("$gte", n)), d("$inc", d("qty", -n)))),
		parts.Update(2, d("$inc", d("qty", n))),
	)
}

func TestRunTx(t *testing.T) {
	for _, c := range []struct {
		plan   model.Plan
		want   string
		err    error
		left   []part
		reason string
	}{
		{moving(3), "applied, applied", nil, []part{{1, "a", 2}, {2, "b", 8}}, "all of it"},
		{
			plan: model.Concat(model.NewPlan(parts.Insert(part{3, "c", 0})), moving(7)),
			want: "not sent, not sent, not sent", err: model.ErrStale,
			left:   []part{{1, "a", 5}, {2, "b", 5}},
			reason: "a stale step takes back what was done before it",
		},
		{model.NewPlan(parts.Delete(1), parts.Insert(part{2, "other", 0})), "not sent, not sent", errDuplicate,
			[]part{{1, "a", 5}, {2, "b", 5}}, "so does an error of the server"},
		{model.NewPlan(parts.Delete(1), parts.Insert(part{2, "b", 5})), "applied, already", nil,
			[]part{{2, "b", 5}}, "its own document, of a run whose answer was lost"},
		{
			plan: model.NewPlan(parts.Insert(part{1, "a", 5}), parts.Insert(part{3, "c", 5}), parts.Insert(part{2, "b", 5})),
			want: "already, applied, already", err: nil,
			left:   []part{{1, "a", 5}, {2, "b", 5}, {3, "c", 5}},
			reason: "several of its own",
		},
		{model.NewPlan(parts.Insert(part{1, "a", 5}), parts.Insert(part{2, "other", 0})), "already, not sent", errDuplicate,
			[]part{{1, "a", 5}, {2, "b", 5}}, "its own, and then another's"},
		{
			plan: model.NewPlan(parts.Insert(part{2, "b", 5})), want: "already", err: nil,
			left: []part{{1, "a", 5}, {2, "b", 5}}, reason: "nothing but its own",
		},
		{model.NewPlan(parts.Update(1, d("$inc", d("qty", 1))), parts.Insert(part{2, "b", 5})), "already, already", nil,
			[]part{{1, "a", 5}, {2, "b", 5}}, "its own document, in a plan that can't be run again: all was applied"},
		{model.NewPlan(parts.Delete(1), done(insertDoc(d("_id", 2)), d("_id", 2))), "applied, already", nil,
			[]part{{2, "b", 5}}, "a condition says that it was done"},
		{model.Plan{}, "", nil, []part{{1, "a", 5}, {2, "b", 5}}, "nothing to do"},
		{refusedParts, "not sent", errBad, []part{{1, "a", 5}, {2, "b", 5}}, "bad input"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			monitor := mongotest.NewMonitor()
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				mongotest.Need(t, db, mongotest.Transactions)
				mustRun(t, db, parts.InsertMany([]part{{1, "a", 5}, {2, "b", 5}}))
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				monitor.Reset()
				got, err := c.plan.RunTx(ctx, db)
				cost := monitor.Cost()
				checkErr(t, err, c.err)
				if statuses(got) != c.want {
					t.Errorf("steps: %s, want %s", statuses(got), c.want)
				}
				if left := stock(t, db); !slices.Equal(left, c.left) {
					t.Errorf("stored %v, want %v", left, c.left)
				}
				want := c.plan.Cost().Commands + 2
				if slices.ContainsFunc(monitor.Commands(), mongotest.Named("bulkWrite")) {
					want = c.plan.CostTx().Commands + 2
				}
				if err == nil && len(c.plan.Steps) > 0 && !strings.Contains(c.want, "already") && cost.Commands != want {
					t.Errorf("%d commands, want %d (hello and commit): %v", cost.Commands, want, monitor.Commands())
				}
			}, monitor)
		})
	}
}

// TestRunTxRefusesStandalone: some servers accept a transaction and apply its writes at once.
func TestRunTxRefusesStandalone(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var hello struct{ SetName, Msg string }
		if err := db.RunCommand(t.Context(), d("hello", 1)).Decode(&hello); err != nil {
			t.Fatal(err)
		}
		called := false
		err := model.InTx(t.Context(), db, func(context.Context) error { called = true; return nil })
		if hello.SetName != "" || hello.Msg == "isdbgrid" {
			if err != nil || !called {
				t.Errorf("a server with transactions: %v, called %v", err, called)
			}
			return
		}
		if !errors.Is(err, model.ErrNoTransactions) || called {
			t.Errorf("InTx: %v, called %v", err, called)
		}
		if got, err := model.NewPlan(parts.Insert(part{ID: 1})).
			RunTx(t.Context(), db); !errors.Is(err, model.ErrNoTransactions) || statuses(got) != "not sent" {
			t.Errorf("RunTx: %s, %v", statuses(got), err)
		}
		if tx, err := model.WithTransactions(t.Context(), db); !errors.Is(err, model.ErrNoTransactions) || tx != nil {
			t.Errorf("WithTransactions: %v, %v", tx, err)
		}
		if left := stock(t, db); len(left) != 0 {
			t.Errorf("stored %v", left)
		}
	})
}

// transient reports whether the server wants the whole transaction to be run again.
func transient(err error) bool {
	var e mongo.LabeledError
	return errors.As(err, &e) && e.HasErrorLabel("TransientTransactionError")
}

// TestJoinedTransaction: a plan in a running transaction takes part in it; the owner decides.
func TestJoinedTransaction(t *testing.T) {
	give := errors.New("the owner gives up")
	for _, c := range []struct {
		run    func(model.Plan, context.Context, model.DB) (model.Result, error)
		reason string
	}{
		{model.Plan.Run, "Run runs a transactional plan in a transaction"},
		{model.Plan.RunTx, "RunTx joins"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				mongotest.Need(t, db, mongotest.Transactions)
				mustRun(t, db, parts.InsertMany([]part{{1, "a", 5}, {2, "b", 5}}))
				err := model.InTx(t.Context(), db, func(ctx context.Context) error {
					got, err := c.run(moving(3), ctx, db)
					if transient(err) {
						return err // the server asks for the whole transaction to be run again
					}
					if err != nil || statuses(got) != "applied, applied" {
						t.Errorf("%s, %v", statuses(got), err)
					}
					if seen, err := parts.ByID(1).One(ctx, db); err != nil || seen.Qty != 2 {
						t.Errorf("within: %v, %v", seen, err)
					}
					if before := stock(t, db); before[0].Qty != 5 {
						t.Errorf("seen from outside before the commit: %v", before)
					}
					// What a stale plan did before its stale step is the owner's to keep.
					got, err = c.run(model.NewPlan(parts.Update(1, d("$set", d("name", "x"))),
						parts.Update(9, d("$set", d("name", "x")))), ctx, db)
					if !errors.Is(err, model.ErrNotFound) || statuses(got) != "applied, not sent" {
						t.Errorf("%s, %v", statuses(got), err)
					}
					return nil
				})
				if left := stock(t, db); err != nil || !slices.Equal(left, []part{{1, "x", 2}, {2, "b", 8}}) {
					t.Errorf("committed %v, %v", left, err)
				}
				err = model.InTx(t.Context(), db, func(ctx context.Context) error {
					if _, err := c.run(moving(1), ctx, db); transient(err) {
						return err
					} else if err != nil {
						t.Error(err)
					}
					return give
				})
				if left := stock(t, db); !errors.Is(err, give) || left[0].Qty != 2 {
					t.Errorf("aborted: %v, %v", left, err)
				}
			})
		})
	}
}

// TestRunTxRetriesTransient: the driver finds the label of a transient error through a StepError, and runs all again.
func TestRunTxRetriesTransient(t *testing.T) {
	t.Parallel() // the driver waits after a cut
	for _, c := range []struct {
		on     string
		action mongotest.Action
		reason string
	}{
		{"update", mongotest.Fail(112, "TransientTransactionError"), "a write conflict"},
		{"update", mongotest.CutBefore(), "a lost connection"},
		{"commitTransaction", mongotest.CutAfter(), "a commit whose answer is lost is sent again"},
		{"commitTransaction", mongotest.Fail(251, "TransientTransactionError"), "a commit that fails as transient"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			faults := mongotest.NewFaults()
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				mongotest.Need(t, db, mongotest.Transactions)
				mustRun(t, db, parts.InsertMany([]part{{1, "a", 5}, {2, "b", 5}}))
				faults.Reset()
				faults.On(mongotest.Named(c.on), 1, c.action)
				got, err := moving(3).RunTx(t.Context(), db)
				if err != nil || statuses(got) != "applied, applied" {
					t.Errorf("%s, %v", statuses(got), err)
				}
				faults.Reset()
				if left := stock(t, db); !slices.Equal(left, []part{{1, "a", 2}, {2, "b", 8}}) {
					t.Errorf("stored %v", left)
				}
			}, faults)
		})
	}
}

// TestSessionWithoutTransaction: a session in the context is used for the transaction, and stays the caller's.
func TestSessionWithoutTransaction(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		session, err := db.Client().StartSession()
		if err != nil {
			t.Fatal(err)
		}
		defer session.EndSession(context.Background())
		ctx := mongo.NewSessionContext(t.Context(), session)
		if _, err := model.NewPlan(parts.Insert(part{1, "a", 5})).RunTx(ctx, db); err != nil {
			t.Fatal(err)
		}
		if _, err := parts.Insert(part{2, "b", 5}).Run(ctx, db); err != nil {
			t.Errorf("the session after the transaction: %v", err)
		}
		if n, err := parts.Find(bson.D{}).Count(ctx, db); n != 2 || err != nil {
			t.Errorf("count %d, %v", n, err)
		}
	})
}
