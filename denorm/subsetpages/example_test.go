package subsetpages_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/subsetpages"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A comment is edited, and another is deleted. Both are in two places: in a page, and in the
// story that shows the newest two.
type (
	editedStory struct {
		ID     string          `bson:"_id"`
		Newest []editedComment `bson:"newest,omitempty"`
	}
	editedComment struct {
		ID   int    `bson:"id"`
		Text string `bson:"text"`
	}
)

var (
	editedStories = model.NewCollection[editedStory, string]("stories")
	editedPages   = bucket.New(
		model.NewCollection[bucket.Doc[string, editedComment], string]("comments"),
		bucket.Spec{Max: 100, ElementKey: "id"})
	editedComments = subsetpages.New(editedStories, "newest", editedPages,
		subsetpages.Spec{Max: 2, By: bson.D{{Key: "id", Value: -1}}})
)

func ExampleSubsetPages() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("blog")
	if _, err := model.NewPlan(editedStories.Insert(editedStory{ID: "hello"})).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	changes := []model.Change{
		editedComments.Append("hello", editedComment{1, "one"}),
		editedComments.Append("hello", editedComment{2, "two"}),
		editedComments.Append("hello", editedComment{3, "three"}),
		editedComments.Set("hello", 2, bson.D{{Key: "text", Value: "two, edited"}}),
		editedComments.Remove("hello", 3), // the story shows the one before it in its place
	}
	for _, change := range changes {
		if _, err := change.Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
		story, err := editedStories.ByID("hello").One(ctx, db)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(story.Newest)
	}

	// What writes past it is found, and mended.
	past := editedStories.Update("hello", bson.D{{Key: "$unset", Value: bson.D{{Key: "newest", Value: ""}}}})
	if _, err := model.NewPlan(past).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	check := editedComments.Checks()[0]
	found, err := check.All(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found)
	plan := check.Mend(found)
	fmt.Println(plan.Cost())
	// Output:
	// [{1 one}]
	// [{2 two} {1 one}]
	// [{3 three} {2 two}]
	// [{3 three} {2 two, edited}]
	// [{2 two, edited} {1 one}]
	// [stories 'hello': holds 0 elements, but should hold 2]
	// 1 command, 1 document written, by _id_
}
