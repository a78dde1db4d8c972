package mongotest_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/mongotest"
)

// Accounts is a repository written with the driver alone.
type Accounts struct{ client *mongo.Client }

var ErrFunds = errors.New("not enough money")

func (a Accounts) collection() *mongo.Collection {
	return a.client.Database("bank").Collection("accounts")
}

// Transfer moves money, or returns ErrFunds and moves nothing.
func (a Accounts) Transfer(ctx context.Context, from, to string, amount int) error {
	session, err := a.client.StartSession()
	if err != nil {
		return err
	}
	defer session.EndSession(ctx)
	_, err = session.WithTransaction(ctx, func(ctx context.Context) (any, error) {
		if _, err := a.collection().UpdateByID(ctx, to, add(amount)); err != nil {
			return nil, err
		}
		r, err := a.collection().UpdateOne(ctx, bson.D{{Key: "_id", Value: from},
			{Key: "balance", Value: bson.D{{Key: "$gte", Value: amount}}}}, add(-amount))
		if err == nil && r.MatchedCount == 0 {
			err = ErrFunds
		}
		return nil, err
	})
	return err
}

func add(amount int) bson.D {
	return bson.D{{Key: "$inc", Value: bson.D{{Key: "balance", Value: amount}}}}
}

// A repository that knows nothing of this library is tested on an engine of its own: no server, no container, no mock. What is
// in the database before and after is text. In a test, the client comes from mongotest.NewClient(t), which also closes it.
func Example_repository() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, accounts := context.Background(), Accounts{client}
	err := mongotest.Load(ctx, client.Database("bank"), `{"accounts": [
		{"_id": "ann", "balance": {"$numberInt": "10"}},
		{"_id": "bob", "balance": {"$numberInt": "0"}}
	]}`)
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(accounts.Transfer(ctx, "ann", "bob", 7))
	fmt.Println(accounts.Transfer(ctx, "ann", "bob", 7)) // bob's share is taken back with the transaction
	dump, err := mongotest.Dump(ctx, client.Database("bank"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(dump)
	// Output:
	// <nil>
	// not enough money
	// {
	// "accounts": [
	//   {"_id":"ann","balance":{"$numberInt":"3"}},
	//   {"_id":"bob","balance":{"$numberInt":"7"}}
	// ]
	// }
}
