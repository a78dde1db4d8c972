package modeltest_test

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
)

// A turnstile counts who passes.
type turnstile struct {
	ID     string `bson:"_id"`
	Passed int64  `bson:"passed"`
}

var (
	turnstiles = model.NewCollection[turnstile, string]("turnstiles")
	goThrough  = turnstiles.Update("east", bson.D{{Key: "$inc", Value: bson.D{{Key: "passed", Value: 1}}}})
)

// Faults let chosen commands fail, wait, or lose their connection.
func ExampleFaults() {
	faults := modeltest.NewFaults()
	client, stop := modeltest.Start(modeltest.WithFaults(faults))
	defer stop()
	ctx, db := context.Background(), client.Database("stadium")
	if _, err := turnstiles.Insert(turnstile{ID: "east"}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// The answer of a write is lost. The driver sends it again, and the server applies it
	// once.
	faults.Reset()
	faults.On(modeltest.Writes, 1, modeltest.CutAfter())
	_, err := goThrough.Run(ctx, db)
	fmt.Println("lost answer:", err, "- sent:", faults.Count(modeltest.Writes))

	// The server refuses the first update of the collection, as a validator would.
	faults.Reset()
	faults.On(modeltest.Both(modeltest.Named("update"), modeltest.On("turnstiles")), 1, modeltest.Fail(121))
	_, err = goThrough.Run(ctx, db)
	var refused mongo.ServerError
	fmt.Println("refused:", errors.As(err, &refused) && refused.HasErrorCode(121))

	// From then on no write arrives, so that the driver's second attempt fails too.
	faults.Reset()
	faults.From(modeltest.Writes, 1, modeltest.CutBefore())
	_, err = goThrough.Run(ctx, db)
	fmt.Println("no connection:", mongo.IsNetworkError(err))

	faults.Reset()
	fmt.Println(turnstiles.ByID("east").One(ctx, db))
	// Output:
	// lost answer: <nil> - sent: 2
	// refused: true
	// no connection: true
	// {east 1} <nil>
}
