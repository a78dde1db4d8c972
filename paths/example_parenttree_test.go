package paths_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
)

// A comment answers another one.
type comment struct {
	ID     string  `bson:"_id"`
	Parent *string `bson:"parent"` // null for the first of a thread
	Order  string  `bson:"order"`
	Change int64   `bson:"change"`
	Text   string  `bson:"text"`
}

var (
	comments = model.NewCollection[comment, string]("comments")
	threads  = paths.NewParentTree(comments, paths.TreeSpec{})
)

// Comments move from thread to thread; each names the one that it answers.
func ExampleNewParentTree() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("site")

	hello, spam := "hello", "spam"
	if _, err := threads.Load([]comment{
		{ID: "hello", Text: "Hello"}, {ID: "hi", Parent: &hello, Text: "Hi"}, {ID: "spam", Text: "Buy"},
		{ID: "indeed", Parent: &spam, Text: "Indeed"},
	}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	thread, err := comments.ByID("hello").One(ctx, db)
	fmt.Println(threads.Children(&thread), err)
	fmt.Println(threads.Descendants(&thread, 0))

	// What a move would write, and its price.
	move := threads.Move("spam", paths.FirstChild("hello"))
	plan, err := move.Plan(ctx, db)
	fmt.Println(plan, err)
	fmt.Println(plan.Cost())
	// Output:
	// db.comments.find({parent: 'hello'}).sort({order: 1, _id: 1}) <nil>
	// db.comments.aggregate([{$match: {_id: 'hello'}}, {$project: {_id: 1}}, {$graphLookup: {from: 'comments', startWith: '$_id', connectFromField: '_id', connectToField: 'parent', as: 'nodes', depthField: '_distance'}}, {$unwind: '$nodes'}, {$sort: {'nodes._distance': 1}}, {$replaceRoot: {newRoot: '$nodes'}}, {$unset: '_distance'}])
	// db.comments.updateOne({_id: 'spam', parent: null, order: 'a1', change: {$not: {$gte: Long('1')}}}, {$set: {parent: 'hello', order: 'Zz', change: Long('1')}}) <nil>
	// 1 command, 1 document written, by _id_
}
