package embed_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
)

// A person lives at one address, or at none that we know.
type (
	resident struct {
		ID   string `bson:"_id"`
		Home *home  `bson:"home,omitempty"`
	}
	home struct {
		Street string `bson:"street"`
		City   string `bson:"city"`
	}
)

var (
	residents = model.NewCollection[resident, string]("residents")
	homes     = embed.NewOne[home](residents, "home", embed.OneSpec{Indexes: []bson.D{{{Key: "city", Value: 1}}}})
)

func ExampleOne() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("sesame")

	if _, err := residents.Insert(resident{ID: "kate"}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	move := homes.Update("kate", bson.D{{Key: "$set", Value: bson.D{{Key: "city", Value: "New York"}}}})
	fmt.Println(move)
	_, err := move.Run(ctx, db) // no half of an address is made
	fmt.Println(err)
	put := homes.Put("kate", home{"123 Avenue Q", "New York"})
	fmt.Println(put)
	fmt.Println(put.Cost())
	if _, err := put.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	there := homes.Having(bson.D{{Key: "city", Value: "New York"}})
	found, err := there.One(ctx, db)
	fmt.Println(there.Cost(), found.ID, *found.Home, err)
	// Output:
	// db.residents.updateOne({_id: 'kate', home: {$type: 'object'}}, {$set: {'home.city': 'New York'}})
	// docmodel: step 1: residents {_id: 'kate'}: the document has no such element: not found: mongo: no documents in result
	// db.residents.updateOne({_id: 'kate'}, {$set: {home: {street: '123 Avenue Q', city: 'New York'}}})
	// 1 command, 1 document written, by _id_
	// 1 command and one per further batch, by home.city_1 kate {123 Avenue Q New York} <nil>
}
