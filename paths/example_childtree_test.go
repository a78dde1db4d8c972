package paths_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
)

// A topic of a library lists what belongs to it.
type topic struct {
	ID       string   `bson:"_id"`
	Children []string `bson:"children,omitempty"`
	Parent   *string  `bson:"parent"`
	Order    string   `bson:"order"`
	Change   int64    `bson:"change"`
}

var (
	topics    = model.NewCollection[topic, string]("topics")
	topicTree = paths.NewChildTree(topics, paths.ChildTreeSpec{})
)

// Topics that list their children, and know nothing of their parents, become a tree; then they are moved, and read page
// by page.
func ExampleNewChildTree() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("library")

	type lists struct {
		ID       string   `bson:"_id"`
		Children []string `bson:"children"`
	}
	if _, err := db.Collection("topics").InsertMany(ctx, []lists{
		{"Books", []string{"Programming", "Maps"}}, {"Programming", []string{"Databases", "Languages"}},
		{"Databases", []string{"MongoDB", "dbm"}}, {"Languages", nil}, {"MongoDB", nil}, {"dbm", nil}, {"Maps", nil},
	}); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := topicTree.Adopt().Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := topicTree.Insert(topic{ID: "Go"}, paths.LastChild("Languages")).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	read := func(id string) *topic {
		t, err := topics.ByID(id).One(ctx, db)
		if err != nil {
			fmt.Println(err)
		}
		return &t
	}

	// What a move would write, and its price.
	move := topicTree.Move("Databases", paths.After("Programming"))
	plan, err := move.Plan(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan)
	fmt.Println(plan.Cost())
	if _, err := move.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	books := read("Books")
	query := topicTree.Descendants(books, 0)
	fmt.Println(query)
	below, err := query.All(ctx, db)
	if err != nil {
		fmt.Println(err)
	}
	var walk []string
	for v, err := range topicTree.Arrange(books, below) {
		if walk = append(walk, strings.Repeat(">", v.Depth)+v.Doc.ID); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(walk)
	children := topicTree.Children(books).Limited(2)
	fmt.Println(children)
	page, err := children.All(ctx, db)
	for _, t := range page {
		fmt.Print(t.ID, " ", len(t.Children), "; ")
	}
	fmt.Println(err)
	fmt.Println(books.Children)
	// Output:
	// db.topics.updateOne({_id: 'Books', children: {$ne: 'Databases'}, change: {$not: {$gt: Long('2')}}}, {$push: {children: {$each: ['Databases'], $position: 1}}, $set: {change: Long('2')}})
	// db.topics.updateOne({_id: 'Databases', parent: 'Programming', order: 'a0', change: {$not: {$gte: Long('2')}}}, {$set: {parent: 'Books', order: 'a0V', change: Long('2')}})
	// db.topics.updateOne({_id: 'Programming', children: {$elemMatch: {$eq: 'Databases'}}, change: {$not: {$gt: Long('2')}}}, {$pullAll: {children: ['Databases']}, $set: {change: Long('2')}})
	// // if stale: db.topics.updateOne({_id: 'Books', children: {$elemMatch: {$eq: 'Databases'}}, change: Long('2')}, {$pullAll: {children: ['Databases']}})
	// 3 commands, 3 documents written, by _id_
	// db.topics.aggregate([{$match: {_id: 'Books'}}, {$project: {_id: 1}}, {$graphLookup: {from: 'topics', startWith: '$_id', connectFromField: '_id', connectToField: 'parent', as: 'nodes', depthField: '_distance'}}, {$unwind: '$nodes'}, {$sort: {'nodes._distance': 1}}, {$replaceRoot: {newRoot: '$nodes'}}, {$unset: '_distance'}])
	// [Books >Programming >>Languages >>>Go >Databases >>MongoDB >>dbm >Maps]
	// db.topics.find({parent: 'Books'}).sort({order: 1, _id: 1}).limit(2)
	// Programming 1; Databases 2; <nil>
	// [Programming Databases Maps]
}
