package paths_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
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

// Topics that list their children, and know nothing of their parents, become a tree; then they are moved, and read page by page.
func ExampleChildTree() {
	client, stop := modeltest.Start()
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
	if _, _, err := topicTree.Adopt(paths.TreeSpec{}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	tree := topicTree.Tree(paths.TreeSpec{})
	if _, _, err := tree.Insert(topic{ID: "Go"}, paths.LastChild("Languages")).Run(ctx, db); err != nil {
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
	databases, books, programming, maps := read("Databases"), read("Books"), read("Programming"), read("Maps")

	// What a move writes, and its price. Tree reads what it needs, and keeps other writers away.
	move := topicTree.Move(databases, paths.At[topic]{Parent: books, Prev: programming, Next: maps}, 9)
	fmt.Println(move)
	fmt.Println(move.Cost())
	if _, _, err := tree.Move("Databases", paths.After("Programming")).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	fmt.Println(topicTree.Descendants(books, 0))
	var walk []string
	for v, err := range tree.Walk(ctx, db, "Books") {
		if walk = append(walk, strings.Repeat(">", v.Depth)+v.Doc.ID); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(walk)
	page, err := topicTree.Page("Books", 1, 2).All(ctx, db)
	for _, t := range page {
		fmt.Print(t.ID, " ", len(t.Children), "; ")
	}
	fmt.Println(err)
	fmt.Println(topicTree.CountChildren("Books"))
	fmt.Println(topicTree.Listing("MongoDB"))
	// Output:
	// db.topics.updateOne({_id: 'Books', children: {$ne: 'Databases'}, change: {$not: {$gt: Long('9')}}}, {$push: {children: {$each: ['Databases'], $position: 1}}, $set: {change: Long('9')}})
	// db.topics.updateOne({_id: 'Databases', parent: 'Programming', order: 'a0', change: {$not: {$gte: Long('9')}}}, {$set: {parent: 'Books', order: 'a0V', change: Long('9')}})
	// db.topics.updateOne({_id: 'Programming', children: {$elemMatch: {$eq: 'Databases'}}, change: {$not: {$gt: Long('9')}}}, {$pullAll: {children: ['Databases']}, $set: {change: Long('9')}})
	// // if stale: db.topics.updateOne({_id: 'Books', children: {$elemMatch: {$eq: 'Databases'}}, change: Long('9')}, {$pullAll: {children: ['Databases']}})
	// 3 commands, 3 documents written, by _id_
	// db.topics.aggregate([{$match: {_id: 'Books'}}, {$project: {children: 1}}, {$graphLookup: {from: 'topics', startWith: '$children', connectFromField: 'children', connectToField: '_id', as: 'nodes', depthField: '_distance'}}, {$unwind: '$nodes'}, {$sort: {'nodes._distance': 1}}, {$replaceRoot: {newRoot: '$nodes'}}, {$unset: '_distance'}])
	// [Books >Programming >>Languages >>>Go >Databases >>MongoDB >>dbm >Maps]
	// Databases 2; Maps 0; <nil>
	// db.topics.aggregate([{$match: {_id: 'Books'}}, {$project: {_id: 0, n: {$size: {$ifNull: ['$children', []]}}}}])
	// db.topics.find({children: 'MongoDB'})
}
