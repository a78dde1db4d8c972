package model_test

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A newspaper keeps the headlines of its articles in a collection of their own, and a
// stream keeps them up to date.
type (
	article struct {
		ID    string `bson:"_id"`
		Title string `bson:"title"`
		Text  string `bson:"text"`
	}
	headline struct {
		ID    string `bson:"_id"`
		Title string `bson:"title"`
	}
)

var (
	articles  = model.NewCollection[article, string]("articles")
	headlines = model.NewCollection[headline, string]("headlines")
)

// headlineStream plans a write for each change of an article. An event can come twice, so
// the plans must be repeatable.
var headlineStream = model.Stream{
	Name: "headlines", Collection: "articles", Places: "places",
	Plan: func(e model.Event) (model.Plan, error) {
		id := e.ID.StringValue()
		if e.Kind == model.Deleted {
			fmt.Println(e.Kind, id)
			return model.NewPlan(headlines.Delete(id)), nil
		}
		var a article
		if err := bson.Unmarshal(e.Document, &a); err != nil {
			return model.Plan{}, err
		}
		fmt.Println(e.Kind, id, "-", a.Title)
		upsert := true
		return model.NewPlan(model.Write{Collection: "headlines", Model: &mongo.UpdateOneModel{
			Filter: bson.D{{Key: "_id", Value: id}}, Upsert: &upsert,
			Update: bson.D{{Key: "$set", Value: bson.D{{Key: "title", Value: a.Title}}}},
		}}), nil
	},
}

// Once ends a run when nothing waits. A service leaves it out, and the stream runs until
// its context ends.
func ExampleStream() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("paper")
	follow := model.StreamOptions{Once: true, Wait: 10 * time.Millisecond, Workers: 1}

	// The first run finds what is there already.
	early := []article{{"a1", "Rain", "It rains."}, {"a2", "Snow", "It snows."}}
	if _, err := articles.InsertMany(early).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(headlineStream.Run(ctx, db, follow))

	// The place is stored. The next run goes on from there, with the changes in between.
	for _, write := range []model.Write{
		articles.Insert(article{"a3", "Wind", "It blows."}),
		articles.Update("a1", bson.D{{Key: "$set", Value: bson.D{{Key: "title", Value: "More rain"}}}}),
		articles.Delete("a2"),
	} {
		if _, err := write.Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(headlineStream.Run(ctx, db, follow))
	fmt.Println(headlines.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).All(ctx, db))
	// Output:
	// scanned a1 - Rain
	// scanned a2 - Snow
	// <nil>
	// inserted a3 - Wind
	// updated a1 - More rain
	// deleted a2
	// <nil>
	// [{a1 More rain} {a3 Wind}] <nil>
}
