package inbox_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/inbox"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An account that books each payment once, however often it is told of it.
type (
	giro struct {
		ID      string          `bson:"_id"`
		Balance int64           `bson:"balance"`
		Booked  []inbox.Receipt `bson:"booked,omitempty"`
	}
	payment struct {
		Amount int64 `bson:"amount"`
	}
)

var (
	giros  = model.NewCollection[giro, string]("accounts")
	booked = inbox.New(giros, "booked", inbox.Spec{Keep: 1000})
)

func ExampleInbox() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("bank")
	if _, err := giros.Insert(giro{ID: "ann", Balance: 100}).Run(ctx, db); err != nil {
		fmt.Println(err)
	}

	token := bson.NewObjectID() // the event's, which each repetition has too
	book := func(p payment) error {
		update := bson.D{{Key: "$inc", Value: bson.D{{Key: "balance", Value: p.Amount}}}}
		w := booked.Handle("ann", update, p, token)
		_, err := w.Run(ctx, db)
		return err
	}
	for range 3 {
		fmt.Println(book(payment{Amount: 20}))
	}
	fmt.Println("another payment:", errors.Is(book(payment{Amount: 99}), denorm.ErrToken))
	account, err := giros.ByID("ann").One(ctx, db)
	fmt.Println(account.Balance, err)
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// another payment: true
	// 120 <nil>
}
