package model_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// longLease doesn't run out while a test runs.
var longLease = &model.Lease{Collection: "locks", ID: "tree", For: time.Minute}

// A writer that dies at any of its writes is finished by the next one, or has done nothing: both documents say the
// same, nobody holds the lease, and no intent is left. The next one may be a transaction, where the server has them.
func TestLeaseFaults(t *testing.T) {
	t.Run("plain", func(t *testing.T) {
		leaseFaults(t, func(_ context.Context, db model.DB) (model.DB, error) { return db, nil })
	})
	t.Run("next in a transaction", func(t *testing.T) {
		leaseFaults(t, func(ctx context.Context, db model.DB) (model.DB, error) {
			tx, err := model.WithTransactions(ctx, db)
			if errors.Is(err, model.ErrNoTransactions) {
				return db, nil
			}
			return tx, err
		})
	})
}

func leaseFaults(t *testing.T, next func(context.Context, model.DB) (model.DB, error)) {
	settled := func(ctx context.Context, db *mongo.Database) (bool, error) {
		n, err := docsAny.Find(d("n", int64(1))).Count(ctx, db)
		left, err2 := docsAny.Named("locks").
			Find(d("$or", bson.A{d("intent", d("$exists", true)), d("holder", d("$exists", true))})).Count(ctx, db)
		return n == 2 && left == 0, errors.Join(err, err2)
	}
	raise := func(ctx context.Context, db *mongo.Database, by model.DB) error {
		if done, err := settled(ctx, db); done || err != nil {
			return err // as one who knows what it wants
		}
		c := pairOf(longLease)
		decide := c.Decide
		c.Decide = func(n int64) (model.Plan, error) {
			if n == 1 {
				return model.Plan{}, nil
			}
			return decide(n)
		}
		_, _, err := c.Run(ctx, by)
		return err
	}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Sample: 4, Run: func(ctx context.Context, db *mongo.Database) error { return raise(ctx, db, db) },
		// the next one, when the time of a dead one's lease has passed
		Repair: func(ctx context.Context, db *mongo.Database) error {
			_, err := db.Collection("locks").
				UpdateOne(ctx, d("_id", "tree", "holder", d("$exists", true)), d("$set", d("until", time.Unix(0, 0))))
			if err != nil {
				return err
			}
			by, err := next(ctx, db)
			if err != nil {
				return err
			}
			return raise(ctx, db, by)
		},
		Check: func(t testing.TB, db *mongo.Database) {
			if done, err := settled(context.Background(), db); !done || err != nil {
				all, _ := docsAny.Find(nil).All(context.Background(), db)
				locks, _ := docsAny.Named("locks").Find(nil).All(context.Background(), db)
				t.Errorf("%v under %v, %v", all, locks, err)
			}
		},
	})
}

// The lease's price: two commands for each change, one more for the intent, two more for the first change of all.
func TestLeaseCosts(t *testing.T) {
	const read, plan = 1, 1 // commands of the change itself
	change := func(decide func(int64) (model.Plan, error)) model.ChangeOf[int64] {
		c := pairOf(longLease)
		if decide != nil {
			c.Decide = decide
		}
		return c
	}
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			reason string
			want   model.Cost
			change model.ChangeOf[int64]
		}{
			{
				reason: "the first of all",
				want:   model.Cost{Commands: 2 + 1 + 2 + read + plan, Written: 1 + 1 + 1 + 2 + 1, Returned: 1},
				change: change(nil),
			},
			{"with an intent", model.Cost{Commands: 2 + 1 + read + plan, Written: 1 + 1 + 2 + 1, Returned: 1 + 1}, change(nil)},
			{
				reason: "of one document",
				want:   model.Cost{Commands: 2 + 1 + read + plan, Written: 1 + 1 + 1 + 1, Returned: 1 + 1},
				change: change(func(int64) (model.Plan, error) {
					return model.NewPlan(model.Write{
						Collection: "pairs",
						Model:      updateOne(d("_id", 1), d("$set", d("x", 1))).Model,
					}), nil
				}),
			},
			{
				reason: "of nothing",
				want:   model.Cost{Commands: 2 + read, Written: 1 + 1, Returned: 1 + 1},
				change: change(func(int64) (model.Plan, error) { return model.Plan{}, nil }),
			},
		} {
			t.Run(c.reason, func(t *testing.T) {
				modeltest.WantCost(t, m, c.want, func() error { _, _, err := c.change.Run(t.Context(), db); return err })
			})
		}
		mends := change(nil)
		mends.Mends = true
		t.Run("that mends stores no intent", func(t *testing.T) {
			modeltest.WantCost(t, m, model.Cost{Commands: 2 + read + plan, Written: 1 + 2 + 1, Returned: 1 + 1}, func() error {
				_, _, err := mends.Run(t.Context(), db)
				return err
			})
		})
		t.Run("a settled read", func(t *testing.T) {
			modeltest.WantCost(t, m, model.Cost{Commands: 2 + read, Returned: 1 + 2 + 1}, func() error {
				return longLease.Settled(t.Context(), db, func(ctx context.Context) error {
					_, err := docsAny.Find(nil).All(ctx, db)
					return err
				})
			})
		})
		t.Run("forgetting", func(t *testing.T) {
			modeltest.WantCost(t, m, model.Cost{Commands: 1, Written: 1}, func() error {
				return longLease.Forget(t.Context(), db)
			})
		})
	}, m)
}

// A writer whose command was interrupted on the server leaves its intent: the next one finishes what was applied in
// part.
func TestLeaseInterrupted(t *testing.T) {
	faults := mongotest.NewFaults()
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		for _, code := range interruptions {
			faults.Reset()
			ctx := context.Background()
			lease := &model.Lease{Collection: "locks", ID: fmt.Sprint("house", code), For: time.Minute}
			ids := []any{fmt.Sprint("a", code), fmt.Sprint("b", code), fmt.Sprint("c", code)}
			change := model.ChangeOf[int64]{
				Lease: lease, Attempts: 1,
				Read: func(ctx context.Context, db model.DB) (int64, error) { return model.Fence(ctx), nil },
				Decide: func(int64) (model.Plan, error) {
					return model.NewPlan(insertDoc(d("_id", ids[0])), insertDoc(d("_id", ids[1])), insertDoc(d("_id", ids[2]))), nil
				},
			}
			faults.On(mongotest.Both(mongotest.Writes, mongotest.On("parts")), 1, mongotest.FailInside(2, code))
			var server mongo.ServerError
			if _, _, err := change.Run(ctx, db); !errors.As(err, &server) || !server.HasErrorCode(int(code)) {
				t.Fatalf("%d: %v", code, err)
			}
			faults.Reset()
			aged, err := db.Collection("locks").
				UpdateOne(ctx, d("_id", lease.ID), d("$set", d("until", time.Now().Add(-time.Second))))
			if err != nil || aged.MatchedCount != 1 {
				t.Fatalf("%d: %d leases, %v", code, aged.MatchedCount, err)
			}
			next := change
			next.Decide = func(int64) (model.Plan, error) { return model.Plan{}, nil }
			if _, _, err := next.Run(ctx, db); err != nil {
				t.Fatal(err)
			}
			n, err := db.Collection("parts").CountDocuments(ctx, d("_id", d("$in", bson.A(ids))))
			if err != nil || n != 3 {
				t.Errorf("%d: %d of 3 documents, %v", code, n, err)
			}
		}
	}, noRetries(), faults)
}
