package schema_test

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A shop needs its orders for six months, the analysts need them for five years. Kept in one collection they cost both:
// so they have two, with a time to live for each.
type storeOrder struct {
	ID       string    `bson:"_id"`
	Customer string    `bson:"customer"`
	Placed   time.Time `bson:"placed"`
}

var (
	storeOrders = model.NewCollection[storeOrder, string]("orders")
	orderTiers  = schema.NewExpiry(storeOrders, "placed", schema.ExpirySpec{
		After: 180 * 24 * time.Hour, Archive: "ordersArchive", ArchiveFor: 5 * 365 * 24 * time.Hour,
	})
)

func ExampleExpiry() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	if err := model.New("shop", orderTiers).Indexes().Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	for _, x := range orderTiers.Indexes() {
		fmt.Println(x)
	}

	now := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	var all []storeOrder
	for months := range 10 {
		all = append(all, storeOrder{fmt.Sprintf("o%d", months), "ann", now.AddDate(0, -months, 0)})
	}
	if _, err := storeOrders.InsertMany(all).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// Each night: a dry run says what would be moved, a run moves it; it can be stopped anywhere, and run again.
	nightly := orderTiers.Archive(now)
	for _, dry := range []bool{true, false} {
		p, err := nightly.Run(ctx, db, model.JobOptions{DryRun: dry})
		fmt.Println(p.Documents, "orders,", p.Writes, "writes planned,", p.Modified, "done", err)
	}

	// What is sent for one of them.
	order, err := bson.Marshal(bson.D{{Key: "_id", Value: "o9"}, {Key: "doc", Value: all[9]}})
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := nightly.Stages[0].Plan([]bson.Raw{order})
	fmt.Println(plan)
	fmt.Println(plan.Cost(), "-", plan.Guarantee(), err)

	// A customer comes back to an order of nine months ago.
	if _, err := orderTiers.Restore("o9", time.Time{}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	both, err := orderTiers.Both(now).All(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, pair := range both {
		fmt.Println(pair.ID.StringValue(), "is in both; expired:", pair.Expired)
	}
	// Output:
	// db.orders.createIndex({placed: 1})
	// db.ordersArchive.createIndex({placed: 1}, {name: 'placed_1', expireAfterSeconds: 157680000})
	// 4 orders, 8 writes planned, 0 done <nil>
	// 4 orders, 8 writes planned, 8 done <nil>
	// db.ordersArchive.insertOne({_id: 'o9', customer: 'ann', placed: ISODate('2026-02-21T03:00:00.000Z')})
	// db.orders.deleteOne({_id: 'o9', $expr: {$in: ['$$ROOT', [{$literal: {_id: 'o9', customer: 'ann', placed: ISODate('2026-02-21T03:00:00.000Z')}}]]}})
	// 2 commands, 2 documents written, by _id_ - rerunnable <nil>
	// o9 is in both; expired: true
}
