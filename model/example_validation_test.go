package model_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A clinic measures temperatures. Other programs write to the collection too, so the
// server refuses impossible values.
type temperature struct {
	ID      string  `bson:"_id"`
	Celsius float64 `bson:"celsius"`
}

var (
	temperatures = model.NewCollection[temperature, string]("temperatures")
	possible     = model.Validation{
		Collection: temperatures.Name(),
		Validator:  bson.D{{Key: "celsius", Value: bson.D{{Key: "$gte", Value: 30}, {Key: "$lte", Value: 45}}}},
		Level:      "moderate", // documents that were wrong before can still be changed
	}
)

func ExampleValidation() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("clinic")
	fmt.Println(possible)

	// Diff only compares. Ensure creates the validation. A second Ensure finds nothing to
	// do.
	_, differs, err := possible.Diff(ctx, db)
	fmt.Println("differs:", differs, err)
	fmt.Println(possible.Ensure(ctx, db))
	_, differs, err = possible.Diff(ctx, db)
	fmt.Println("differs:", differs, err)

	_, err = temperatures.Insert(temperature{"ann", 365}).Run(ctx, db)
	var server mongo.ServerError
	fmt.Println("refused:", errors.As(err, &server) && server.HasErrorCode(121))
	_, err = temperatures.Insert(temperature{"ann", 36.5}).Run(ctx, db)
	fmt.Println(err)

	// Diff names what differs, and tells what the server has.
	warn := possible
	warn.Action = "warn"
	have, differs, err := warn.Diff(ctx, db)
	fmt.Println(have.Action, differs, err)
	// Output:
	// db.runCommand({collMod: 'temperatures', validator: {celsius: {$gte: 30, $lte: 45}}, validationLevel: 'moderate', validationAction: 'error'})
	// differs: [collection] <nil>
	// <nil>
	// differs: [] <nil>
	// refused: true
	// <nil>
	// error [validationAction] <nil>
}
