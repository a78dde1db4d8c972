package model_test

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
)

// Money leaves one account and reaches another, or neither: both writes have a guard.
type account struct {
	ID      string          `bson:"_id"`
	Balance int64           `bson:"balance"`
	Closed  bool            `bson:"closed"`
	Version int64           `bson:"version"`
	Ops     []bson.ObjectID `bson:"ops,omitempty"`
}

var (
	accounts      = model.NewCollection[account, string]("accounts")
	ledger        = embed.NewVersioned(accounts, embed.VersionedSpec{Tokens: "ops"})
	accountsStore = model.NewStore(model.New("bank", ledger), accounts)
)

func ExampleInTx() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("bank")

	transfer := func(from, to string, amount int64, op bson.ObjectID) error {
		return model.InTx(ctx, db, func(ctx context.Context) error { // this ctx carries the transaction
			if _, err := ledger.Take(from, "balance", amount, op).Run(ctx, db); err != nil {
				return err
			}
			more := bson.D{{Key: "$inc", Value: bson.D{{Key: "balance", Value: amount}}}}
			_, err := ledger.Guarded(to, bson.D{{Key: "closed", Value: false}}, more, op).Run(ctx, db)
			return err
		})
	}

	opened := accountsStore.InsertMany(account{ID: "ann", Balance: 100}, account{ID: "bob"},
		account{ID: "old", Closed: true})
	if _, _, err := opened.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	once := bson.NewObjectID()
	fmt.Println(transfer("ann", "bob", 30, once))
	fmt.Println(transfer("ann", "bob", 30, once)) // sent twice, applied once
	for _, to := range []string{"old", "bob"} {   // the one is closed, and for the other there is less
		fmt.Println(errors.Is(transfer("ann", to, 90, bson.NewObjectID()), model.ErrGuard))
	}

	for a, err := range accounts.Find(bson.D{}).Sorted(bson.D{{Key: "_id", Value: 1}}).Each(ctx, db) {
		fmt.Println(a.ID, a.Balance, err)
	}
	// Output:
	// <nil>
	// <nil>
	// true
	// true
	// ann 70 <nil>
	// bob 30 <nil>
	// old 0 <nil>
}
