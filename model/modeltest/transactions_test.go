package modeltest_test

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// A model's plan says that a standalone server has no transactions.
func TestStandaloneRunTx(t *testing.T) {
	db := mongotest.NewClient(t, mongotest.Settings{Standalone: true}).Database("x")
	things := model.NewCollection[bson.D, int]("things")
	plan := things.InsertMany([]bson.D{{{Key: "_id", Value: 1}}})
	if _, err := plan.RunTx(t.Context(), db); !errors.Is(err, model.ErrNoTransactions) {
		t.Errorf("RunTx: %v", err)
	}
}

// renameWith renames a part as a program does that uses transactions where the server has them.
func renameWith(t testing.TB, n int) func(context.Context, *mongo.Database) error {
	return func(ctx context.Context, database *mongo.Database) error {
		db, err := model.WithTransactions(ctx, database)
		if !errors.Is(err, model.ErrNoTransactions) {
			t.Errorf("the server has transactions: %v", err)
			return err
		}
		if db == nil {
			db = database
		}
		_, err = model.NewPlan(writeTo(mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: 1}}).
			SetUpdate(set(n)))).Run(ctx, db)
		return err
	}
}

// Cases can run on an engine without transactions, to test what a program does there.
func TestStandaloneCases(t *testing.T) {
	is := func(t testing.TB, db *mongo.Database) {
		if n := count(t, db, bson.D{{Key: "n", Value: 7}}); n != 1 {
			t.Errorf("%d parts are 7", n)
		}
	}
	t.Run("matrix", func(t *testing.T) {
		modeltest.FaultMatrix(t, modeltest.FaultCase{Seed: seedOne, Run: renameWith(t, 7), Check: is, Standalone: true})
	})
	t.Run("orders", func(t *testing.T) {
		modeltest.Interleave(t, modeltest.InterleaveCase{
			Seed: seedOne, A: renameWith(t, 7), B: renameWith(t, 7), Standalone: true,
			Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
				if err := errors.Join(errA, errB); err != nil {
					t.Error(err)
				}
				is(t, db)
			},
		})
	})
	t.Run("both", func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		modeltest.Interleave(t, modeltest.InterleaveCase{
			A: renameWith(t, 7), B: renameWith(t, 7), Transactions: true, Standalone: true,

			Check: func(testing.TB, *mongo.Database, error, error) {},
		})
	})
}

// An older server has no bulkWrite: a plan in a transaction sends one command for each collection.
func TestPlansByVersion(t *testing.T) {
	plan := model.NewPlan()
	for _, name := range []string{"a", "b"} {
		plan.Steps = append(plan.Steps,
			model.NewCollection[bson.D, int32](name).Insert(bson.D{{Key: "_id", Value: int32(1)}}))
	}
	for version, commands := range map[string]int{"5.0": 3, "6.0": 3, "7.0": 3, "8.0": 2} {
		monitor := mongotest.NewMonitor()
		client := mongotest.NewClient(t, mongotest.Settings{Version: version}, monitor)
		db, err := model.WithTransactions(t.Context(), client.Database("x"))
		if err != nil {
			t.Fatal(err)
		}
		monitor.Reset()
		if _, err := plan.RunTx(t.Context(), db); err != nil {
			t.Error(err)
		}
		if sent := monitor.Commands(); len(sent) != commands {
			t.Errorf("%s: sent %v", version, sent)
		}
	}
}
