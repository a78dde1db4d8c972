package model_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An order of one of the shops. The scope's fields need not be in the type.
type order struct {
	ID    string `bson:"_id"`
	Total int    `bson:"total"`
}

var orders = model.NewCollection[order, string]("orders")

// Several shops keep their orders in one collection, and what is deleted is marked. Each request runs on a database of
// its own scope.
func ExampleScope() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, now := context.Background(), time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	of := func(shop string) model.DB {
		return model.Scope{
			Tenant: bson.D{{Key: "shop", Value: shop}},
			Set:    bson.D{{Key: "updatedAt", Value: now}},
			Delete: bson.D{{Key: "deletedAt", Value: now}},
		}.On(client.Database("shops"))
	}
	if _, err := orders.InsertMany([]order{{"1", 30}, {"2", 70}}).Run(ctx, of("north")); err != nil {
		fmt.Println(err)
	}
	if _, err := orders.InsertMany([]order{{"3", 500}}).Run(ctx, of("south")); err != nil {
		fmt.Println(err)
	}
	if _, err := orders.Delete("2").Run(ctx, of("north")); err != nil {
		fmt.Println(err)
	}

	north, err := orders.Find(nil).All(ctx, of("north"))
	fmt.Println("north:", north, err)
	_, err = orders.ByID("3").One(ctx, of("north"))
	fmt.Println("another shop's order isn't found:", errors.Is(err, model.ErrNotFound))
	_, err = orders.Find(nil).All(ctx, of(""))
	fmt.Println("no shop:", err)
	// Output:
	// north: [{1 30}] <nil>
	// another shop's order isn't found: true
	// no shop: docmodel: Scope.Tenant.shop: is empty: can't be a tenant: give a non-empty string, an ObjectID, an integer or a UUID: ''
}
