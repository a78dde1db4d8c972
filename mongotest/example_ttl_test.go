package mongotest_test

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest"
)

// endAfterAnHour is the TTL index of visits to a site.
var endAfterAnHour = mongo.IndexModel{
	Keys: bson.D{{Key: "seen", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(3600),
}

// A server removes expired documents about once a minute, so code can still find them.
// With a TTL a test decides when.
func ExampleTTL() {
	clock, ttl := mongotest.NewClock(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)), mongotest.NewTTL(0)
	client, stop := mongotest.Start(clock, ttl)
	defer stop()
	ctx, visits := context.Background(), client.Database("site").Collection("visits")
	if _, err := visits.Indexes().CreateOne(ctx, endAfterAnHour); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := visits.InsertOne(ctx, bson.D{{Key: "_id", Value: "ann"}, {Key: "seen", Value: clock.Now()}}); err != nil {
		fmt.Println(err)
		return
	}
	show := func(when string) {
		n, err := visits.CountDocuments(ctx, bson.D{})
		fmt.Println(when, n, "stored", err)
	}

	clock.Advance(2 * time.Hour)
	show("expired, and not removed yet:")
	// Code that must not see an expired visit compares the time by itself.
	valid := bson.D{{Key: "seen", Value: bson.D{{Key: "$gt", Value: clock.Now().Add(-time.Hour)}}}}
	n, err := visits.CountDocuments(ctx, valid)
	fmt.Println("valid visits:", n, err)
	ttl.Sweep()
	show("swept:")
	// Output:
	// expired, and not removed yet: 1 stored <nil>
	// valid visits: 0 <nil>
	// swept: 0 stored <nil>
}
