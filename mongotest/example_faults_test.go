package mongotest_test

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/mongotest"
)

// goThrough counts a person who passes a turnstile.
func goThrough(ctx context.Context, turnstiles *mongo.Collection) error {
	_, err := turnstiles.UpdateByID(ctx, "east", bson.D{{Key: "$inc", Value: bson.D{{Key: "passed", Value: 1}}}})
	return err
}

// Faults let chosen commands fail, wait, or lose their connection.
func ExampleFaults() {
	faults := mongotest.NewFaults()
	client, stop := mongotest.Start(faults)
	defer stop()
	ctx, turnstiles := context.Background(), client.Database("stadium").Collection("turnstiles")
	if _, err := turnstiles.InsertOne(ctx, bson.D{{Key: "_id", Value: "east"}, {Key: "passed", Value: 0}}); err != nil {
		fmt.Println(err)
		return
	}

	// The answer of a write is lost. The driver sends it again, and the server applies it
	// once.
	faults.Reset()
	faults.On(mongotest.Writes, 1, mongotest.CutAfter())
	err := goThrough(ctx, turnstiles)
	fmt.Println("lost answer:", err, "- sent:", faults.Count(mongotest.Writes))

	// The server refuses the first update of the collection, as a validator would.
	faults.Reset()
	faults.On(mongotest.Both(mongotest.Named("update"), mongotest.On("turnstiles")), 1, mongotest.Fail(121))
	err = goThrough(ctx, turnstiles)
	var refused mongo.ServerError
	fmt.Println("refused:", errors.As(err, &refused) && refused.HasErrorCode(121))

	// From then on no write arrives, so that the driver's second attempt fails too.
	faults.Reset()
	faults.From(mongotest.Writes, 1, mongotest.CutBefore())
	err = goThrough(ctx, turnstiles)
	fmt.Println("no connection:", mongo.IsNetworkError(err))

	faults.Reset()
	fmt.Println(turnstiles.FindOne(ctx, bson.D{}).Raw())
	// Output:
	// lost answer: <nil> - sent: 2
	// refused: true
	// no connection: true
	// {"_id": "east","passed": {"$numberInt":"1"}} <nil>
}
