package model_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A garden centre has plants.
type plant struct {
	ID     string   `bson:"_id"`
	Height int32    `bson:"height"` // in cm
	Likes  []string `bson:"likes,omitempty"`
}

// The type parameters are the type of the documents and the type of their _id.
// NewCollection panics if they don't fit each other.
var plants = model.NewCollection[plant, string]("plants")

func ExampleCollection() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("garden")

	// Each method returns a value, and nothing is sent until it runs.
	insert := plants.InsertMany([]plant{
		{"fern", 60, []string{"shade"}}, {"sage", 40, []string{"sun"}}, {"rose", 120, nil},
	})
	fmt.Println(insert)
	if _, err := insert.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	grow := plants.Update("fern", bson.D{{Key: "$inc", Value: bson.D{{Key: "height", Value: 5}}}})
	fmt.Println(grow)
	fmt.Println(grow.Cost())
	if _, err := grow.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plants.ByID("fern").One(ctx, db))
	_, err := plants.ByID("ivy").One(ctx, db)
	fmt.Println(errors.Is(err, model.ErrNotFound), err)

	// Filters and updates are compared with the type. A wrong name or type is an error
	// before anything is sent.
	_, err = plants.Find(bson.D{{Key: "heigth", Value: 60}}).All(ctx, db)
	fmt.Println(err)
	_, err = plants.Find(bson.D{{Key: "height", Value: "60"}}).All(ctx, db)
	var wrong *model.ValueError
	fmt.Println(errors.As(err, &wrong), wrong)
	// Output:
	// db.plants.insertOne({_id: 'fern', height: 60, likes: ['shade']})
	// db.plants.insertOne({_id: 'sage', height: 40, likes: ['sun']})
	// db.plants.insertOne({_id: 'rose', height: 120})
	// db.plants.updateOne({_id: 'fern'}, {$inc: {height: 5}})
	// 1 command, 1 document written, by _id_
	// {fern 65 [shade]} <nil>
	// true docmodel: not found: mongo: no documents in result (plants {_id: 'ivy'})
	// docmodel: plants: heigth: model_test.plant stores no field "heigth"; did you mean "height"? Its fields: _id, height, likes
	// true docmodel: plants: height: is a string, but the field is of type int32: '60'
}
