package mongotest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func ExampleDiff() {
	type item struct {
		SKU string `bson:"sku"`
		Qty int64  `bson:"qty"`
	}
	want := bson.D{
		{Key: "items", Value: bson.A{bson.D{{Key: "sku", Value: "a"}, {Key: "qty", Value: 2}}}},
		{Key: "total", Value: 2},
	}
	got := bson.M{"items": []item{{"a", 2}}, "totals": 2}
	fmt.Print(mongotest.Diff(want, got))
	// Output:
	// items.0.qty: want int32 2, got int64 Long('2')
	// total: want int32 2, got nothing
	// totals: want nothing, got int32 2
}

// A whole state, as a golden file would have it.
func ExampleDump() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	docs := []bson.D{{{Key: "_id", Value: 0}, {Key: "n", Value: 0}}, {{Key: "_id", Value: 1}, {Key: "n", Value: 1}}}
	if _, err := db.Collection("parts").InsertMany(ctx, docs); err != nil {
		log.Fatal(err)
	}
	dump, err := mongotest.Dump(ctx, db)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(dump)
	// Output:
	// {
	// "parts": [
	//   {"_id":{"$numberInt":"0"},"n":{"$numberInt":"0"}},
	//   {"_id":{"$numberInt":"1"},"n":{"$numberInt":"1"}}
	// ]
	// }
}
