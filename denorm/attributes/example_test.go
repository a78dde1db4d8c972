package attributes_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/attributes"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Articles of a shop differ in what is to be said of them: a shoe has a size, a lamp a wattage.
type article struct {
	ID    string        `bson:"_id"`
	Specs []articleSpec `bson:"specs,omitempty"`
}

type articleSpec struct {
	K string `bson:"k"`
	V any    `bson:"v"`
}

var (
	articles     = model.NewCollection[article, string]("articles")
	articleSpecs = attributes.New(articles, "specs", attributes.Spec{})
)

func ExampleAttributes() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")

	shop := articles.InsertMany([]article{
		{"lamp", []articleSpec{{"watt", 40}, {"color", "white"}}},
		{"spot", []articleSpec{{"watt", 7}}},
		{"shoe", []articleSpec{{"size", 43}, {"color", "white"}}},
	})
	if _, err := shop.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	change := articleSpecs.Set("spot", bson.D{{Key: "watt", Value: 5}, {Key: "color", Value: "white"}})
	fmt.Println(change.Cost())
	if _, err := change.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	// One index serves every attribute.
	fmt.Print(model.New("shop", articleSpecs).Indexes())
	white := articleSpecs.Equal("color", "white").
		Where(articleSpecs.Match("watt", bson.D{{Key: "$lt", Value: 30}}).Filter)
	fmt.Println(white)
	for found, err := range white.Each(ctx, db) {
		fmt.Println(found, err)
	}
	uses, err := articleSpecs.Survey().All(ctx, db)
	fmt.Println(uses, err)
	// Output:
	// 1 command, 1 document written, by _id_
	// db.articles.createIndex({'specs.k': 1, 'specs.v': 1})
	// db.articles.find({$and: [{specs: {$elemMatch: {k: 'color', v: 'white'}}}, {specs: {$elemMatch: {k: 'watt', v: {$lt: 30}}}}]})
	// {spot [{watt 5} {color white}]} <nil>
	// [{color string 3} {size int 1} {watt int 2}] <nil>
}
