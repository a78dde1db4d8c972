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
type Accounts struct{ db *mongo.Database }

// ErrFunds says that an account has too little money.
var ErrFunds = errors.New("not enough money")

// Transfer moves money in a transaction. It returns ErrFunds and moves nothing if the first
// account has too little.
func (a Accounts) Transfer(ctx context.Context, from, to string, amount int) error {
	accounts := a.db.Collection("accounts")
	add := func(n int) bson.D { return bson.D{{Key: "$inc", Value: bson.D{{Key: "balance", Value: n}}}} }
	return a.db.Client().UseSession(ctx, func(ctx context.Context) error {
		_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
			if _, err := accounts.UpdateByID(ctx, to, add(amount)); err != nil {
				return nil, err
			}
			enough := bson.D{{Key: "_id", Value: from}, {Key: "balance", Value: bson.D{{Key: "$gte", Value: amount}}}}
			r, err := accounts.UpdateOne(ctx, enough, add(-amount))
			if err == nil && r.MatchedCount == 0 {
				err = ErrFunds
			}
			return nil, err
		})
		return err
	})
}

// A whole test of a repository: the documents before, a success, a refusal, a lost answer,
// and the documents after. In a test, the client comes from mongotest.NewClient(t), which
// also closes it.
func Example() {
	faults := mongotest.NewFaults()
	client, stop := mongotest.Start(faults)
	defer stop()
	ctx, db := context.Background(), client.Database("bank")
	err := mongotest.Load(ctx, db, `{"accounts": [
		{"_id": "ann", "balance": {"$numberInt": "10"}},
		{"_id": "bob", "balance": {"$numberInt": "0"}}
	]}`)
	if err != nil {
		log.Fatal(err)
	}
	accounts := Accounts{db}

	fmt.Println(accounts.Transfer(ctx, "ann", "bob", 7))
	fmt.Println(accounts.Transfer(ctx, "ann", "bob", 7)) // the transaction takes bob's part back

	// The server commits, and its answer is lost. The driver asks again.
	commits := mongotest.Named("commitTransaction")
	faults.Reset()
	faults.On(commits, 1, mongotest.CutAfter())
	fmt.Println(accounts.Transfer(ctx, "ann", "bob", 1), "- commits sent:", faults.Count(commits))

	dump, err := mongotest.Dump(ctx, db)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(dump)
	// Output:
	// <nil>
	// not enough money
	// <nil> - commits sent: 2
	// {
	// "accounts": [
	//   {"_id":"ann","balance":{"$numberInt":"2"}},
	//   {"_id":"bob","balance":{"$numberInt":"8"}}
	// ]
	// }
}
