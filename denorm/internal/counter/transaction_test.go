package counter_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// bothWays runs a test without transactions, and with them. db is the database past them.
func bothWays(t *testing.T, f func(t *testing.T, db *mongo.Database, way model.DB)) {
	t.Run("plain", func(t *testing.T) {
		modeltest.Each(t, func(t *testing.T, db *mongo.Database) { f(t, db, db) })
	})
	t.Run("in transactions", func(t *testing.T) {
		modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
			modeltest.NeedTransactions(t, db)
			f(t, db, transacting(t, db))
		})
	})
}

func transacting(t testing.TB, db *mongo.Database) model.DB {
	t.Helper()
	tx, err := model.WithTransactions(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// waysOf are the database without transactions, and with them if the server has any.
func waysOf(t testing.TB, db *mongo.Database) []model.DB {
	t.Helper()
	tx, err := model.WithTransactions(context.Background(), db)
	if errors.Is(err, model.ErrNoTransactions) {
		return []model.DB{db}
	} else if err != nil {
		t.Fatal(err)
	}
	return []model.DB{db, tx}
}

// What each operation costs in a transaction. The commit is one command more, and for the test so is the hello.
func TestCounterCostsInTransactions(t *testing.T) {
	parallel(t)
	cost := func(commands, written, returned int) model.Cost {
		return model.Cost{Commands: commands + 2, Written: written, Returned: returned}
	}
	tests := []struct {
		reason string
		change model.Change[any]
		want   model.Cost
	}{
		{"Insert", counted.Insert(volumeOf("9", "a", 1), token(1)), cost(1, 2, 0)},
		{"Insert of what names no parent", counted.Insert(volumeOf("9", "", 1), token(1)), cost(1, 1, 0)},
		{"Set of a number", counted.Set("1", bson.D{e("pages", 2)}, token(1)), cost(2, 2, 1)},
		{"Set of the greatest", ranged.Set("2", bson.D{e("pages", 50)}, token(1)), cost(7, 3, 4)}, // it is run again, and a write of the first run is counted too
		{"Set of a new greatest", ranged.Set("2", bson.D{e("pages", 500)}, token(1)), cost(2, 2, 1)},
		{"Set of another field", counted.Set("1", bson.D{e("title", "T")}, token(1)), cost(2, 2, 1)},
		{"Move", counted.Move("1", "b", token(1)), cost(2, 3, 1)},
		{"Delete", counted.Delete("1", token(1)), cost(2, 2, 1)},
		{"Delete of what isn't there", counted.Delete("9", token(1)), cost(1, 0, 0)},
	}
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		modeltest.NeedTransactions(t, db)
		for _, test := range tests {
			t.Run(test.reason, func(t *testing.T) {
				seed(t, db, docs{"volumes": nil, "houses": nil})
				if err := seedHouses(t.Context(), db, volumeOf("1", "a", 100), volumeOf("2", "a", 300)); err != nil {
					t.Fatal(err)
				}
				modeltest.WantCost(t, m, test.want, func() error { return counterRun(t.Context(), transacting(t, db), test.change) })
			})
		}
	}, modeltest.WithMonitor(m))
}

// In a transaction, what was hoped for is looked at when it isn't so: the parent is there, and doesn't know the operation.
func TestCounterHopesInVain(t *testing.T) {
	parallel(t)
	cut := func(ctx context.Context, db *mongo.Database, change model.Change[any], steps int) error {
		s, err := change.Read(ctx, db)
		if err != nil {
			return err
		}
		plan, err := change.Decide(s)
		plan.Steps = plan.Steps[:steps]
		return errors.Join(err, exec(ctx, db, plan))
	}
	move, insert := counted.Move("1", "b", token(1)), counted.Insert(volumeOf("3", "a", 1), token(1))
	for _, test := range []struct {
		reason string
		before func(ctx context.Context, db *mongo.Database) error
		change model.Change[any]
		want   map[string]int64
	}{
		{"a move from no such parent", func(ctx context.Context, db *mongo.Database) error {
			return exec(ctx, db, model.NewPlan(volumes.Insert(volumeOf("3", "c", 1))))
		}, counted.Move("3", "b", token(1)), map[string]int64{"a": 2, "b": 1}},
		{"an insert that was cut without a transaction", func(ctx context.Context, db *mongo.Database) error {
			return cut(ctx, db, insert, 1)
		}, insert, map[string]int64{"a": 3, "b": 0}},
		{"done without a transaction", func(ctx context.Context, db *mongo.Database) error { return counterRun(ctx, db, move) }, move,
			map[string]int64{"a": 1, "b": 1}},
		{"cut without a transaction, before the parents", func(ctx context.Context, db *mongo.Database) error { return cut(ctx, db, move, 1) },
			move, map[string]int64{"a": 1, "b": 1}},
		{"cut without a transaction, after a parent", func(ctx context.Context, db *mongo.Database) error { return cut(ctx, db, move, 2) },
			move, map[string]int64{"a": 1, "b": 1}},
		{"another's that was cut", func(ctx context.Context, db *mongo.Database) error { return cut(ctx, db, move, 2) },
			counted.Delete("1", token(2)), map[string]int64{"a": 1, "b": 0}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
				modeltest.NeedTransactions(t, db)
				if err := seedHouses(t.Context(), db, volumeOf("1", "a", 100), volumeOf("2", "a", 300)); err != nil {
					t.Fatal(err)
				}
				if test.before != nil {
					if err := test.before(t.Context(), db); err != nil {
						t.Fatal(err)
					}
				}
				mustCount(t, transacting(t, db), test.change)
				if err := counterRun(t.Context(), transacting(t, db), test.change); err != nil && !errors.Is(err, model.ErrTaken) {
					t.Error("run again:", err)
				}
				wantAgreed(t, db, counted)
				wantVolumes(t, db, test.want)
			})
		})
	}
}

func wantVolumes(t *testing.T, db *mongo.Database, want map[string]int64) {
	t.Helper()
	for id, n := range want {
		if h, err := houses.ByID(id).One(t.Context(), db); err != nil || h.Volumes != n {
			t.Errorf("%s has %d, %v; want %d", id, h.Volumes, err, n)
		}
	}
}

// A caller who takes the error of an operation for an answer doesn't keep half of it.
func TestCounterHopesSwallowed(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		modeltest.NeedTransactions(t, db)
		if err := errors.Join(seedHouses(t.Context(), db), exec(t.Context(), db, model.NewPlan(volumes.Insert(volumeOf("1", "c", 100))))); err != nil {
			t.Fatal(err)
		}
		calls := 0
		err := model.InTx(t.Context(), db, func(ctx context.Context) error {
			calls++
			errMove := counterRun(ctx, db, counted.Move("1", "b", token(1))) // from a parent that isn't there
			if (errMove != nil) != (calls == 1) {
				t.Errorf("call %d: %v", calls, errMove)
			}
			return nil
		})
		if err != nil || calls != 2 {
			t.Errorf("after %d calls: %v", calls, err)
		}
		wantAgreed(t, db, counted)
		wantVolumes(t, db, map[string]int64{"a": 0, "b": 1})
	})
}

// An operation in a transaction, and any other one, in a transaction or not: the numbers are exact, in every order.
func TestCounterInterleavedTransactions(t *testing.T) {
	parallel(t)
	for quick, c := range []struct {
		name    string
		counter *volumeCounter
	}{{"counted", counted}, {"ranged", ranged}} {
		ops, transacting := counterOps(c.counter), changesOf(c.counter, model.WithTransactions)
		for i, a := range transacting {
			for j, b := range ops {
				for k, both := range []bool{false, true} {
					if both && (j < i || j >= len(transacting)) || !everyPair && (i+j+k+quick)%5 > 0 {
						continue
					}
					with := "beside"
					if both {
						with, b = "and", transacting[j]
					}
					t.Run(fmt.Sprintf("%s %s in a transaction %s %s", c.name, a.Name, with, b.Name), func(t *testing.T) {
						if os.Getenv(modeltest.EnvURI) == "" {
							t.Parallel()
						}
						meet := counterMeeting(c.counter, a, b, modeltest.Writes)
						meet.Transactions, meet.Nested = true, true // whole orders are those of the operations without transactions
						modeltest.Interleave(t, meet)
					})
				}
			}
		}
	}
}
