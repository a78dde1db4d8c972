package normalized_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/normalized"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A purchase holds a buyer and items. The analysts want three flat collections:
// orders, customers and items.
type (
	purchase struct {
		ID    int             `bson:"_id"`
		Buyer *purchaser      `bson:"customer,omitempty"`
		Items []purchasedItem `bson:"items,omitempty"`
	}
	purchaser struct {
		ID   string `bson:"id,omitempty"`
		City string `bson:"city"`
	}
	purchasedItem struct {
		SKU string `bson:"sku"`
		Qty int    `bson:"qty"`
	}
)

var (
	purchases    = model.NewCollection[purchase, int]("customersOrdersAndItems")
	purchaseRows = normalized.New(purchases, "orders",
		normalized.Part{Path: "customer", Into: "customers", Key: "id"}, normalized.Part{Path: "items", Into: "items"})
)

func ExampleNormalized() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")

	shop := purchases.InsertMany([]purchase{
		{ID: 1, Buyer: &purchaser{"ann", "Oslo"}, Items: []purchasedItem{{"bolt", 4}, {"nut", 8}}},
		{ID: 2, Buyer: &purchaser{"ann", "Rome"}, Items: []purchasedItem{{"nut", 1}}},
	})
	plan := purchaseRows.Plan(nil)
	fmt.Println(plan.Steps[2])
	fmt.Println(plan.Cost(), "-", plan.Guarantee())
	for _, p := range []model.Plan{shop, plan} {
		if _, err := p.Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, name := range []string{"orders", "customers", "items"} {
		rows := &model.Find[bson.Raw]{Query: model.Query{Collection: name}}
		for row, err := range rows.Each(ctx, db) {
			fmt.Println(name, model.Shell(row), err)
		}
	}

	// Ann has moved: of what her orders say, one is the row.
	for _, check := range purchaseRows.Checks() {
		for finding, err := range check.Each(ctx, db) {
			fmt.Println(finding, err)
		}
	}
	whole, err := purchaseRows.Documents(nil).One(ctx, db)
	fmt.Println(whole.ID, *whole.Buyer, whole.Items, err)
	// Output:
	// db.customersOrdersAndItems.aggregate([{$set: {customer: {$cond: [{$and: [{$eq: [{$type: '$customer'}, 'object']}, {$not: {$in: [{$type: '$customer.id'}, ['missing', 'null', 'undefined', 'array']]}}]}, '$customer.id', '$customer']}, items: {$cond: [{$isArray: '$items'}, {$size: '$items'}, '$items']}}}, {$merge: {into: 'orders', on: '_id', whenMatched: 'replace', whenNotMatched: 'insert'}}])
	// 3 commands, as many documents written as match - rerunnable
	// orders {_id: 1, customer: 'ann', items: 2} <nil>
	// orders {_id: 2, customer: 'ann', items: 1} <nil>
	// customers {_id: 'ann', city: 'Rome'} <nil>
	// items {_id: {of: 1, n: Long('0')}, sku: 'bolt', qty: 4} <nil>
	// items {_id: {of: 1, n: Long('1')}, sku: 'nut', qty: 8} <nil>
	// items {_id: {of: 2, n: Long('0')}, sku: 'nut', qty: 1} <nil>
	// customers 'ann': the documents have 2 different values for this key <nil>
	// 1 {ann Rome} [{bolt 4} {nut 8}] <nil>
}
