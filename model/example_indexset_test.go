package model_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Readers of a phone book look up a name, a name in a town, or a number.
type subscriber struct {
	ID     string `bson:"_id"`
	Name   string `bson:"name"`
	Town   string `bson:"town"`
	Number string `bson:"number"`
}

var (
	subscribers = model.NewCollection[subscriber, string]("subscribers")
	byNumber    = model.Index{
		Collection: "subscribers", Name: "number_1", Keys: bson.D{{Key: "number", Value: 1}},
		Unique: true, Why: "a number has one subscriber",
	}
	phoneBook = model.New("phone book", model.Entity(subscribers,
		model.NewIndex("subscribers", bson.D{{Key: "name", Value: 1}}),
		model.NewIndex("subscribers", bson.D{{Key: "name", Value: 1}, {Key: "town", Value: 1}}),
		byNumber,
	))
)

func ExampleIndexSet() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("phone")

	// The set leaves out an index whose keys are the first keys of another.
	set := phoneBook.Indexes()
	fmt.Print(set)

	// The database has an index that the model doesn't need, and an index that lacks
	// the option unique.
	if _, err := db.Collection("subscribers").Indexes().CreateMany(ctx, []mongo.IndexModel{
		{Keys: bson.D{{Key: "town", Value: 1}}, Options: options.Index().SetName("old")},
		{Keys: bson.D{{Key: "number", Value: 1}}},
	}); err != nil {
		fmt.Println(err)
		return
	}
	diff, err := set.Diff(ctx, db)
	fmt.Println("missing:", diff.Missing)
	fmt.Println("changed:", diff.Changed)
	fmt.Println("extra:", diff.Extra, err)

	// Ensure creates what is missing and drops nothing. So the changed index is an error,
	// and a person has to drop it.
	fmt.Println("refused:", set.Ensure(ctx, db) != nil)
	if err := db.Collection("subscribers").Indexes().DropOne(ctx, "number_1"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(set.Ensure(ctx, db))
	diff, err = set.Diff(ctx, db)
	fmt.Println(diff.Empty(), err)
	// Output:
	// db.subscribers.createIndex({name: 1, town: 1})
	// db.subscribers.createIndex({number: 1}, {name: 'number_1', unique: true})
	// // subscribers.name_1 is covered by name_1_town_1: its keys are the first of name_1_town_1
	// missing: [db.subscribers.createIndex({name: 1, town: 1})]
	// changed: [db.subscribers.createIndex({number: 1}, {name: 'number_1', unique: true})]
	// extra: [subscribers.old] <nil>
	// refused: true
	// <nil>
	// true <nil>
}
