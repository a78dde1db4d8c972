package modeltest_test

import (
	"context"
	"fmt"
	"log"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// unpaid is a query that a service runs all day.
func unpaid(customer string) bson.D {
	return bson.D{{Key: "find", Value: "orders"},
		{Key: "filter", Value: bson.D{{Key: "customer", Value: customer}, {Key: "paid", Value: false}}},
		{Key: "sort", Value: bson.D{{Key: "at", Value: -1}}}}
}

// printer is a testing.TB for examples, which prints failures.
type printer struct{ testing.TB }

func (*printer) Helper()                      {}
func (*printer) Errorf(f string, args ...any) { fmt.Printf(f+"\n", args...) }

// What queries cost, and which index serves them, as tests that fail when somebody changes the code or the indexes. t
// would be the test's *testing.T.
func Example_queries() {
	m := mongotest.NewMonitor()
	client, stop := mongotest.Start(m)
	defer stop()
	ctx, db, t := context.Background(), client.Database("shop"), &printer{}
	orders := db.Collection("orders")
	if _, err := orders.InsertOne(ctx, bson.D{{Key: "customer", Value: "ann"}, {Key: "paid", Value: false}}); err != nil {
		log.Fatal(err)
	}

	fmt.Println("without an index:")
	modeltest.WantIndexed(t, db, unpaid("ann"), "unpaid")
	_, err := orders.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{
		{Key: "customer", Value: 1}, {Key: "paid", Value: 1}, {Key: "at", Value: -1}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("with one:")
	modeltest.WantIndexed(t, db, unpaid("ann"), "customer_1_paid_1_at_-1")

	modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 1}, func() error {
		cursor, err := db.RunCommandCursor(ctx, unpaid("ann"))
		if err != nil {
			return err
		}
		return cursor.Close(ctx)
	})
	// Output:
	// without an index:
	// indexed: {find: 'orders', filter: {customer: 'ann', paid: false}, sort: {at: -1}}: the collection is scanned (COLLSCAN), want index unpaid
	// {stage: 'SORT', sortPattern: {at: -1}, inputStage: {stage: 'COLLSCAN', filter: {customer: 'ann', paid: false}, direction: 'forward'}}
	// examined: 1 documents, 0 keys; found: 1
	// no index serves it; one that would: db.orders.createIndex({customer: 1, paid: 1, at: -1})
	// with one:
}
