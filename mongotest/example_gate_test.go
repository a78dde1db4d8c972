package mongotest_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/mongotest"
)

// draw takes money from an account, if the account has as much. It reads and then writes,
// and believes what it read.
func draw(ctx context.Context, accounts *mongo.Collection, amount int) error {
	var account struct{ Balance int }
	if err := accounts.FindOne(ctx, bson.D{{Key: "_id", Value: "ann"}}).Decode(&account); err != nil {
		return err
	}
	if account.Balance < amount {
		return fmt.Errorf("there is only %d", account.Balance)
	}
	_, err := accounts.UpdateByID(ctx, "ann", bson.D{{Key: "$inc", Value: bson.D{{Key: "balance", Value: -amount}}}})
	return err
}

// A gate holds a command back, so that a test can do something else first. Here it shows
// a race.
func ExampleGate() {
	faults, gate := mongotest.NewFaults(), mongotest.NewGate()
	client, stop := mongotest.Start(faults)
	defer stop()
	ctx, accounts := context.Background(), client.Database("bank").Collection("accounts")
	if _, err := accounts.InsertOne(ctx, bson.D{{Key: "_id", Value: "ann"}, {Key: "balance", Value: 100}}); err != nil {
		fmt.Println(err)
		return
	}

	// The first draw stops before its update.
	faults.On(mongotest.Named("update"), 1, mongotest.Hold(gate))
	first := make(chan error)
	go func() { first <- draw(ctx, accounts, 80) }()
	held, err := gate.Wait(ctx)
	fmt.Println("held:", held, err)

	fmt.Println("the second draw:", draw(ctx, accounts, 80))
	gate.Open()
	fmt.Println("the first draw:", <-first)
	fmt.Println(accounts.FindOne(ctx, bson.D{}).Raw())
	// Output:
	// held: accounts.update {updates: [{q: {_id: 'ann'}, u: {$inc: {balance: -80}}}]} <nil>
	// the second draw: <nil>
	// the first draw: <nil>
	// {"_id": "ann","balance": {"$numberInt":"-60"}} <nil>
}
