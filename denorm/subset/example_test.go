package subset_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/subset"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A post is shown with its newest comments; who wants to read the others pages through them. Unbounded, the comments
// would outgrow the post.
type (
	blogPost struct {
		ID     string         `bson:"_id"`
		Title  string         `bson:"title"`
		Recent []shownComment `bson:"recent,omitempty"`
	}
	shownComment struct {
		ID   string `bson:"_id"`
		Time int    `bson:"time"`
		Text string `bson:"text"`
	}
	reply struct {
		ID    string `bson:"_id"`
		Post  string `bson:"post"`
		Time  int    `bson:"time"`
		Text  string `bson:"text"`
		Email string `bson:"email"`
	}
)

var (
	blogPosts = model.NewCollection[blogPost, string]("posts")
	replies   = model.NewCollection[reply, string]("comments")
	recent    = subset.New(replies, "post", blogPosts, "recent", subset.Spec{
		Max: 2, By: bson.D{{Key: "time", Value: -1}}, Fields: []string{"text"},
	})
	replyStore = model.NewStore(model.New("blog", model.Entity(blogPosts), recent), replies)
)

func ExampleSubset() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("blog")
	run := func(c model.ChangeOf[model.Stored[reply]]) {
		if _, _, err := c.Run(ctx, db); err != nil {
			fmt.Println(err)
		}
	}

	if _, err := blogPosts.Insert(blogPost{ID: "p1", Title: "Six rules"}).Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	run(replyStore.Insert(reply{ID: "c1", Post: "p1", Time: 9, Text: "First!", Email: "a@x"}))
	run(replyStore.Insert(reply{ID: "c2", Post: "p1", Time: 10, Text: "Thanks."}))
	run(replyStore.Insert(reply{ID: "c3", Post: "p1", Time: 11, Text: "Why six?"}))

	// The post shows two, and knows where the rest begins.
	post, err := blogPosts.ByID("p1").One(ctx, db)
	fmt.Println(post.Recent, err)
	fmt.Println(recent.Rest(&post).Limited(10))

	// One is deleted, and the next takes its place.
	run(replyStore.Delete("c2"))
	post, err = blogPosts.ByID("p1").One(ctx, db)
	fmt.Println(post.Recent, err)

	// A comment that is deleted past the store is found.
	if _, err := replies.Delete("c3").Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	check := recent.Checks()[0]
	found, err := check.All(ctx, db)
	fmt.Println(found, err)
	if _, err := check.Mend(found).Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	post, err = blogPosts.ByID("p1").One(ctx, db)
	fmt.Println(post.Recent, err)
	// Output:
	// [{c3 11 Why six?} {c2 10 Thanks.}] <nil>
	// db.comments.find({post: 'p1', time: {$lte: 10}, $or: [{time: {$lt: 10}}, {time: 10, _id: {$lt: 'c2'}}]}).sort({time: -1, _id: -1}).limit(10)
	// [{c3 11 Why six?} {c1 9 First!}] <nil>
	// [posts 'p1': holds 2 children, but should hold 1] <nil>
	// [{c1 9 First!}] <nil>
}
