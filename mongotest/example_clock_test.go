package mongotest_test

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest"
)

// overdue finds the loans of a library that have ended, by the server's own time.
var overdue = bson.D{{Key: "$expr", Value: bson.D{{Key: "$lt", Value: bson.A{"$due", "$$NOW"}}}}}

// The clock stands still until the test moves it. Give clock.Now to the code under test
// where it needs a time.
func ExampleClock() {
	clock := mongotest.NewClock(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC))
	client, stop := mongotest.Start(clock)
	defer stop()
	ctx, loans := context.Background(), client.Database("library").Collection("loans")

	lend := bson.D{{Key: "_id", Value: "Emma"}, {Key: "due", Value: clock.Now().AddDate(0, 0, 14)}}
	if _, err := loans.InsertOne(ctx, lend); err != nil {
		fmt.Println(err)
		return
	}
	const week = 7 * 24 * time.Hour
	for _, wait := range []time.Duration{0, week, week, time.Second} {
		clock.Advance(wait)
		n, err := loans.CountDocuments(ctx, overdue)
		fmt.Println(clock.Now().Format(time.DateTime), n, "overdue", err)
	}
	// Output:
	// 2026-03-01 09:00:00 0 overdue <nil>
	// 2026-03-08 09:00:00 0 overdue <nil>
	// 2026-03-15 09:00:00 0 overdue <nil>
	// 2026-03-15 09:00:01 1 overdue <nil>
}
