package model_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A hotel stores bookings, and each room names its guest.
type (
	booking struct {
		ID    string `bson:"_id"`
		Room  string `bson:"room"`
		Guest string `bson:"guest"`
	}
	room struct {
		ID     string `bson:"_id"`
		Guest  string `bson:"guest,omitempty"`
		Nights int64  `bson:"nights"`
	}
)

var (
	bookings = model.NewCollection[booking, string]("bookings")
	rooms    = model.NewCollection[room, string]("rooms")
)

// A plan is a value. It tells its commands, its price and what a crash leaves, before it
// runs.
func ExamplePlan() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("hotel")
	if _, err := rooms.Insert(room{ID: "12"}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	checkIn := model.NewPlan(
		bookings.Insert(booking{"b1", "12", "ann"}),
		rooms.Update("12", bson.D{{Key: "$set", Value: bson.D{{Key: "guest", Value: "ann"}}}}),
	)
	fmt.Println(checkIn)
	fmt.Println(checkIn.Cost(), "-", checkIn.Guarantee())
	result, err := checkIn.Run(ctx, db)
	fmt.Println(result.Modified(), "documents modified", err)

	// The answer was lost, so the plan runs again. It finds its own writes and changes
	// nothing.
	result, err = checkIn.Run(ctx, db)
	fmt.Println(result.Modified(), "documents modified", err)
	fmt.Println("the insert:", result.Steps[0].Status)

	// A second run of this plan would add a night more. So the plan needs
	// a transaction.
	stay := model.NewPlan(
		bookings.Insert(booking{"b2", "12", "ann"}),
		rooms.Update("12", bson.D{{Key: "$inc", Value: bson.D{{Key: "nights", Value: 1}}}}),
	)
	fmt.Println(stay.Guarantee())
	_, err = stay.Run(ctx, db)
	fmt.Println(errors.Is(err, model.ErrTransactional), err)
	_, err = stay.RunTx(ctx, db)
	fmt.Println("in a transaction:", err)
	// Output:
	// db.bookings.insertOne({_id: 'b1', room: '12', guest: 'ann'})
	// db.rooms.updateOne({_id: '12'}, {$set: {guest: 'ann'}})
	// 2 commands, 2 documents written, by _id_ - rerunnable
	// 2 documents modified <nil>
	// 0 documents modified <nil>
	// the insert: already
	// transactional
	// true docmodel: the plan needs a transaction: use RunTx or a database of WithTransactions, or allow a partial result (step 2, rooms.updateOne, can't be repeated after an interruption: $inc does more the second time)
	// in a transaction: <nil>
}
