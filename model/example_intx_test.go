package model_test

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
)

// Money leaves one account and reaches another, or neither: a guard on the first, and a change of the second that may refuse.
type account struct {
	ID      string          `bson:"_id"`
	Balance int64           `bson:"balance"`
	Closed  bool            `bson:"closed"`
	Version int64           `bson:"version"`
	Ops     []bson.ObjectID `bson:"ops,omitempty"`
}

var (
	accounts  = model.NewCollection[account, string]("accounts")
	ledger    = embed.NewVersioned(accounts, embed.VersionedSpec{Tokens: "ops"})
	errClosed = errors.New("the account is closed")
)

func ExampleInTx() {
	client, stop := modeltest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("bank")

	transfer := func(from, to string, amount int64, op bson.ObjectID) error {
		return model.InTx(ctx, db, func(ctx context.Context) error { // this ctx carries the transaction
			if _, err := ledger.Take(from, "balance", amount, op).Run(ctx, db); err != nil {
				return err
			}
			_, _, err := ledger.Change(to, op, func(a account) (account, error) {
				if a.Closed {
					return a, errClosed
				}
				a.Balance += amount
				return a, nil
			}).Run(ctx, db)
			return err
		})
	}

	opened := model.NewPlan(
		ledger.Insert(account{ID: "ann", Balance: 100}, bson.NewObjectID()),
		ledger.Insert(account{ID: "bob"}, bson.NewObjectID()),
		ledger.Insert(account{ID: "old", Closed: true}, bson.NewObjectID()),
	)
	if _, err := opened.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	once := bson.NewObjectID()
	fmt.Println(transfer("ann", "bob", 30, once))
	fmt.Println(transfer("ann", "bob", 30, once)) // sent twice, applied once
	fmt.Println(transfer("ann", "old", 30, bson.NewObjectID()))
	fmt.Println(errors.Is(transfer("ann", "bob", 90, bson.NewObjectID()), model.ErrGuard)) // there is less

	for a, err := range accounts.Find(bson.D{}).Sorted(bson.D{{Key: "_id", Value: 1}}).Each(ctx, db) {
		fmt.Println(a.ID, a.Balance, err)
	}
	// Output:
	// <nil>
	// <nil>
	// the account is closed
	// true
	// ann 70 <nil>
	// bob 30 <nil>
	// old 0 <nil>
}
