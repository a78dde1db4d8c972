package modeltest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A model's plan says that a standalone server has no transactions.
func TestStandaloneRunTx(t *testing.T) {
	db := mongotest.NewClient(t, mongotest.WithoutTransactions()).Database("x")
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
