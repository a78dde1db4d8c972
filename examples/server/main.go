// Server tests code that uses MongoDB's driver, and nothing of this library but the server in memory.
//
// The program below stands for yours: it finds its server by a connection string. The tests show what else a test may want of the
// server: data from files, what was sent, faults, and time.
//
// The server is a test double. It keeps nothing when it stops, has no users and no TLS, is one member that never fails over, and
// says little about a real server's speed. What it doesn't know is an error that names it. Run the same tests on a real server
// from time to time: modeltest.Each does that.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model/modeltest"
)

// errSoldOut says that there aren't as many as were asked for.
var errSoldOut = errors.New("sold out")

// take takes n of a part from the stock, and notes who did.
func take(ctx context.Context, client *mongo.Client, who, part string, n int64) error {
	db := client.Database("shop")
	return client.UseSession(ctx, func(ctx context.Context) error {
		_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
			r, err := db.Collection("stock").UpdateOne(ctx,
				bson.D{{Key: "_id", Value: part}, {Key: "n", Value: bson.D{{Key: "$gte", Value: n}}}},
				bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: -n}}}})
			if err != nil {
				return nil, err
			}
			if r.MatchedCount == 0 {
				return nil, errSoldOut
			}
			return db.Collection("orders").InsertOne(ctx, bson.D{{Key: "who", Value: who}, {Key: "part", Value: part}, {Key: "n", Value: n}})
		})
		return err
	})
}

// signIn stores a session that ends by itself, after an hour.
func signIn(ctx context.Context, client *mongo.Client, who string) error {
	sessions := client.Database("shop").Collection("sessions")
	_, err := sessions.Indexes().CreateOne(ctx, mongo.IndexModel{
		Keys: bson.D{{Key: "since", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(3600),
	})
	if err == nil {
		_, err = sessions.InsertOne(ctx, bson.D{{Key: "_id", Value: who}, {Key: "since", Value: time.Now()}})
	}
	return err
}

// run is a program that knows its server by a connection string, as it does in production.
func run(ctx context.Context, uri string) error {
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		return err
	}
	defer client.Disconnect(ctx)
	stock := client.Database("shop").Collection("stock")
	if _, err := stock.InsertOne(ctx, bson.D{{Key: "_id", Value: "bolt"}, {Key: "n", Value: int64(3)}}); err != nil {
		return err
	}
	fmt.Println(take(ctx, client, "ann", "bolt", 2))
	fmt.Println(take(ctx, client, "bob", "bolt", 2))
	return nil
}

func main() {
	uri, stop, err := modeltest.Listen("127.0.0.1:0") // a free port of this machine; others can't reach it
	if err != nil {
		log.Fatal(err)
	}
	defer stop()
	if err := run(context.Background(), uri); err != nil {
		log.Panic(err)
	}
}
