package modeltest_test

import (
	"context"
	"fmt"
	"log"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
)

var upsert = options.UpdateOne().SetUpsert(true)

// printer is a testing.TB for examples, which prints failures.
type printer struct{ testing.TB }

func (*printer) Helper()                      {}
func (*printer) Errorf(f string, args ...any) { fmt.Printf(f+"\n", args...) }

// A program that needs no server.
func ExampleStart() {
	client, stop := modeltest.Start()
	defer stop()
	ctx := context.Background()
	coll := client.Database("shop").Collection("parts")
	if _, err := coll.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "name", Value: "bolt"}}); err != nil {
		log.Fatal(err)
	}
	var found bson.D
	if err := coll.FindOne(ctx, bson.D{{Key: "name", Value: "bolt"}}).Decode(&found); err != nil {
		log.Fatal(err)
	}
	fmt.Println(model.Shell(found))
	// Output:
	// {_id: 1, name: 'bolt'}
}

// A loop that asks for each part by itself, and the one query that it could be.
func ExampleMeasure() {
	m := modeltest.NewMonitor()
	client, stop := modeltest.Start(modeltest.WithMonitor(m))
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
	m := modeltest.NewMonitor()
	client, stop := modeltest.Start(modeltest.WithMonitor(m))
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

// The second of two writes is applied, but its answer is lost. The driver asks again, and nothing is written twice.
func ExampleFaults() {
	f := modeltest.NewFaults()
	client, stop := modeltest.Start(modeltest.WithFaults(f))
	defer stop()
	ctx, coll := context.Background(), client.Database("shop").Collection("parts")

	f.On(modeltest.Writes, 2, modeltest.CutAfter())
	for range 2 {
		if _, err := coll.UpdateOne(ctx, bson.D{{Key: "_id", Value: 1}}, inc(), upsert); err != nil {
			log.Fatal(err)
		}
	}
	var p part
	err := coll.FindOne(ctx, bson.D{}).Decode(&p)
	fmt.Println("n:", p.N, err, "- writes sent:", f.Count(modeltest.Writes))

	f.From(modeltest.Writes, 1, modeltest.CutBefore()) // and now for good
	_, err = coll.DeleteMany(ctx, bson.D{})
	fmt.Println("broken connection:", mongo.IsNetworkError(err))
	// Output:
	// n: 2 <nil> - writes sent: 3
	// broken connection: true
}

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
	fmt.Print(modeltest.Diff(want, got))
	// Output:
	// items.0.qty: want int32 2, got int64 Long('2')
	// total: want int32 2, got nothing
	// totals: want nothing, got int32 2
}

// A whole state, as a golden file would have it.
func ExampleDump() {
	client, stop := modeltest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	if _, err := parts.InsertMany(manyParts(2)).Run(ctx, db); err != nil {
		log.Fatal(err)
	}
	dump, err := modeltest.Dump(ctx, db)
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
