package model_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A museum has exhibits. An exhibit hangs in a hall and has labels in several languages.
type (
	hall struct {
		ID   string `bson:"_id"`
		Name string `bson:"name"`
	}
	exhibit struct {
		ID     string         `bson:"_id"`
		Hall   string         `bson:"hall"`
		Labels []exhibitLabel `bson:"labels,omitempty"`
	}
	exhibitLabel struct {
		Language string `bson:"language"`
		Text     string `bson:"text"`
	}
)

var (
	halls    = model.NewCollection[hall, string]("halls")
	exhibits = model.NewCollection[exhibit, string]("exhibits")
	hangsIn  = parentref.New(exhibits, "hall", halls, parentref.Spec{})
	labels   = embed.NewEmbedded[exhibitLabel](exhibits, "labels", embed.EmbeddedSpec{Key: "language", Max: 9})
	byName   = model.NewIndex("halls", bson.D{{Key: "name", Value: 1}})

	// The model is declared once, beside its techniques. An Entity is a collection with
	// indexes of the application's own.
	museum = model.New("museum", model.Entity(halls, byName), hangsIn, labels)
)

func ExampleModel() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, database := context.Background(), client.Database("museum")

	// For a deployment: the indexes and the features that all techniques need together.
	fmt.Print(museum.Indexes())
	fmt.Println(museum.Needs())
	if err := museum.Indexes().Ensure(ctx, database); err != nil {
		fmt.Println(err)
		return
	}

	// For the running program: a database on which it reaches only the model's
	// collections.
	db := museum.On(database)
	if _, err := halls.Insert(hall{"east", "East Hall"}).Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	coins := model.NewCollection[hall, string]("coins")
	_, err := coins.Find(nil).All(ctx, db)
	var conflict *model.ConflictError
	fmt.Println(errors.As(err, &conflict), err)

	// For a nightly job: every check of every technique.
	for _, check := range museum.Checks() {
		fmt.Println(check.Name, "-", check.Rule)
	}
	twice := []exhibitLabel{{"en", "A vase"}, {"en", "A jug"}}
	if _, err := exhibits.Insert(exhibit{ID: "vase", Hall: "east", Labels: twice}).Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	for finding, err := range museum.Audit().Each(ctx, db) {
		fmt.Println("found:", finding, err)
	}
	// Output:
	// db.halls.createIndex({name: 1})
	// db.exhibits.createIndex({hall: 1, _id: -1})
	// db.exhibits.createIndex({'labels.language': 1})
	// [transactions: embed.Embedded: Move between arrays of exhibits]
	// true docmodel: coins: isn't a collection of the model museum: give New the technique that uses it, or model.Entity of it
	// exhibits.labels: repeated keys - each key occurs once in labels
	// exhibits.labels: too many elements - labels has at most 9 elements
	// exhibits.labels: null - labels isn't null
	// exhibits.labels: malformed - labels is an array of documents, each with a key at language
	// found: exhibits 'vase': holds the key 'en' 2 times <nil>
}
