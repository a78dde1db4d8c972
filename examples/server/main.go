// Server tests code that uses only MongoDB's driver, on this library's in-memory server.
//
// The program below stands for yours: it knows its server by a connection string. The
// tests show data from files, sent commands, faults, and time.
//
// The server is a test double. It keeps nothing when it stops, has no users and no TLS,
// and is one member that never fails over. Its speed says little about a real server. For
// unknown features it returns an error that names them. Run the same tests on a real
// server from time to time with mongotest.Each.
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

	"github.com/docmodel/docmodel/mongotest"
)

// errSoldOut reports that the stock is too small.
var errSoldOut = errors.New("sold out")

// take takes n of a part from the stock and records who did.
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

// signIn stores a session that expires after an hour.
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

// run knows its server by a connection string, as in production.
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
	uri, stop, err := mongotest.Listen("127.0.0.1:0") // a free local port
	if err != nil {
		log.Fatal(err)
	}
	defer stop()
	if err := run(context.Background(), uri); err != nil {
		log.Panic(err)
	}
}
