package modeltest_test

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
)

// A library lends books until a day.
type loan struct {
	Book string    `bson:"_id"`
	Due  time.Time `bson:"due"`
}

var loans = model.NewCollection[loan, string]("loans")

// overdue asks the server for its own time.
func overdue() *model.Find[loan] {
	return loans.Find(bson.D{{Key: "$expr", Value: bson.D{{Key: "$lt", Value: bson.A{"$due", "$$NOW"}}}}})
}

// The clock stands still until the test moves it. Give clock.Now to the code under test
// where it needs a time.
func ExampleClock() {
	clock := modeltest.NewClock(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC))
	client, stop := modeltest.Start(modeltest.WithClock(clock))
	defer stop()
	ctx, db := context.Background(), client.Database("library")

	lend := loans.Insert(loan{"Emma", clock.Now().AddDate(0, 0, 14)})
	fmt.Println(lend)
	if _, err := lend.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(overdue())
	for range 3 {
		n, err := overdue().Count(ctx, db)
		fmt.Println(clock.Now().Format(time.DateOnly), n, "overdue", err)
		clock.Advance(7 * 24 * time.Hour)
	}
	clock.Set(time.Date(2026, 3, 15, 9, 0, 1, 0, time.UTC))
	n, err := overdue().Count(ctx, db)
	fmt.Println(clock.Now().Format(time.DateTime), n, "overdue", err)
	// Output:
	// db.loans.insertOne({_id: 'Emma', due: ISODate('2026-03-15T09:00:00.000Z')})
	// db.loans.find({$expr: {$lt: ['$due', '$$NOW']}})
	// 2026-03-01 0 overdue <nil>
	// 2026-03-08 0 overdue <nil>
	// 2026-03-15 0 overdue <nil>
	// 2026-03-15 09:00:01 1 overdue <nil>
}
