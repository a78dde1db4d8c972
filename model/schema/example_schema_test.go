package schema_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A pizza has a size and toppings.
type pizza struct {
	ID       string   `bson:"_id"`
	Size     string   `bson:"size"`
	Toppings []string `bson:"toppings,omitempty"`
	Cents    int64    `bson:"cents"`
}

var (
	pizzas      = model.NewCollection[pizza, string]("pizzas")
	pizzaSchema = schema.Of(pizzas, schema.Spec{Fields: []schema.Field{
		{Path: "size", Enum: []any{"small", "large"}},
		{Path: "toppings", MaxItems: 3, Unique: true},
		{Path: "cents", Above: 0},
	}})
)

// A schema is made from the Go type. The server enforces it, and Validate checks a
// document without a server.
func ExampleSchema() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("pizzeria")
	for _, keyword := range pizzaSchema.JSONSchema() {
		fmt.Println(keyword.Key, model.Shell(keyword.Value))
	}

	bad := pizza{"p1", "huge", []string{"olives", "olives"}, 900}
	err := pizzaSchema.Validate(bad)
	fmt.Println(err)
	var violations schema.Violations
	if errors.As(err, &violations) {
		for _, v := range violations {
			fmt.Println("-", v.Path, "-", v.Rule, model.Shell(v.Want))
		}
	}

	// Before you enforce a schema, find the stored documents that don't conform.
	if _, err := db.Collection("pizzas").
		InsertOne(ctx, bson.D{{Key: "_id", Value: "p0"}, {Key: "size", Value: "small"}}); err != nil {
		fmt.Println(err)
	}
	found, err := pizzaSchema.Checks()[0].All(ctx, db)
	fmt.Println(found, err)

	// From now on the server refuses documents that don't conform, from any program.
	fmt.Println(pizzaSchema.Validation().Ensure(ctx, db))
	_, err = pizzas.Insert(bad).Run(ctx, db)
	var refused mongo.ServerError
	fmt.Println(errors.As(err, &refused) && refused.HasErrorCode(121))
	_, err = pizzas.Insert(pizza{"p2", "large", nil, 1100}).Run(ctx, db)
	fmt.Println(err)
	// Output:
	// bsonType 'object'
	// required ['_id', 'size', 'cents']
	// properties {_id: {bsonType: 'string'}, size: {bsonType: 'string', enum: ['small', 'large']}, toppings: {bsonType: 'array', maxItems: 3, uniqueItems: true, items: {bsonType: 'string'}}, cents: {bsonType: 'long', minimum: 0, exclusiveMinimum: true}}
	// docmodel: pizzas: size: enum ['small', 'large']: 'huge'; and 1 more
	// - size - enum ['small', 'large']
	// - toppings.1 - uniqueItems true
	// [pizzas 'p0': cents: is required] <nil>
	// <nil>
	// true
	// <nil>
}
