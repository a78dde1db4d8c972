package mongotest_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest"
)

// A town has a temperature.
type town struct {
	ID     string `bson:"_id"`
	Degree int32  `bson:"degree"`
}

// A monitor shows each command that was sent, and counts what it cost.
func ExampleMonitor() {
	monitor := mongotest.NewMonitor()
	client, stop := mongotest.Start(monitor)
	defer stop()
	ctx, towns := context.Background(), client.Database("weather").Collection("towns")

	if _, err := towns.InsertMany(ctx, []town{{"Bonn", 12}, {"Köln", 13}, {"Trier", 15}}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(monitor.Cost())

	// Reset before the part that you want to measure.
	monitor.Reset()
	warm := bson.D{{Key: "degree", Value: bson.D{{Key: "$gt", Value: 12}}}}
	cursor, err := towns.Find(ctx, warm)
	if err != nil {
		fmt.Println(err)
		return
	}
	var list []town
	fmt.Println(cursor.All(ctx, &list), list)
	fmt.Println(towns.CountDocuments(ctx, warm))
	for _, command := range monitor.Commands() {
		fmt.Println(command)
	}
	fmt.Println(monitor.Cost())
	// Output:
	// 1 command, 3 documents written
	// <nil> [{Köln 13} {Trier 15}]
	// 2 <nil>
	// towns.find {filter: {degree: {$gt: 12}}}
	// towns.aggregate {pipeline: [{$match: {degree: {$gt: 12}}}, {$group: {_id: 1, n: {$sum: 1}}}], cursor: {}}
	// 2 commands, 3 returned
}
