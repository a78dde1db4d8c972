package mongotest_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest"
)

// A shop sells pets.
type pet struct {
	ID   string `bson:"_id"`
	Kind string `bson:"kind"`
}

// The client is the driver's own, and its server is in this process. In a test,
// NewClient(t) does the same, and needs no stop.
func ExampleStart() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, pets := context.Background(), client.Database("shop").Collection("pets")

	if _, err := pets.InsertMany(ctx, []pet{{"rex", "dog"}, {"tom", "cat"}}); err != nil {
		fmt.Println(err)
		return
	}
	var found pet
	fmt.Println(pets.FindOne(ctx, bson.D{{Key: "kind", Value: "cat"}}).Decode(&found), found)
	fmt.Println(pets.Distinct(ctx, "kind", bson.D{}).Raw())

	// Another client has a server of its own, which is empty.
	other, stopOther := mongotest.Start()
	defer stopOther()
	fmt.Println(other.Database("shop").Collection("pets").CountDocuments(ctx, bson.D{}))
	// Output:
	// <nil> {tom cat}
	// ["cat","dog"] <nil>
	// 0 <nil>
}
