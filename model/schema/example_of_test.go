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

// Products of a shop: each has an id, a price and a description; what else is to be said of one depends on its kind.
type ware struct {
	ID    string   `bson:"_id"`
	Price int64    `bson:"price,minsize"` // in cents
	Text  string   `bson:"text,omitempty"`
	Tags  []string `bson:"tags,omitempty"`
}

type (
	bookWare struct {
		Author string `bson:"author"`
		ISBN   string `bson:"isbn,omitempty"`
	}
	discWare struct {
		Artist string  `bson:"artist"`
		Tracks []track `bson:"tracks"`
	}
	track struct {
		Title   string `bson:"title"`
		Seconds int32  `bson:"seconds"`
	}
)

var (
	wares      = model.NewCollection[ware, string]("wares")
	wareSchema = schema.Of(wares, schema.Spec{
		Fields: []schema.Field{{Path: "price", Min: 0}, {Path: "tags", MaxItems: 10, Unique: true}},
		Tag:    "kind",
		Variants: []schema.Variant{
			schema.As[bookWare]("book", schema.Field{Path: "isbn", Pattern: "^[0-9]{13}$"}),
			schema.As[discWare]("disc", schema.Field{Path: "tracks", MinItems: 1, MaxItems: 99, NotNull: true},
				schema.Field{Path: "tracks.seconds", Above: 0}),
		},
	})
)

func ExampleOf() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")

	// What the shop holds already, from before there was a schema. The last one has a price as a text.
	c := db.Collection("wares")
	for _, old := range []bson.D{
		{
			{Key: "_id", Value: "b1"}, {Key: "price", Value: 1990}, {Key: "kind", Value: "book"},
			{Key: "author", Value: "Sadalage"},
		},
		{
			{Key: "_id", Value: "d1"}, {Key: "price", Value: "12.90"}, {Key: "kind", Value: "disc"},
			{Key: "artist", Value: "Can"}, {Key: "tracks", Value: bson.A{}},
		},
	} {
		if _, err := c.InsertOne(ctx, old); err != nil {
			fmt.Println(err)
			return
		}
	}

	// Which of them don't conform, and why.
	check := wareSchema.Checks()[0]
	fmt.Println(check.Find().Cost())
	for finding, err := range check.Each(ctx, db) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(finding)
	}

	// From now on the server refuses what doesn't conform, but for changes of what didn't before.
	for _, keyword := range wareSchema.JSONSchema() {
		list, ok := keyword.Value.(bson.A)
		if keyword.Key != "oneOf" || !ok {
			fmt.Println(keyword.Key, model.Shell(keyword.Value))
			continue
		}
		for _, variant := range list {
			for _, keyword := range variant.(bson.D) {
				fmt.Println("  ", keyword.Key, model.Shell(keyword.Value))
			}
		}
	}
	validation := wareSchema.Validation()
	validation.Level = "moderate"
	if err := validation.Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	_, differs, err := validation.Diff(ctx, db)
	fmt.Println(differs, err)

	_, err = c.InsertOne(ctx, bson.D{
		{Key: "_id", Value: "j1"}, {Key: "price", Value: 4990}, {Key: "kind", Value: "jeans"}, {Key: "length", Value: 34},
	})
	var refused mongo.WriteException
	if errors.As(err, &refused) {
		e := refused.WriteErrors[0]
		fmt.Println(e.Message+":", e.Details.Lookup("details", "schemaRulesNotSatisfied", "0", "operatorName").StringValue())
	}
	// Output:
	// 1 command and one per further batch
	// wares 'd1': price: bsonType ['int', 'long']: '12.90'; tracks: minItems 1: []
	// bsonType 'object'
	// required ['_id', 'price']
	// properties {_id: {bsonType: 'string'}, price: {bsonType: ['int', 'long'], minimum: 0}, text: {bsonType: 'string'}, tags: {bsonType: 'array', maxItems: 10, uniqueItems: true, items: {bsonType: 'string'}}}
	//    bsonType 'object'
	//    required ['author', 'kind']
	//    properties {kind: {bsonType: 'string', enum: ['book']}, author: {bsonType: 'string'}, isbn: {bsonType: 'string', pattern: '^[0-9]{13}$'}}
	//    bsonType 'object'
	//    required ['artist', 'tracks', 'kind']
	//    properties {kind: {bsonType: 'string', enum: ['disc']}, artist: {bsonType: 'string'}, tracks: {bsonType: 'array', minItems: 1, maxItems: 99, items: {bsonType: 'object', required: ['title', 'seconds'], properties: {title: {bsonType: 'string'}, seconds: {bsonType: 'int', minimum: 0, exclusiveMinimum: true}}}}}
	// [] <nil>
	// Document failed validation: oneOf
}
