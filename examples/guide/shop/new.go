package shop

import (
	"context"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	customers = model.NewCollection[Customer, string]("customers")
	orders    = model.NewCollection[Order, int64]("orders")

	names = denorm.NewCopy(customers, orders, denorm.CopySpec{
		KeyPath: "customer",
		Fields:  []denorm.Field{{From: "name", To: "customerName"}},
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
