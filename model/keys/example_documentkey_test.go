package keys_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// The same users under an _id that is a document. Its fields keep their types; their order is part of the key.
type (
	dwelling struct {
		State string `bson:"state"`
		City  string `bson:"city"`
		User  int    `bson:"user"`
	}
	dweller struct {
		ID   dwelling `bson:"_id"`
		Name string   `bson:"name"`
	}
)

var (
	dwellers   = model.NewCollection[dweller, dwelling]("dwellers")
	byDwelling = keys.NewDocumentKey(dwellers, keys.Text("state"), keys.Text("city"), keys.Int("user"))
)

func ExampleDocumentKey() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("site")
	plan := dwellers.InsertMany([]dweller{
		{dwelling{"CA", "San Francisco", 42}, "Ann"}, {dwelling{"CA", "San Francisco", 7}, "Bob"},
		{dwelling{"CA", "San", 100}, "Cy"},
	})
	if _, err := plan.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	inCity := byDwelling.Prefix("CA", "San Francisco")
	fmt.Println(inCity)
	fmt.Println(inCity.Cost())
	users, err := inCity.All(ctx, db)
	for _, u := range users {
		fmt.Println("-", u.ID.User, u.Name)
	}
	fmt.Println(err)

	// To MongoDB, the same fields in another order are another document.
	swapped := bson.D{{Key: "city", Value: "San"}, {Key: "state", Value: "CA"}, {Key: "user", Value: 100}}
	n, err := db.Collection("dwellers").CountDocuments(ctx, bson.D{{Key: "_id", Value: swapped}})
	fmt.Println(n, err)
	// Output:
	// db.dwellers.find({_id: {$gte: {state: 'CA', city: 'San Francisco', user: MinKey()}, $lt: {state: 'CA', city: 'San Francisco', user: MaxKey()}}}).sort({_id: 1})
	// 1 command and one per further batch, by _id_
	// - 7 Bob
	// - 42 Ann
	// <nil>
	// 0 <nil>
}
