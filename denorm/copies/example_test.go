package copies_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A product's page shows the names of its parts; so each product holds them, beside the parts' ids. A part's price
// changes often, and its name seldom: only the name is copied.
type (
	part struct {
		ID    string  `bson:"_id"`
		Name  string  `bson:"name"`
		Price float64 `bson:"price"`
		V     int     `bson:"v"`
	}
	product struct {
		ID    string     `bson:"_id"`
		Items []partCopy `bson:"items,omitempty"`
	}
	partCopy struct {
		ID   string `bson:"id"`
		Name string `bson:"name,omitempty"`
		V    int    `bson:"v"`
	}
)

var (
	parts     = model.NewCollection[part, string]("parts")
	products  = model.NewCollection[product, string]("products")
	partNames = copies.New(parts, products, copies.Spec{
		KeyPath: "items.id", Fields: []copies.Field{{From: "name", To: "items.name"}},
		Version: "v", VersionTo: "items.v",
	})
)

func ExampleCopy() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")

	shop := model.New("shop", partNames)
	partStore, productStore := model.NewStore(shop, parts), model.NewStore(shop, products)
	grommet := part{ID: "AAAA", Name: "#4 grommet", Price: 3.99}
	shifter, scraper := product{ID: "left-handed smoke shifter"}, product{ID: "bench scraper"}
	shifter.Items, scraper.Items = []partCopy{{ID: grommet.ID}}, []partCopy{{ID: grommet.ID}}
	if _, _, err := partStore.Insert(grommet).Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	if _, _, err := productStore.InsertMany(shifter, scraper).Run(ctx, db); err != nil {
		fmt.Println(err)
	}

	// Another name reaches every product that lists the part. Another price is the part's own affair.
	for _, fields := range []bson.D{{{Key: "name", Value: "#5 grommet"}}, {{Key: "price", Value: 4.49}}} {
		if _, _, err := partStore.Set(grommet.ID, fields).Run(ctx, db); err != nil {
			fmt.Println(err)
		}
	}
	all, err := products.Find(nil).All(ctx, db)
	fmt.Println(all, err)

	// Somebody writes to a product past the copy: the check finds it, and mending gives the name back.
	slip := products.Update(shifter.ID, bson.D{{
		Key:   "$set",
		Value: bson.D{{Key: "items.0.name", Value: "#6 grommet"}},
	}})
	if _, err := slip.Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	check := partNames.Checks()[0]
	found, err := check.All(ctx, db)
	fmt.Println(found, err)
	fmt.Println(check.Mend(found))
	// Output:
	// [{left-handed smoke shifter [{AAAA #5 grommet 1}]} {bench scraper [{AAAA #5 grommet 1}]}] <nil>
	// [products 'left-handed smoke shifter': copies {name: '#6 grommet'} from 'AAAA', which has {name: '#5 grommet'}] <nil>
	// db.products.updateOne({_id: 'left-handed smoke shifter', items: {$elemMatch: {id: 'AAAA', name: '#6 grommet', v: 1}}}, {$set: {'items.$[e].name': '#5 grommet', 'items.$[e].v': 1}}, {arrayFilters: [{'e.id': 'AAAA', 'e.name': '#6 grommet', 'e.v': 1}]})
}
