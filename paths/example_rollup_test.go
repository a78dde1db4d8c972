package paths_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A kind of goods is a node of a tree that keeps paths; of its own it has the number of items, and their total below
// it.
type kindOfGoods struct {
	ID     string  `bson:"_id"`
	Items  int64   `bson:"items,omitempty"`
	Parent *string `bson:"parent"`
	Order  string  `bson:"order"`
	Change int64   `bson:"change"`
	Path   string  `bson:"path"`

	Total *paths.Totals[int64] `bson:"total,omitempty"`
}

var (
	kindsOfGoods = model.NewCollection[kindOfGoods, string]("goods")
	goods        = paths.NewMaterializedPath(kindsOfGoods, paths.MaterializedPathSpec{})
	goodsInAll   = paths.NewRollUp[int64](goods, "items", "total")
)

// A shop's page of a category lists the categories below it, and says of each how many items there are in it and all
// below.
func ExampleRollUp() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	if err := model.New("shop", goods).Indexes().Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	up := func(id string) *string { return &id }
	load := goods.Load([]kindOfGoods{
		{ID: "clothing"}, {ID: "men", Parent: up("clothing"), Items: 2}, {ID: "women", Parent: up("clothing"), Items: 7},
		{ID: "shoes", Parent: up("men"), Items: 30}, {ID: "boots", Parent: up("shoes"), Items: 12},
	})
	if _, err := load.Run(ctx, db); err != nil {
		fmt.Println(err)
	}

	// The server adds them up, in one range of the index on the paths.
	clothing, err := kindsOfGoods.ByID("clothing").One(ctx, db)
	if err != nil {
		fmt.Println(err)
	}
	total := goodsInAll.Total(&clothing)
	fmt.Println(total)
	fmt.Println(total.Cost())
	below, err := goodsInAll.Children(ctx, db, &clothing)
	for _, c := range below {
		fmt.Printf("%s: %d items in %d categories, %v\n", c.ID, c.Sum, c.Nodes, err)
	}

	// Stored in each node, they come with it. A change of one number is brought up to its ancestors, and to nobody else.
	stored, err := goodsInAll.Store().Run(ctx, db)
	fmt.Println(stored.Modified(), "totals written", err)
	if _, err := kindsOfGoods.Update("boots", bson.D{{Key: "$inc", Value: bson.D{{Key: "items", Value: 1}}}}).
		Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	stored, err = goodsInAll.Store().Run(ctx, db)
	fmt.Println(stored.Modified(), "totals written", err)
	clothing, err = kindsOfGoods.ByID("clothing").One(ctx, db)
	fmt.Println(clothing.Total.Sum, "items, of which", clothing.Total.Max, "in one category", err)
	// Output:
	// db.goods.aggregate([{$match: {path: {$gte: 'clothing/', $lt: 'clothing0'}}}, {$group: {_id: null, nodes: {$sum: 1}, values: {$sum: {$cond: [{$isNumber: '$items'}, 1, 0]}}, sum: {$sum: {$cond: [{$isNumber: '$items'}, '$items', null]}}, min: {$min: {$cond: [{$isNumber: '$items'}, '$items', null]}}, max: {$max: {$cond: [{$isNumber: '$items'}, '$items', null]}}}}])
	// 1 command and one per further batch, by path_1
	// men: 44 items in 3 categories, <nil>
	// women: 7 items in 1 categories, <nil>
	// 5 totals written <nil>
	// 4 totals written <nil>
	// 52 items, of which 30 in one category <nil>
}
