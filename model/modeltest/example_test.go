package modeltest_test

import (
	"context"
	"fmt"
	"log"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// A loop that asks for each part by itself, and the one query that it could be.
func ExampleMeasure() {
	m := mongotest.NewMonitor()
	client, stop := mongotest.Start(m)
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	if _, err := parts.InsertMany(manyParts(20)).Run(ctx, db); err != nil {
		log.Fatal(err)
	}
	loop, err := modeltest.Measure(m, func() error {
		for id := range int32(20) {
			if _, err := parts.ByID(id).One(ctx, db); err != nil {
				return err
			}
		}
		return nil
	})
	fmt.Println("loop: ", loop, err)
	query, err := modeltest.Measure(m, func() error {
		_, err := parts.Find(bson.D{{Key: "_id", Value: bson.D{{Key: "$lt", Value: 20}}}}).All(ctx, db)
		return err
	})
	fmt.Println("query:", query, err)
	fmt.Println(m.Commands()[21])
	// Output:
	// loop:  20 commands, 20 returned <nil>
	// query: 1 command, 20 returned <nil>
	// parts.find {filter: {_id: {$lt: 20}}}
}

// In a test, WantCost says it in one line and shows what was sent when it isn't so. A plan's own price can be wanted.
func ExampleWantCost() {
	m := mongotest.NewMonitor()
	client, stop := mongotest.Start(m)
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	plan := parts.InsertMany(manyParts(3))

	t := &printer{} // in a test, its *testing.T
	modeltest.WantCost(t, m, plan.Cost(), func() error {
		_, err := plan.Run(ctx, db)
		return err
	})
	modeltest.WantCost(t, m, model.Cost{Commands: 2}, func() error {
		_, err := parts.Delete(2).Run(ctx, db)
		return err
	})
	// Output:
	// cost: commands: want 2, got 1; documents written: want 0, got 1
	// sent:
	// 	parts.delete {deletes: [{q: {_id: 2}, limit: 1}]}
	// plans, for what is stored now:
	// 	parts.delete {deletes: [{q: {_id: 2}, limit: 1}]}
	// 		index _id_; examined: 0 documents, 0 keys; found: 0
}
