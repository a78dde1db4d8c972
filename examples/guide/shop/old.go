// Package shop has code for the driver alone, and what docs/GUIDE.md adds to it.
package shop

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type Customer struct {
	ID   string `bson:"_id"`
	Name string `bson:"name"`
}

type Order struct {
	ID           int64  `bson:"_id"`
	Customer     string `bson:"customer"`
	CustomerName string `bson:"customerName"` // for lists of orders
	Cents        int64  `bson:"cents"`
}

// PlaceOrder was there before, and stays as it is.
func PlaceOrder(
	ctx context.Context, db *mongo.Database, id int64, c Customer, cents int64,
) error {
	_, err := db.Collection("orders").InsertOne(ctx, Order{id, c.ID, c.Name, cents})
	return err
}

// OldRename forgets the orders.
func OldRename(ctx context.Context, db *mongo.Database, id, name string) error {
	update := bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: name}}}}
	_, err := db.Collection("customers").UpdateByID(ctx, id, update)
	return err
}
