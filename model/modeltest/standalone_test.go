package modeltest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A standalone server refuses transactions and change streams. Other writes work, without the
// driver's retries.
func TestWithoutTransactions(t *testing.T) {
	ctx := t.Context()
	client := modeltest.NewClient(t, modeltest.WithoutTransactions())
	db := client.Database("x")
	if _, err := db.Collection("a").InsertOne(ctx, bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	code := func(err error) int32 {
		var c mongo.CommandError
		errors.As(err, &c)
		return c.Code
	}
	err := client.UseSession(ctx, func(ctx context.Context) error {
		s := mongo.SessionFromContext(ctx)
		if err := s.StartTransaction(); err != nil {
			return err
		}
		_, err := db.Collection("a").InsertOne(ctx, bson.D{{Key: "_id", Value: 2}})
		return err
	})
	if code(err) != 20 {
		t.Errorf("a transaction: %v", err)
	}
	if _, err := db.Collection("a").Watch(ctx, mongo.Pipeline{}); code(err) != 40573 {
		t.Errorf("a change stream: %v", err)
	}
	things := model.NewCollection[bson.D, int]("things")
	if _, err := things.InsertMany([]bson.D{{{Key: "_id", Value: 1}}}).RunTx(ctx, db); !errors.Is(err, model.ErrNoTransactions) {
		t.Errorf("RunTx: %v", err)
	}
	if n, err := db.Collection("a").CountDocuments(ctx, bson.D{}); err != nil || n != 1 {
		t.Errorf("%d documents, %v", n, err)
	}
}

func TestWithoutTransactionsOnShards(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	modeltest.NewClient(t, modeltest.WithoutTransactions(), modeltest.WithShards(modeltest.NewShards(2)))
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
		_, err = model.NewPlan(writeTo(mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: 1}}).SetUpdate(set(n)))).Run(ctx, db)
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
		modeltest.Interleave(t, modeltest.InterleaveCase{A: renameWith(t, 7), B: renameWith(t, 7), Transactions: true, Standalone: true,
			Check: func(testing.TB, *mongo.Database, error, error) {}})
	})
}
