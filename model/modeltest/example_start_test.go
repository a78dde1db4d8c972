package modeltest_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
)

// A shop sells pets.
type pet struct {
	ID   string `bson:"_id"`
	Kind string `bson:"kind"`
}

var pets = model.NewCollection[pet, string]("pets")

// The client is the driver's own, and its server is an engine in this process. In a test,
// NewClient(t) does the same, and needs no stop.
func ExampleStart() {
	client, stop := modeltest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")

	if _, err := pets.InsertMany([]pet{{"rex", "dog"}, {"tom", "cat"}}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pets.Find(bson.D{{Key: "kind", Value: "cat"}}).One(ctx, db))

	// Code that uses the driver alone runs on it too.
	names := db.Collection("pets").Distinct(ctx, "kind", bson.D{})
	fmt.Println(names.Raw())

	// Another client has an engine of its own, which is empty.
	other, stopOther := modeltest.Start()
	defer stopOther()
	fmt.Println(pets.Find(nil).Count(ctx, other.Database("shop")))
	// Output:
	// {tom cat} <nil>
	// ["cat","dog"] <nil>
	// 0 <nil>
}
