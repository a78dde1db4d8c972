package model_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A comment counts in its thread and for its author.
type (
	threadComment struct {
		ID     string `bson:"_id"`
		Thread string `bson:"thread"`
		Author string `bson:"author"`
	}
	commented struct {
		ID       string `bson:"_id"`
		Comments int64  `bson:"comments"`
		Last     string `bson:"last,omitempty"`
	}
)

var (
	comments = model.NewCollection[threadComment, string]("comments")
	threads  = model.NewCollection[commented, string]("threads")
	authors  = model.NewCollection[commented, string]("authors")

	onThread = counter.New(comments, "thread", threads, counter.Spec{Count: "comments"})
	byAuthor = counter.New(comments, "author", authors, counter.Spec{Count: "comments"})

	commentStore = model.NewStore(model.New("threads", onThread, byAuthor), comments)
)

// One insert, two counts and the author's last comment are one plan.
func ExampleChange_Also() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("blog")
	begin := model.NewPlan(threads.Insert(commented{ID: "go"}), authors.Insert(commented{ID: "ann"}))
	if _, err := begin.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	c := threadComment{ID: "c1", Thread: "go", Author: "ann"}
	last := authors.Update("ann", bson.D{{Key: "$set", Value: bson.D{{Key: "last", Value: c.ID}}}})
	result, err := commentStore.Insert(c).Also(last).Run(ctx, db)
	fmt.Println(len(result.Steps), "documents written", err)
	fmt.Println(threads.ByID("go").One(ctx, db))
	fmt.Println(authors.ByID("ann").One(ctx, db))
	// Output:
	// 3 documents written <nil>
	// {go 1 } <nil>
	// {ann 1 c1} <nil>
}
