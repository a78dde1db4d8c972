package model_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A ferry has a timetable and tickets.
type (
	ferry struct {
		ID     string `bson:"_id"`
		Leaves string `bson:"leaves"`
	}
	ticket struct {
		ID    string `bson:"_id"`
		Ferry string `bson:"ferry"`
	}
)

var (
	ferries = model.NewCollection[ferry, string]("ferries")
	tickets = model.NewCollection[ticket, string]("tickets")
)

// delay writes another time, if the ferry still leaves at the time that the caller read.
func delay(id, from, to string) model.Write {
	return model.Write{Collection: "ferries", Expect: model.One, Idempotent: true, Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: id}, {Key: "leaves", Value: from}},
		Update: bson.D{{Key: "$set", Value: bson.D{{Key: "leaves", Value: to}}}},
	}}
}

// A failed plan returns a StepError: which step failed, where, and why. Earlier steps
// were applied, later ones were not sent.
func ExampleStepError() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("port")
	begin := model.NewPlan(ferries.Insert(ferry{"f1", "9:30"}), tickets.Insert(ticket{"t0", "f1"}))
	if _, err := begin.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	for _, plan := range []model.Plan{
		model.NewPlan(tickets.Insert(ticket{"t1", "f1"}), delay("f1", "9:00", "10:00")), // it leaves at 9:30
		model.NewPlan(tickets.Insert(ticket{"t2", "f1"}), delay("f7", "9:00", "10:00")), // it isn't there
		model.NewPlan(tickets.Insert(ticket{"t0", "f2"})),                               // another ticket has the _id
		model.NewPlan(tickets.Insert(ticket{"t3", "f1"}), tickets.Insert(ticket{})),     // bad input: nothing is sent
	} {
		_, err := plan.Run(ctx, db)
		var failed *model.StepError
		var bad *model.ValueError
		if !errors.As(err, &failed) {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%d, %q: stale %v, not found %v, duplicate %v, bad input %v\n", failed.Step, failed.Where,
			errors.Is(err, model.ErrStale),
			errors.Is(err, model.ErrNotFound), mongo.IsDuplicateKeyError(err), errors.As(err, &bad))
		fmt.Println("\t", err)
	}
	fmt.Println(tickets.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).All(ctx, db))
	// Output:
	// 1, "ferries {_id: 'f1'}": stale true, not found false, duplicate false, bad input false
	// 	 docmodel: step 2: ferries {_id: 'f1'}: stale write, read again: no document matches
	// 1, "ferries {_id: 'f7'}": stale false, not found true, duplicate false, bad input false
	// 	 docmodel: step 2: ferries {_id: 'f7'}: not found: no document has this _id
	// 0, "tickets": stale false, not found false, duplicate true, bad input false
	// 	 docmodel: step 1: tickets: bulk write exception: write errors: [E11000 duplicate key error collection: port.tickets index: _id_ dup key: { _id: "t0" }]
	// 1, "": stale false, not found false, duplicate false, bad input true
	// 	 docmodel: step 2: tickets: _id: is empty: give an id: ''
	// [{t0 f1} {t1 f1} {t2 f1}] <nil>
}
