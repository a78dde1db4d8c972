package model_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A café stores receipts, and wants to know the takings of each day.
type (
	receipt struct {
		ID    string `bson:"_id"`
		Day   string `bson:"day"`
		Cents int64  `bson:"cents"`
	}
	takings struct {
		Day      string `bson:"_id"`
		Receipts int64  `bson:"receipts"`
		Cents    int64  `bson:"cents"`
	}
)

var receipts = model.NewCollection[receipt, string]("receipts")

// takingsSince returns the takings by day. AggregateAs decodes the results into another
// type than the collection's documents.
func takingsSince(day string) *model.Aggregate[takings] {
	return model.AggregateAs[takings](receipts, mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "day", Value: bson.D{{Key: "$gte", Value: day}}}}}},
		{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: "$day"},
			{Key: "receipts", Value: bson.D{{Key: "$sum", Value: 1}}},
			{Key: "cents", Value: bson.D{{Key: "$sum", Value: "$cents"}}},
		}}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
	})
}

func ExampleAggregate() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("cafe")
	if _, err := receipts.InsertMany([]receipt{
		{"r1", "2026-03-01", 450}, {"r2", "2026-03-02", 320}, {"r3", "2026-03-02", 980}, {"r4", "2026-03-03", 150},
	}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	march := takingsSince("2026-03-02")
	fmt.Println(march)
	fmt.Println(march.Cost())
	for day, err := range march.Each(ctx, db) {
		fmt.Println(day.Day, day.Receipts, day.Cents, err)
	}
	n, err := march.Count(ctx, db)
	fmt.Println(n, "days", err)
	// Output:
	// db.receipts.aggregate([{$match: {day: {$gte: '2026-03-02'}}}, {$group: {_id: '$day', receipts: {$sum: 1}, cents: {$sum: '$cents'}}}, {$sort: {_id: 1}}])
	// 1 command and one per further batch
	// 2026-03-02 2 1300 <nil>
	// 2026-03-03 1 150 <nil>
	// 2 days <nil>
}
