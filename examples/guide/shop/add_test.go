package shop

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// inUse fills a database as the old code did.
func inUse(ctx context.Context, db *mongo.Database) error {
	kate, rod := Customer{"kate", "Kate"}, Customer{"rod", "Rod"}
	_, err := db.Collection("customers").InsertMany(ctx, []Customer{kate, rod})
	_, errIndexes := db.Collection("orders").Indexes().CreateMany(ctx, []mongo.IndexModel{
		{Keys: bson.D{{Key: "cents", Value: -1}}}, {Keys: bson.D{{Key: "color", Value: 1}}},
	})
	return errors.Join(err, errIndexes,
		PlaceOrder(ctx, db, 1, kate, 500),
		PlaceOrder(ctx, db, 2, rod, 900),
		PlaceOrder(ctx, db, 3, Customer{"jane", "Jane"}, 700), // who was deleted
		OldRename(ctx, db, "kate", "Katherine"),
	)
}

func Example_indexes() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	if err := inUse(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	diff, err := shop.Indexes().Diff(ctx, db)
	fmt.Println("missing", diff.Missing)
	fmt.Println("changed", diff.Changed)
	fmt.Println("extra", diff.Extra, err)
	fmt.Println(shop.Indexes().Ensure(ctx, db))
	// Output:
	// missing [db.orders.createIndex({customer: 1, _id: -1})]
	// changed []
	// extra [orders.color_1] <nil>
	// <nil>
}

func Example_mend() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	if err := errors.Join(inUse(ctx, db), shop.Indexes().Ensure(ctx, db)); err != nil {
		fmt.Println(err)
		return
	}

	for finding, err := range shop.Audit().Each(ctx, db) {
		fmt.Println(finding, err)
	}
	done, err := shop.Audit().Job().Run(ctx, db, model.JobOptions{})
	var left *model.LeftError // what no job can decide, here: who Jane was
	fmt.Println("written:", done.Modified, "left:", done.Left, errors.As(err, &left))

	// The new code, and the old code beside it.
	err = errors.Join(
		Rename(ctx, db, "rod", "Rodney"),
		PlaceOrder(ctx, db, 4, Customer{"rod", "Rodney"}, 100),
	)
	fmt.Println(err)
	byID := orders.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}})
	for order, err := range byID.Each(ctx, db) {
		fmt.Println(order.ID, order.CustomerName, err)
	}
	// Output:
	// orders Long('1'): copies {customerName: 'Kate'} from 'kate', which has {customerName: 'Katherine'} <nil>
	// orders Long('3'): copies {customerName: 'Jane'} from 'jane', which doesn't exist <nil>
	// written: 1 left: 1 true
	// <nil>
	// 1 Katherine <nil>
	// 2 Rodney <nil>
	// 3 Jane <nil>
	// 4 Rodney <nil>
}
