package mongotest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/mongotest"
)

// order stores an order and takes its items from the stock: two writes in a transaction.
func order(ctx context.Context, client *mongo.Client, id int) error {
	db := client.Database("shop")
	return client.UseSession(ctx, func(ctx context.Context) error {
		_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
			if _, err := db.Collection("orders").InsertOne(ctx, bson.D{{Key: "_id", Value: id}}); err != nil {
				return nil, err
			}
			_, err := db.Collection("stock").UpdateByID(ctx, "bolt", bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: -1}}}})
			return nil, err
		})
		return err
	})
}

// How code takes what a network and a cluster do to it: a transaction that must be run again, an error that is final,
// an answer that is lost, and one that is late. The n-th command that matches fails; others pass.
func Example_failures() {
	f := mongotest.NewFaults()
	client, stop := mongotest.Start(f)
	defer stop()
	ctx := context.Background()
	updates := mongotest.Both(mongotest.Named("update"), mongotest.On("stock"))

	f.On(updates, 1, mongotest.Fail(112, "TransientTransactionError")) // a write conflict
	fmt.Println("conflict:", order(ctx, client, 1), "- updates sent:", f.Count(updates))

	f.Reset()
	f.On(updates, 1, mongotest.Fail(121)) // a validator refuses it
	err := order(ctx, client, 2)
	var refused mongo.ServerError
	fmt.Println("refused:", errors.As(err, &refused) && refused.HasErrorCode(121), "- updates sent:", f.Count(updates))

	f.Reset()
	commits := mongotest.Named("commitTransaction")
	f.On(commits, 1, mongotest.CutAfter()) // the commit is done, its answer lost: the driver asks again
	fmt.Println("lost:", order(ctx, client, 3), "- commits sent:", f.Count(commits))

	f.Reset()
	f.On(updates, 1, mongotest.Delay(time.Minute)) // longer than the caller has time
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	fmt.Println("late:", errors.Is(order(short, client, 4), context.DeadlineExceeded))

	f.Reset()
	n, err := client.Database("shop").Collection("orders").
		CountDocuments(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$lt", Value: 4}}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("orders:", n)
	// Output:
	// conflict: <nil> - updates sent: 2
	// refused: true - updates sent: 1
	// lost: <nil> - commits sent: 2
	// late: true
	// orders: 2
}
