package paths_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// The catalog of a shop is read all the time, and changed now and then. Every category has two numbers, which lie
// around those of all categories below it: whatever is below Clothing is one range.
type aisle struct {
	ID     string  `bson:"_id"`
	Parent *string `bson:"parent"`
	Order  string  `bson:"order"`
	Left   int64   `bson:"left"`
	Right  int64   `bson:"right"`
	Depth  int     `bson:"depth"`
	Change int64   `bson:"change"`
}

var (
	aisles    = model.NewCollection[aisle, string]("aisles")
	aisleTree = paths.NewNestedSet(aisles, paths.NestedSetSpec{})
)

func ExampleNewNestedSet() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	if err := model.New("shop", aisleTree).Indexes().Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range []struct {
		id string
		at paths.Place[string]
	}{
		{"Clothing", paths.LastRoot[string]()}, {"Men", paths.LastChild("Clothing")}, {"Women", paths.LastChild("Clothing")},
		{"Shoes", paths.LastChild("Men")}, {"Books", paths.LastRoot[string]()}, {"Comics", paths.LastChild("Books")},
	} {
		if _, err := aisleTree.Insert(aisle{ID: c.id}, c.at).Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}

	stored := func(id string) *aisle {
		doc, err := aisles.Find(bson.D{{Key: "_id", Value: id}}).One(ctx, db)
		if err != nil {
			fmt.Println(err)
			return &aisle{}
		}
		return &doc
	}

	clothing := stored("Clothing")
	below := aisleTree.Descendants(clothing, 0)
	fmt.Println(below)
	fmt.Println(below.Cost())
	all, err := below.All(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range all {
		fmt.Printf("%*s%s %d–%d\n", 2*c.Depth, "", c.ID, c.Left, c.Right)
	}

	// Shoes becomes the first child of Clothing: one command of two updates, which can be cut anywhere.
	move := aisleTree.Move("Shoes", paths.FirstChild("Clothing"))
	plan, err := move.Plan(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan)
	fmt.Println(plan.Guarantee())
	result, err := move.Run(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(result.Batches), "command,", result.Batches[0].Modified, "documents written")
	for _, id := range []string{"Clothing", "Shoes", "Men", "Women", "Books"} {
		c := stored(id)
		fmt.Printf("%*s%s %d–%d\n", 2*c.Depth, "", c.ID, c.Left, c.Right)
	}
	// Output:
	// db.aisles.aggregate([{$match: {left: {$gte: Long('2'), $lte: Long('7')}}}, {$sort: {left: 1}}])
	// 1 command and one per further batch, by left_1
	//   Men 2–5
	//     Shoes 3–4
	//   Women 6–7
	// db.aisles.updateMany({$or: [{left: {$gte: Long('2'), $lte: Long('4')}, change: {$not: {$gte: Long('5')}}}, {right: {$gte: Long('2'), $lte: Long('4')}, change: {$not: {$gte: Long('5')}}}]}, [{$set: {parent: {$cond: [{$eq: ['$_id', {$literal: 'Shoes'}]}, {$literal: 'Clothing'}, '$parent']}, order: {$cond: [{$eq: ['$_id', {$literal: 'Shoes'}]}, {$literal: 'Zz'}, '$order']}, change: Long('5'), left: {$switch: {branches: [{case: {$and: [{$gte: ['$left', Long('2')]}, {$lte: ['$left', Long('2')]}]}, then: {$subtract: [Long('-2'), '$left']}}, {case: {$and: [{$gte: ['$left', Long('3')]}, {$lte: ['$left', Long('4')]}]}, then: {$subtract: [Long('1'), '$left']}}], default: '$left'}}, right: {$multiply: [{$switch: {branches: [{case: {$and: [{$gte: ['$right', Long('2')]}, {$lte: ['$right', Long('2')]}]}, then: {$add: ['$right', Long('2')]}}, {case: {$and: [{$gte: ['$right', Long('3')]}, {$lte: ['$right', Long('4')]}]}, then: {$add: ['$right', Long('-1')]}}], default: '$right'}}, {$cond: [{$and: [{$gte: ['$left', Long('2')]}, {$lte: ['$left', Long('4')]}]}, -1, 1]}]}, depth: {$add: [{$ifNull: ['$depth', 0]}, {$cond: [{$and: [{$gte: ['$left', Long('3')]}, {$lte: ['$left', Long('4')]}]}, -1, 0]}]}}}])
	// db.aisles.updateMany({left: {$lt: Long('0')}, change: Long('5')}, {$mul: {left: Long('-1'), right: Long('-1')}})
	// rerunnable
	// 1 command, 4 documents written
	// Clothing 1–8
	//   Shoes 2–3
	//   Men 4–5
	//   Women 6–7
	// Books 9–12
}
