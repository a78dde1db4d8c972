package migrate_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/migrate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A post embeds its comments, and the comments grow without bound. They become documents of their own, which hold the
// post's id and their place.
type blogPost struct {
	ID       string       `bson:"_id"`
	Title    string       `bson:"title"`
	Comments []postRemark `bson:"comments,omitempty"`
}

type postRemark struct {
	ID     int    `bson:"id"`
	Author string `bson:"author"`
	Text   string `bson:"comment"`
}

type blogRemark struct {
	ID     int    `bson:"_id"`
	Author string `bson:"author"`
	Text   string `bson:"comment"`
	Post   string `bson:"post"`
	Place  int    `bson:"place"`
}

var (
	blogPosts   = model.NewCollection[blogPost, string]("posts")
	blogRemarks = model.NewCollection[blogRemark, int]("comments")
	takenOut    = migrate.NewExtract(blogPosts, "comments", blogRemarks, migrate.ExtractSpec[string, int]{
		Key: "id", Parent: "post", Order: "place",
	})
)

func ExampleNewExtract() {
	monitor := mongotest.NewMonitor()
	client, stop := mongotest.Start(monitor)
	defer stop()
	ctx, db := context.Background(), client.Database("blog")

	post := blogPost{"1", "What's new in the coolest Cloud", []postRemark{
		{1, "anon", "something useful, I'm sure"}, {2, "bob", "wisdom from the interwebs"},
	}}
	if _, err := blogPosts.Insert(post).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	if err := model.New("blog", takenOut).Indexes().Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	monitor.Reset()
	copied, err := takenOut.Copy().Run(ctx, db, model.JobOptions{})
	fmt.Println("copied", copied.Modified, err)
	fmt.Println(monitor.Cost())

	// Meanwhile people comment, and correct what they wrote, in the old form. Verify sees it, and a second pass copies it.
	for _, update := range []bson.D{
		{{Key: "$set", Value: bson.D{{Key: "comments.1.comment", Value: "wisdom, corrected"}}}},
		{{Key: "$push", Value: bson.D{{Key: "comments", Value: postRemark{3, "jane", "and on we go"}}}}},
	} {
		if _, err := blogPosts.Update("1", update).Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}
	for mismatch, err := range takenOut.Verify().Each(ctx, db) {
		fmt.Println(mismatch, err)
	}
	copied, err = takenOut.Copy().Run(ctx, db, model.JobOptions{})
	fmt.Println("copied", copied.Modified, err)
	n, err := takenOut.Verify().All(ctx, db)
	fmt.Println("disagree", n, err)

	dropped, err := takenOut.Drop().Run(ctx, db, model.JobOptions{})
	fmt.Println("dropped", dropped.Modified, err)
	stored, err := blogPosts.ByID("1").One(ctx, db)
	fmt.Println(stored, err)
	for remark, err := range blogRemarks.Find(nil).Each(ctx, db) {
		fmt.Println(remark, err)
	}
	// Output:
	// copied 2 <nil>
	// 13 commands, 3 documents written, 6 returned
	// posts '1': differing: [2] <nil>
	// posts '1': missing: [3] <nil>
	// copied 2 <nil>
	// disagree [] <nil>
	// dropped 4 <nil>
	// {1 What's new in the coolest Cloud []} <nil>
	// {1 anon something useful, I'm sure 1 0} <nil>
	// {2 bob wisdom, corrected 1 1} <nil>
	// {3 jane and on we go 1 2} <nil>
}
