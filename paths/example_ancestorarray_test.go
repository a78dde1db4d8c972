package paths_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
)

// A part of a catalog holds the ids of all categories above it.
type part struct {
	ID        string   `bson:"_id"`
	Parent    *string  `bson:"parent"`
	Order     string   `bson:"order"`
	Change    int64    `bson:"change"`
	Ancestors []string `bson:"ancestors,omitempty"`
}

var (
	catalog     = model.NewCollection[part, string]("catalog")
	catalogTree = paths.NewAncestorArray(catalog, paths.AncestorArraySpec{})
)

// All that lies below a category is found by one condition, which other conditions can stand beside.
func ExampleNewAncestorArray() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	tree := catalogTree

	books, databases := "books", "databases"
	if _, err := tree.Load([]part{
		{ID: "books"}, {ID: "programming", Parent: &books}, {ID: "databases", Parent: &books},
		{ID: "mongodb", Parent: &databases},
	}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := tree.Move("databases", paths.LastChild("programming")).Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	mongodb, err := catalog.ByID("mongodb").One(ctx, db)
	fmt.Println(mongodb.Ancestors, err)

	query := tree.Ancestors(&mongodb)
	fmt.Println(query)
	above, err := query.All(ctx, db)
	for _, c := range above {
		fmt.Print(c.ID, " > ")
	}
	fmt.Println("mongodb", err)
	below := tree.Descendants(&above[0], 2)
	fmt.Println(below)
	fmt.Println(below.Cost())
	// Output:
	// [books programming databases mongodb] <nil>
	// db.catalog.aggregate([{$match: {_id: {$in: ['books', 'programming', 'databases']}}}, {$set: {_distance: {$indexOfArray: [{$literal: ['books', 'programming', 'databases']}, '$_id']}}}, {$sort: {_distance: 1}}, {$unset: '_distance'}])
	// books > programming > databases > mongodb <nil>
	// db.catalog.aggregate([{$match: {ancestors: 'books', _id: {$ne: 'books'}, 'ancestors.3': {$exists: false}}}])
	// 1 command and one per further batch, by ancestors_1
}
