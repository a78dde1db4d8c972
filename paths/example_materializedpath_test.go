package paths_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A department's name is its part of the path.
type department struct {
	ID     bson.ObjectID  `bson:"_id"`
	Name   string         `bson:"name"`
	Parent *bson.ObjectID `bson:"parent"`
	Order  string         `bson:"order"`
	Change int64          `bson:"change"`
	Path   string         `bson:"path"`
}

var (
	departments = model.NewCollection[department, bson.ObjectID]("departments")
	byName      = paths.NewMaterializedPath(departments, paths.MaterializedPathSpec{Segment: "name"})
)

// A department and all below it are one range of an index, and so is a department by its names.
func ExampleNewMaterializedPath() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	tree := byName

	ids := make([]bson.ObjectID, 4)
	for i := range ids {
		ids[i] = bson.ObjectID{11: byte(i + 1)}
	}
	if _, err := tree.Load([]department{
		{ID: ids[0], Name: "Clothing"}, {ID: ids[1], Name: "Men's", Parent: &ids[0]},
		{ID: ids[2], Name: "Shoes/Boots", Parent: &ids[1]},
		{ID: ids[3], Name: "Women's", Parent: &ids[0]},
	}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := tree.Rename(ids[1], "Men").Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	boots, err := departments.ByID(ids[2]).One(ctx, db)
	fmt.Println(boots.Path, paths.Segments(boots.Path), err)
	_, err = tree.Rename(ids[1], "Women's").Run(ctx, db)
	fmt.Println(err)

	men, err := departments.ByID(ids[1]).One(ctx, db)
	below := byName.Descendants(&men, 0)
	fmt.Println(below, err)
	fmt.Println(below.Cost())
	fmt.Println(byName.Ancestors(&boots))
	// Output:
	// Clothing/Men/Shoes%2FBoots/ [Clothing Men Shoes/Boots] <nil>
	// docmodel: the segment can't be part of the path: sibling ObjectId('000000000000000000000004') has the same segment
	// db.departments.aggregate([{$match: {path: {$gt: 'Clothing/Men/', $lt: 'Clothing/Men0'}}}]) <nil>
	// 1 command and one per further batch, by path_1
	// db.departments.aggregate([{$match: {path: {$in: ['Clothing/', 'Clothing/Men/']}}}, {$sort: {path: 1}}])
}
