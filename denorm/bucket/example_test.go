package bucket_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A post has any number of comments, and its page shows a hundred at a time. They are stored as they are shown: a
// document for each hundred. Here it is three.
type comment struct {
	ID    bson.ObjectID `bson:"id"`
	Text  string        `bson:"text"`
	Likes int           `bson:"likes"`
}

var (
	commentPages = model.NewCollection[bucket.Doc[string, comment], string]("comments")
	comments     = bucket.New(commentPages, bucket.Spec{
		Max: 3, ElementKey: "id", Totals: []string{"likes"},
	})
)

func ExampleBucket() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("blog")

	var last comment
	for i := range 8 {
		last = comment{ID: bson.ObjectID{11: byte(i + 1)}, Text: fmt.Sprint("comment ", i+1), Likes: i}
		if _, err := comments.Append("hello-world", last).Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}
	// The one whose answer was lost is appended again, and adds nothing.
	if _, err := comments.Append("hello-world", last).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	w := comments.AppendTo("hello-world", 2, last) // what the last append sent
	fmt.Println(w)
	fmt.Println(w.Cost())

	// The newest page first.
	newest := comments.Newest("hello-world").Limited(2).After()
	fmt.Println(newest)
	pages, err := newest.All(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, page := range pages {
		fmt.Println("page", page.Seq+1)
		for _, c := range page.Items {
			fmt.Println("-", c.Text)
		}
		fmt.Println("  likes:", page.Totals["likes"].Sum)
	}

	all, err := comments.Totals("hello-world").One(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(all.N, "comments on", all.Buckets, "pages,", all.Totals["likes"].Sum, "likes")
	// Output:
	// db.comments.updateOne({_id: 'hello-world#0000000002', n: {$lt: 3}, closed: {$ne: true}, 'items.id': {$ne: ObjectId('000000000000000000000008')}}, {$push: {items: {id: ObjectId('000000000000000000000008'), text: 'comment 8', likes: 7}}, $inc: {n: 1, bytes: Long('52'), 'totals.likes.sum': Long('7')}, $min: {'totals.likes.min': Long('7')}, $max: {'totals.likes.max': Long('7')}, $setOnInsert: {key: 'hello-world', seq: Long('2')}}, {upsert: true})
	// 1 command, 1 document written, by _id_
	// db.comments.find({_id: {$gte: 'hello-world#', $lt: 'hello-world$'}}).sort({_id: -1}).limit(2)
	// page 3
	// - comment 7
	// - comment 8
	//   likes: 13
	// page 2
	// - comment 4
	// - comment 5
	// - comment 6
	//   likes: 12
	// 8 comments on 3 pages, 28 likes
}
