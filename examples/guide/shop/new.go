package shop

import (
	"context"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	customers = model.NewCollection[Customer, string]("customers")
	orders    = model.NewCollection[Order, int64]("orders")

	names = copies.New(customers, orders, copies.Spec{
		KeyPath: "customer",
		Fields:  []copies.Field{{From: "name", To: "customerName"}},
	})
	// The program's own index.
	byCents = model.NewIndex("orders", bson.D{{Key: "cents", Value: -1}})

	shop          = model.New("shop", names, model.Entity(orders, byCents))
	customerStore = model.NewStore(shop, customers)
)

// Rename takes the place of OldRename.
func Rename(ctx context.Context, db model.DB, id, name string) error {
	_, _, err := customerStore.Set(id, bson.D{{Key: "name", Value: name}}).Run(ctx, db)
	return err
}
