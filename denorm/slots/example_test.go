package slots_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/denorm/slots"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A concert is sold out within minutes: thousands of buyers take seats of one number. In one document each buyer
// would wait for all others.
var seats = slots.New(model.NewCollection[slots.Doc[string], string]("seats"),
	slots.Spec{Slots: 4, Stock: true})

func ExampleSlots() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("tickets")

	// Each operation has a token, which decides its slot. The same token again does nothing.
	run := func(c model.Change) error {
		_, err := c.Run(ctx, db)
		return err
	}
	opened := bson.ObjectID{11: 1}
	fmt.Println(run(seats.Add("concert", 100, opened)), run(seats.Add("concert", 100, opened)))

	// One command takes seats, if the slot has enough. Otherwise the slots are read, and another slot gives some.
	take := seats.Take("concert", 2, bson.ObjectID{11: 5})
	usually, err := take.Decide(nil)
	fmt.Println(usually)
	fmt.Println(usually.Cost(), err)
	fmt.Println(run(take), run(take))
	total := seats.Totals("concert")
	fmt.Println(total)
	left, err := total.One(ctx, db)
	fmt.Println(left, err)

	// All seats of all slots can be taken, and not one more.
	var short *slots.ShortError
	fmt.Println(errors.As(run(seats.Take("concert", 99, bson.ObjectID{11: 6})), &short), short)
	fmt.Println(run(seats.Take("concert", 98, bson.ObjectID{11: 7})))

	// More buyers than expected: more slots, while they buy.
	fmt.Println(run(seats.Resize("concert", 16)))
	left, err = total.One(ctx, db)
	fmt.Println(left, err)
	// Output:
	// <nil> <nil>
	// db.seats.updateOne({_id: 'concert#0001', of: 4, 'ops.op': {$ne: ObjectId('000000000000000000000005')}, free: {$gte: Long('2')}}, {$inc: {sum: Long('-2'), free: Long('-2')}, $push: {ops: {$each: [{op: ObjectId('000000000000000000000005'), n: Long('-2'), h: 5}], $slice: -100}}})
	// 1 command, 1 document written, by _id_ <nil>
	// <nil> <nil>
	// db.seats.aggregate([{$match: {_id: {$gte: 'concert#', $lt: 'concert$'}}}, {$group: {_id: '$key', sum: {$sum: '$sum'}, free: {$sum: '$free'}, slots: {$sum: {$cond: [{$gt: ['$of', 0]}, 1, 0]}}}}])
	// {concert 98 98 4} <nil>
	// true docmodel: seats: can't take 99: the stock has 98
	// <nil>
	// <nil>
	// {concert 0 0 16} <nil>
}
