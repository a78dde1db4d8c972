package columns_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/columns"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// Orders hold their customer and items. The analysts' store takes flat documents with few columns, and refuses some
// names.
type order struct {
	ID       int         `bson:"_id"`
	Customer *customer   `bson:"customer,omitempty"`
	Items    []orderItem `bson:"items,omitempty"`
	Notes    []string    `bson:"notes,omitempty"`
}

type customer struct {
	ID   string `bson:"id,omitempty"`
	City string `bson:"city"`
}

type orderItem struct {
	SKU string `bson:"sku"`
	Qty int    `bson:"qty"`
}

var (
	orders       = model.NewCollection[order, int]("customersOrdersAndItems")
	orderColumns = columns.New(orders, "orderColumns", columns.Spec{})
)

func ExampleColumns() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")

	bench := order{ID: 1, Customer: &customer{"ann", "Oslo"}, Items: []orderItem{{"bolt", 4}, {"nut", 8}}}
	store := orderColumns.Store(bench)
	fmt.Println(store)
	fmt.Println(store.Cost())
	if _, err := store.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	// The way back is exact.
	flat, err := orderColumns.Flatten(bench)
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := orderColumns.Back(flat)
	fmt.Println(back.Customer.City, back.Items, err)

	// What the analysts' store would leave out without a word is found before.
	strict := columns.New(orders, "orderColumns", columns.Spec{MaxProperties: 5, MaxDepth: 2})
	_, err = strict.Flatten(bench)
	fmt.Println(err)
	// Output:
	// db.orderColumns.replaceOne({_id: 1}, {_id: 1, 'customer/id': 'ann', 'customer/city': 'Oslo', 'items/#0/sku': 'bolt', 'items/#0/qty': 4, 'items/#1/sku': 'nut', 'items/#1/qty': 8}, {upsert: true})
	// 1 command, 1 document written, by _id_
	// Oslo [{bolt 4} {nut 8}] <nil>
	// docmodel: customersOrdersAndItems: items[0].sku: is nested deeper than 2 levels
	// docmodel: customersOrdersAndItems: items[0].qty: is nested deeper than 2 levels
	// docmodel: customersOrdersAndItems: items[1].sku: is nested deeper than 2 levels
	// docmodel: customersOrdersAndItems: items[1].qty: is nested deeper than 2 levels
	// docmodel: customersOrdersAndItems: document: has more than 5 properties, the MaxProperties of the spec: 11
}
