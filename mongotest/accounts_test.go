package mongotest_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/mongotest"
)

func TestTransfer(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		ctx, accounts := t.Context(), Accounts{db}
		err := mongotest.Load(ctx, db, `{"accounts": [
			{"_id": "ann", "balance": {"$numberInt": "10"}},
			{"_id": "bob", "balance": {"$numberInt": "0"}}
		]}`)
		if err != nil {
			t.Fatal(err)
		}
		if err := accounts.Transfer(ctx, "ann", "bob", 7); err != nil {
			t.Fatal(err)
		}
		if err := accounts.Transfer(ctx, "ann", "bob", 7); !errors.Is(err, ErrFunds) {
			t.Errorf("got %v, want %v", err, ErrFunds)
		}
		bob, err := db.Collection("accounts").FindOne(ctx, bson.D{{Key: "_id", Value: "bob"}}).Raw()
		if diff := mongotest.Diff(bson.D{{Key: "_id", Value: "bob"}, {Key: "balance", Value: 7}}, bob); diff != "" {
			t.Error(err, diff)
		}
	})
}
