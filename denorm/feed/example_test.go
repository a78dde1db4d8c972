package feed_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/feed"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An order holds all that the shop knows of it. The shop's code can't be changed, and the analysts, who want orders and
// items apart and flat, must not query its collection.
type shopOrder struct {
	ID       string `bson:"_id"`
	Customer string `bson:"customer"`
	Items    []struct {
		SKU   string `bson:"sku"`
		Price int    `bson:"price"`
	} `bson:"items"`
}

var (
	shopOrders = model.NewCollection[shopOrder, string]("customersOrdersAndItems")
	flatOrders = feed.New(shopOrders, "flat orders", newOrder("sample", "ann", 1), flatten, feed.Spec{})
)

func newOrder(id, customer string, prices ...int) (o shopOrder) {
	o.ID, o.Customer = id, customer
	for i, p := range prices {
		o.Items = append(o.Items, struct {
			SKU   string `bson:"sku"`
			Price int    `bson:"price"`
		}{fmt.Sprint("sku", i+1), p})
	}
	return o
}

// flatten replaces what is stored of an order, whatever it was: it may be run again.
func flatten(c feed.Change[shopOrder, string]) model.Plan {
	order, items := bson.D{{Key: "_id", Value: c.ID}}, bson.D{{Key: "order", Value: c.ID}}
	if c.Kind == model.Deleted {
		return model.NewPlan(
			model.Write{Collection: "items", Model: &mongo.DeleteManyModel{Filter: items}},
			model.Write{Collection: "orders", Model: &mongo.DeleteOneModel{Filter: order}},
		)
	}
	total, upsert := 0, true
	plan := model.NewPlan(model.Write{Collection: "items", Model: &mongo.DeleteManyModel{
		Filter: append(items, bson.E{Key: "n", Value: bson.D{{Key: "$gte", Value: len(c.Doc.Items)}}}),
	}})
	for n, i := range c.Doc.Items {
		total += i.Price
		plan.Steps = append(plan.Steps, model.Write{Collection: "items", Model: &mongo.ReplaceOneModel{
			Filter: bson.D{{Key: "_id", Value: fmt.Sprintf("%s/%d", c.ID, n)}}, Upsert: &upsert,
			Replacement: bson.D{
				{Key: "order", Value: c.ID}, {Key: "n", Value: n}, {Key: "sku", Value: i.SKU},
				{Key: "price", Value: i.Price},
			},
		}})
	}
	plan.Steps = append(plan.Steps, model.Write{Collection: "orders", Model: &mongo.ReplaceOneModel{
		Filter: order, Upsert: &upsert,
		Replacement: bson.D{{Key: "customer", Value: c.Doc.Customer}, {Key: "total", Value: total}},
	}})
	return plan
}

func ExampleFeed() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("company")
	first := newOrder("o1", "ann", 5, 7)
	fmt.Println(flatOrders.Stream())
	plan := flatOrders.Plan(feed.Change[shopOrder, string]{Kind: model.Inserted, ID: "o1", Doc: &first})
	fmt.Println(plan)
	fmt.Println(plan.Cost(), "-", plan.Guarantee())

	// A program runs the feed until its context ends. Once ends it when nothing is left to do.
	run := func() {
		applied := int64(0)
		err := flatOrders.Stream().
			Run(ctx, db, model.StreamOptions{Once: true, Wait: 1, Progress: func(p model.StreamProgress) error {
				applied = p.Applied
				return nil
			}})
		totals := map[string]int32{}
		cur, _ := db.Collection("orders").Find(ctx, bson.D{})
		for cur.Next(ctx) {
			totals[cur.Current.Lookup("_id").StringValue()] = cur.Current.Lookup("total").Int32()
		}
		items, _ := db.Collection("items").CountDocuments(ctx, bson.D{})
		fmt.Println(applied, "changes:", totals, items, "items", err)
	}

	// What the shop does, which knows of nothing.
	shop := db.Collection("customersOrdersAndItems")
	_, _ = shop.InsertMany(ctx, []any{first, newOrder("o2", "bob", 3)})
	run()
	_, _ = shop.UpdateOne(ctx, bson.D{{Key: "_id", Value: "o1"}}, bson.D{{
		Key: "$pop", Value: bson.D{{Key: "items", Value: 1}},
	}})
	_, _ = shop.DeleteOne(ctx, bson.D{{Key: "_id", Value: "o2"}})
	_, _ = shop.InsertOne(ctx, newOrder("o3", "cy", 1, 1, 1))
	run()
	run() // the place is stored

	// A plan that adds would add twice when a change comes again.
	defer func() { fmt.Println(recover()) }()
	feed.New(shopOrders, "count", first, func(c feed.Change[shopOrder, string]) model.Plan {
		return model.NewPlan(model.Write{Collection: "counts", Model: &mongo.UpdateOneModel{
			Filter: bson.D{{Key: "_id", Value: "orders"}},
			Update: bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}},
		}})
	}, feed.Spec{})
	// Output:
	// db.customersOrdersAndItems.aggregate([{$changeStream: {fullDocument: 'updateLookup'}}])
	// db.items.deleteMany({order: 'o1', n: {$gte: 2}})
	// db.items.replaceOne({_id: 'o1/0'}, {order: 'o1', n: 0, sku: 'sku1', price: 5}, {upsert: true})
	// db.items.replaceOne({_id: 'o1/1'}, {order: 'o1', n: 1, sku: 'sku2', price: 7}, {upsert: true})
	// db.orders.replaceOne({_id: 'o1'}, {customer: 'ann', total: 12}, {upsert: true})
	// 3 commands, 3 documents written and as many as match - rerunnable
	// 2 changes: map[o1:12 o2:3] 3 items <nil>
	// 3 changes: map[o1:5 o3:3] 4 items <nil>
	// 0 changes: map[o1:5 o3:3] 4 items <nil>
	// docmodel: the plan for the sample, inserted: docmodel: the plan isn't repeatable: running it twice may do more than running it once
	// 	at feed.New of customersOrdersAndItems, "count"
	// 	remedy: make the plan repeatable: set, replace or delete documents by an _id from the change; or give another sample
}
