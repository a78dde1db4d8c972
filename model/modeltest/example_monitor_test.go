package modeltest_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
)

// A forecast stores the temperature of towns.
type town struct {
	ID     string `bson:"_id"`
	Degree int32  `bson:"degree"`
}

var towns = model.NewCollection[town, string]("towns")

// A monitor shows each command that was sent, and counts what it cost.
func ExampleMonitor() {
	monitor := modeltest.NewMonitor()
	client, stop := modeltest.Start(modeltest.WithMonitor(monitor))
	defer stop()
	ctx, db := context.Background(), client.Database("weather")

	store := towns.InsertMany([]town{{"Bonn", 12}, {"Köln", 13}, {"Trier", 15}})
	if _, err := store.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(monitor.Cost())
	fmt.Println("the plan said:", store.Cost())

	// Reset before the part that you want to measure.
	monitor.Reset()
	warm := towns.Find(bson.D{{Key: "degree", Value: bson.D{{Key: "$gt", Value: 12}}}})
	if _, err := warm.All(ctx, db); err != nil {
		fmt.Println(err)
	}
	if _, err := warm.Count(ctx, db); err != nil {
		fmt.Println(err)
	}
	for _, command := range monitor.Commands() {
		fmt.Println(command)
	}
	fmt.Println(monitor.Cost())
	// Output:
	// 1 command, 3 documents written
	// the plan said: 1 command, 3 documents written, by _id_
	// towns.find {filter: {degree: {$gt: 12}}}
	// towns.aggregate {pipeline: [{$match: {degree: {$gt: 12}}}, {$group: {_id: 1, n: {$sum: 1}}}], cursor: {}}
	// 2 commands, 3 returned
}
