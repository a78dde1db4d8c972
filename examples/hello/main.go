// Hello declares one reference and runs it, with no server.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/childrefs"
)

type Part struct {
	ID   string `bson:"_id"`
	Name string `bson:"name"`
}

type Product struct {
	ID    string   `bson:"_id"`
	Parts []string `bson:"parts,omitempty"` // ids of parts, in the order of assembly
}

var (
	parts    = model.NewCollection[Part, string]("parts")
	products = model.NewCollection[Product, string]("products")
	uses     = childrefs.New(products, "parts", parts)
)

// assemble stores a product, and what it is made of.
func assemble(id string, ids ...string) model.Plan {
	return model.NewPlan(products.Insert(Product{ID: id}), uses.Add(id, ids...))
}

func main() {
	client, stop := mongotest.Start() // an engine in this process; mongo.Connect reaches a server
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	if err := model.New("hello", uses).Indexes().Ensure(ctx, db); err != nil {
		log.Fatal(err)
	}

	plan := model.Concat(
		parts.InsertMany([]Part{{"nut", "M8 nut"}, {"bolt", "M8 bolt"}}),
		assemble("bench", "nut", "bolt"),
	)
	if _, err := plan.Run(ctx, db); err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan)
	fmt.Println(plan.Cost(), "-", plan.Guarantee())

	found, err := uses.ChildrenOf("bench").All(ctx, db)
	fmt.Println(found, err)
}
