package model_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type ware struct {
	Name  string `bson:"_id"`
	Price *int   `bson:"price,omitempty"`
}

var catalogue = model.NewCollection[ware, string]("catalogue")

// A shop lists its products two on a page, the cheapest first. A product without a price comes before all others. The
// token is what a page's link holds.
func ExamplePage() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	price := func(n int) *int { return &n }
	stock := []ware{{"nut", price(5)}, {"bolt", price(12)}, {"sample", nil}, {"screw", price(5)}, {"saw", price(900)}}
	if _, err := catalogue.InsertMany(stock).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	cheapest := catalogue.Find(nil).Sorted(bson.D{{Key: "price", Value: 1}}).Limited(2)
	show := func(what, token string) model.Page[ware] {
		page, err := cheapest.Page(ctx, db, token)
		if err != nil {
			fmt.Println(err)
		}
		fmt.Printf("%s:", what)
		for _, p := range page.Docs {
			fmt.Print(" ", p.Name)
		}
		fmt.Printf("; more: %v\n", page.HasMore)
		return page
	}
	first := show("first", "")
	second := show("second", first.Next)
	show("third", second.Next)
	show("back", second.Previous)
	_, err := catalogue.Find(nil).Limited(2).Page(ctx, db, second.Next)
	fmt.Println(err != nil)
	// Output:
	// first: sample nut; more: true
	// second: screw bolt; more: true
	// third: saw; more: false
	// back: sample nut; more: true
	// true
}
