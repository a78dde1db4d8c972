package mongotest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A standalone server refuses transactions and change streams. Other writes work, without the
// driver's retries.
func TestWithoutTransactions(t *testing.T) {
	ctx := t.Context()
	client := mongotest.NewClient(t, mongotest.WithoutTransactions())
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
	mongotest.NewClient(t, mongotest.WithoutTransactions(), mongotest.WithShards(mongotest.NewShards(2)))
}
