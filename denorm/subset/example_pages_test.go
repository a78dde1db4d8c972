package subset_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/subsetpages"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A story's page shows its newest comments: they are in the story. All comments are stored
// in pages beside it, a hundred to a document. Here two are in the story, and three are on a
// page.
type (
	pagedStory struct {
		ID     string         `bson:"_id"`
		Title  string         `bson:"title"`
		Newest []storyComment `bson:"newest,omitempty"`
	}
	storyComment struct {
		ID   int    `bson:"id"`
		At   int    `bson:"at"`
		Text string `bson:"text"`
	}
)

var (
	pagedStories = model.NewCollection[pagedStory, string]("stories")
	storyPages   = bucket.New(
		model.NewCollection[bucket.Doc[string, storyComment], string]("comments"),
		bucket.Spec{Max: 3, ElementKey: "id"})
	storyComments = subsetpages.New(pagedStories, "newest", storyPages,
		subsetpages.Spec{Max: 2, By: bson.D{{Key: "at", Value: -1}}})
)

func ExampleSubset_pages() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("blog")
	if _, err := model.NewPlan(pagedStories.Insert(pagedStory{ID: "hello", Title: "Hello"})).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	for n := range 7 {
		c := storyComment{ID: n + 1, At: n + 1, Text: fmt.Sprint("comment ", n+1)}
		if _, err := storyComments.Append("hello", c).Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}
	// What one more sends: its page first, then the story.
	add := storyComments.Append("hello", storyComment{ID: 8, At: 8, Text: "comment 8"})
	plan, err := add.Plan(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan)
	fmt.Println(plan.Cost())

	// The story alone is the first page.
	story, err := pagedStories.ByID("hello").One(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range story.Newest {
		fmt.Println("-", c.Text)
	}
	// The next pages are one document each, without what the story holds.
	pages, err := storyComments.Rest(&story, "", 2).All(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, page := range pages {
		fmt.Println("page", page.Seq+1)
		for _, c := range page.Items {
			fmt.Println("-", c.Text)
		}
	}
	// Output:
	// db.comments.updateOne({_id: 'hello#0000000002', n: {$lt: 3}, closed: {$ne: true}, 'items.id': {$ne: 8}}, {$push: {items: {id: 8, at: 8, text: 'comment 8'}}, $inc: {n: 1, bytes: Long('41')}})
	// db.stories.updateOne({_id: 'hello', 'newest.id': {$ne: 8}}, {$push: {newest: {$each: [{id: 8, at: 8, text: 'comment 8'}], $sort: {at: -1, id: -1}, $slice: 2}}})
	// 2 commands, 2 documents written, by _id_
	// - comment 7
	// - comment 6
	// page 2
	// - comment 4
	// - comment 5
	// page 1
	// - comment 1
	// - comment 2
	// - comment 3
}
