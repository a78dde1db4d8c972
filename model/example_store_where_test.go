package model_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Only its owner may change a page. The service tells a page of somebody else from a missing
// one.
func ExampleStore_Where() {
	type Page struct {
		ID    string   `bson:"_id"`
		Owner string   `bson:"owner"`
		Text  string   `bson:"text"`
		Tags  []string `bson:"tags"`
	}
	pages := model.NewCollection[Page, string]("pages")
	wiki := model.New("wiki", model.Entity(pages))
	store := model.NewStore(wiki, pages)
	errForbidden := errors.New("the page belongs to somebody else")

	ctx := context.Background()
	client, stop := mongotest.Start()
	defer stop()
	db := wiki.On(client.Database("wiki"))

	_, _, err := store.Insert(Page{ID: "home", Owner: "ann", Tags: []string{"start", "help"}}).Run(ctx, db)
	fmt.Println(err)

	mine := store.Where(bson.D{{Key: "owner", Value: "bob"}}, errForbidden)
	_, _, err = mine.Set("home", bson.D{{Key: "text", Value: "Hello"}}).Run(ctx, db)
	fmt.Println(err)
	_, _, err = mine.Delete("about").Run(ctx, db)
	fmt.Println(errors.Is(err, model.ErrNotFound))

	var tags []string
	err = pages.Find(nil).Distinct(ctx, db, "tags", &tags)
	fmt.Println(tags, err)
	// Output:
	// <nil>
	// the page belongs to somebody else (pages {_id: 'home'})
	// true
	// [help start] <nil>
}
