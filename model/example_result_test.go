package model_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A zoo writes down each meal of an animal in two collections.
type (
	animal struct {
		ID     string `bson:"_id"`
		LastAt string `bson:"lastAt"`
	}
	meal struct {
		ID     string `bson:"_id"`
		Animal string `bson:"animal"`
	}
)

var (
	animals = model.NewCollection[animal, string]("animals")
	meals   = model.NewCollection[meal, string]("meals")
)

// The result says what became of each step, also when the run failed.
func ExampleResult() {
	faults := mongotest.NewFaults()
	client, stop := mongotest.Start(faults,
		mongotest.Settings{Client: options.Client().SetRetryWrites(false)})
	defer stop()
	ctx, db := context.Background(), client.Database("zoo")
	if _, err := animals.Insert(animal{"lion", "8:00"}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	feed := model.NewPlan(
		meals.Insert(meal{"m1", "lion"}),
		animals.Update("lion", bson.D{{Key: "$set", Value: bson.D{{Key: "lastAt", Value: "9:00"}}}}),
		animals.Delete("old lion"),
	)
	run := func() {
		result, err := feed.Run(ctx, db)
		for i, step := range result.Steps {
			fmt.Printf("step %d: %v\n", i+1, step.Status)
		}
		for _, batch := range result.Batches { // one for each command that was answered
			fmt.Println(batch.Collection, "- inserted:", batch.Inserted, "matched:", batch.Matched, "deleted:", batch.Deleted)
		}
		fmt.Println("modified:", result.Modified(), "all applied before:", result.Already(), "error:", err != nil)
	}

	// The connection breaks after the second write reached the server, and before its
	// answer came.
	faults.On(mongotest.Writes, 2, mongotest.CutAfter())
	run()
	fmt.Println("It runs again, since it is", feed.Guarantee())
	run()
	// Output:
	// step 1: applied
	// step 2: unknown
	// step 3: not sent
	// meals - inserted: 1 matched: 0 deleted: 0
	// modified: 1 all applied before: false error: true
	// It runs again, since it is rerunnable
	// step 1: already
	// step 2: applied
	// step 3: applied
	// meals - inserted: 0 matched: 0 deleted: 0
	// animals - inserted: 0 matched: 1 deleted: 0
	// animals - inserted: 0 matched: 0 deleted: 0
	// modified: 0 all applied before: false error: false
}
