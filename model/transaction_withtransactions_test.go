// These tests run plans and changes on the database of WithTransactions.

package model_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// withTransactions is the database with transactions; it leaves the test out where the server has none.
func withTransactions(t *testing.T, db *mongo.Database) model.DB {
	t.Helper()
	mongotest.Need(t, db, mongotest.Transactions)
	tx, err := model.WithTransactions(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// sentBy are the commands that a run sends.
func sentBy(m *mongotest.Monitor) (out []string) {
	for _, c := range m.Commands() {
		out = append(out, c.Name)
	}
	return out
}

// TestWithTransactions: a plan is all applied or not at all, a single write is no transaction, and the server is asked
// once.
func TestWithTransactions(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		tx := withTransactions(t, db)
		ctx := t.Context()
		mustRun(t, db, parts.InsertMany([]part{{1, "a", 5}, {2, "b", 5}}))
		for _, c := range []struct {
			reason string
			plan   model.Plan
			sent   []string
			err    error
			left   []part
		}{
			{
				reason: "a plan that needs a transaction", plan: moving(3), sent: []string{"bulkWrite", "commitTransaction"},
				err: nil, left: []part{{1, "a", 2}, {2, "b", 8}},
			},
			{
				reason: "one that meets a stale step", plan: moving(3),
				sent: []string{"bulkWrite", "find", "abortTransaction"},
				err:  model.ErrStale, left: []part{{1, "a", 2}, {2, "b", 8}},
			},
			{
				reason: "one write",
				plan:   model.NewPlan(parts.Update(1, d("$inc", d("qty", 1)))),
				sent:   []string{"update"}, err: nil, left: []part{{1, "a", 3}, {2, "b", 8}},
			},
			{"nothing", model.Plan{}, nil, nil, []part{{1, "a", 3}, {2, "b", 8}}},
		} {
			monitor.Reset()
			_, err := c.plan.Run(ctx, tx)
			if checkErr(t, err, c.err); !slices.Equal(slices.Compact(sentBy(monitor)), c.sent) {
				t.Errorf("%s sends %v, want %v", c.reason, sentBy(monitor), c.sent)
			}
			if left := stock(t, db); !slices.Equal(left, c.left) {
				t.Errorf("%s leaves %v, want %v", c.reason, left, c.left)
			}
		}
	}, monitor)
}

// TestWithTransactionsTells: what is in the way of an insert is told by the same error as without a transaction.
func TestWithTransactionsTells(t *testing.T) {
	taken := errors.New("taken")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		tx := withTransactions(t, db)
		mustRun(t, db, model.NewPlan(parts.Insert(part{1, "a", 5})))
		insert := parts.Insert(part{1, "other", 0})
		insert.Reasons = []model.Reason{{If: d("_id", 1), Err: taken}}
		plan := model.NewPlan(parts.Insert(part{2, "b", 0}), insert)
		_, err := plan.Run(t.Context(), tx)
		var step *model.StepError
		if !errors.Is(err, taken) || !errors.As(err, &step) || step.Step != 1 {
			t.Errorf("a plan: %v", err)
		}
		own := parts.Insert(part{1, "a", 5})
		own.Reasons = insert.Reasons
		if _, err := model.NewPlan(parts.Insert(part{3, "c", 0}), own).Run(t.Context(), tx); err != nil {
			t.Errorf("an equal document: %v", err)
		}
		change := model.ChangeOf[int]{
			Read:   func(context.Context, model.DB) (int, error) { return 0, nil },
			Decide: func(int) (model.Plan, error) { return plan, nil },
		}
		if _, _, err := change.Run(t.Context(), tx); !errors.Is(err, taken) {
			t.Errorf("a change: %v", err)
		}
		if left := stock(t, db); !slices.Equal(left, []part{{1, "a", 5}, {3, "c", 0}}) {
			t.Errorf("left %v", left)
		}
	})
}

// TestWithTransactionsCut: whichever command is cut, all of a plan is stored, or nothing.
func TestWithTransactionsCut(t *testing.T) {
	faults := mongotest.NewFaults()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		withTransactions(t, db)
		whole := 0
		for n := 1; n <= 3; n++ {
			for name, cut := range map[string]mongotest.Action{"before": mongotest.CutBefore(), "after": mongotest.CutAfter()} {
				faults.Reset()
				mustRun(t, db, updateManyPlan(t, db))
				tx, err := model.WithTransactions(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				faults.On(mongotest.All, n, cut)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				_, err = moving(3).Run(ctx, tx)
				cancel()
				faults.Reset()
				left := stock(t, db)
				if all := slices.Equal(left, []part{{1, "a", 2}, {2, "b", 8}}); all {
					whole++
				} else if !slices.Equal(left, []part{{1, "a", 5}, {2, "b", 5}}) {
					t.Errorf("cut %s command %d: %v, %v", name, n, left, err)
				}
			}
		}
		if whole == 0 {
			t.Error("no plan was applied")
		}
	}, faults)
}

// updateManyPlan stores two parts anew.
func updateManyPlan(t *testing.T, db *mongo.Database) model.Plan {
	t.Helper()
	if _, err := db.Collection("parts").DeleteMany(t.Context(), d()); err != nil {
		t.Fatal(err)
	}
	return parts.InsertMany([]part{{1, "a", 5}, {2, "b", 5}})
}

// TestWithTransactionsRetries: a change that meets another writer reads again, in a new transaction.
func TestWithTransactionsRetries(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		tx := withTransactions(t, db)
		mustRun(t, db, model.NewPlan(parts.Insert(part{1, "a", 5})))
		change, reads := addOne(100), 0
		read := change.Read
		change.Read = func(ctx context.Context, db model.DB) (part, error) {
			p, err := read(ctx, db)
			if reads++; reads == 1 {
				p.Qty-- // what another writer had changed
			}
			return p, err
		}
		if _, _, err := change.Run(t.Context(), tx); err != nil || reads != 2 {
			t.Errorf("%d reads, %v", reads, err)
		}
		if left := stock(t, db); !slices.Equal(left, []part{{1, "a", 6}}) {
			t.Errorf("left %v", left)
		}
	})
}

// TestWithTransactionsSpares: a job, and a change under a lease that mends, run as without transactions; under a scope
// both hold.
func TestWithTransactionsSpares(t *testing.T) {
	tenancy.Differs(t, "it has a scope of its own")
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		ctx := t.Context()
		if err := db.CreateCollection(ctx, "parts"); err != nil {
			t.Fatal(err)
		}
		base := asked(t, db, "parts")
		tx, err := model.WithTransactions(ctx, base)
		if err != nil {
			t.Fatal(err)
		}
		within, err := model.WithTransactions(ctx, tenantOf("a").On(base))
		if err != nil {
			t.Fatal(err)
		}
		for name, own := range map[string]model.DB{
			"a scope on transactions": tenantOf("a").On(tx), "transactions within a scope": within,
		} {
			if _, err := db.Collection("parts").DeleteMany(ctx, d()); err != nil {
				t.Fatal(err)
			}
			monitor.Reset()
			mustRun(t, own, parts.InsertMany([]part{{1, "a", 5}, {2, "b", 5}}))
			if !slices.Equal(sentBy(monitor), []string{"insert", "commitTransaction"}) {
				t.Errorf("%s: %v", name, sentBy(monitor))
			}
			if n, err := parts.Find(nil).Count(ctx, tenantOf("b").On(db)); n != 0 || err != nil {
				t.Errorf("%s: another tenant sees %d, %v", name, n, err)
			}
			job := model.Job{Name: "each", Stages: []model.Stage{{Collection: "parts", Plan: planOfTwo}}}
			leased := model.ChangeOf[int]{
				Mends: true,
				Lease: &model.Lease{Collection: "locks", ID: "parts"},
				Read:  func(context.Context, model.DB) (int, error) { return 0, nil },

				Decide: func(int) (model.Plan, error) { return planOfTwo(nil) },
			}
			monitor.Reset()
			if _, err := job.Run(ctx, own, model.JobOptions{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, _, err := leased.Run(ctx, own); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if slices.Contains(sentBy(monitor), "commitTransaction") {
				t.Errorf("%s: a job or a change that mends runs in a transaction: %v", name, sentBy(monitor))
			}
		}
	}, monitor)
}

// TestDatabasesCombine: an observer, a scope, a model and transactions hold together, in whichever order they are put
// on a database.
func TestDatabasesCombine(t *testing.T) {
	tenancy.Differs(t, "it has a scope of its own")
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		withTransactions(t, db)
		told := 0
		observer := model.Observer{End: func(context.Context, model.Operation) { told++ }}
		shop := model.New("shop", model.Entity(parts))
		layers := []func(model.DB) model.DB{observer.On, tenantOf("a").On, shop.On, func(db model.DB) model.DB {
			tx, err := model.WithTransactions(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			return tx
		}}
		for first := range layers {
			for _, step := range []int{1, 3} {
				var own model.DB = db
				for i := range layers {
					own = layers[(first+i*step)%len(layers)](own)
				}
				if _, err := db.Collection("parts").DeleteMany(t.Context(), d()); err != nil {
					t.Fatal(err)
				}
				monitor.Reset()
				told = 0
				mustRun(t, own, parts.InsertMany([]part{{1, "a", 5}, {2, "b", 5}}))
				if sent := sentBy(monitor); told == 0 || !slices.Contains(sent, "commitTransaction") {
					t.Errorf("from %d by %d: told %d times, sent %v", first, step, told, sent)
				}
				if n, err := db.Collection("parts").CountDocuments(t.Context(), d("tenant", "a")); n != 2 || err != nil {
					t.Errorf("from %d by %d: %d documents are the tenant's, %v", first, step, n, err)
				}
				var conflict *model.ConflictError
				if _, err := parts.Named("others").Find(nil).All(t.Context(), own); !errors.As(err, &conflict) {
					t.Errorf("from %d by %d: another collection: %v", first, step, err)
				}
			}
		}
	}, monitor)
}

// planOfTwo is a plan of two writes that can be run again.
func planOfTwo([]bson.Raw) (model.Plan, error) {
	set := d("$set", d("qty", 9))
	return model.NewPlan(once(updateOne(d("_id", 1), set)), once(updateOne(d("_id", 2), set))), nil
}
