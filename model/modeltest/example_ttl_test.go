package modeltest_test

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
)

// A visit ends after an hour. A TTL index removes it.
type visit struct {
	ID   string    `bson:"_id"`
	Seen time.Time `bson:"seen"`
}

var (
	visits = model.NewCollection[visit, string]("visits")
	expiry = model.Index{Collection: "visits", Name: "seen_1", Keys: bson.D{{Key: "seen", Value: 1}}, ExpireAfter: time.Hour}
	site   = model.New("site", model.Entity(visits, expiry))
)

// A server removes expired documents about once a minute, so code can still find them.
// With a TTL a test decides when.
func ExampleTTL() {
	clock, ttl := modeltest.NewClock(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)), modeltest.NewTTL(0)
	client, stop := modeltest.Start(modeltest.WithClock(clock), modeltest.WithTTL(ttl))
	defer stop()
	ctx, db := context.Background(), client.Database("site")
	if err := site.Indexes().Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := visits.Insert(visit{"ann", clock.Now()}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	show := func(when string) {
		n, err := visits.Find(nil).Count(ctx, db)
		fmt.Println(when, n, "stored", err)
	}

	clock.Advance(2 * time.Hour)
	show("expired, and not removed yet:")
	// Code that must not see an expired visit compares the time by itself.
	n, err := visits.Find(bson.D{{Key: "seen", Value: bson.D{{Key: "$gt", Value: clock.Now().Add(-time.Hour)}}}}).Count(ctx, db)
	fmt.Println("valid visits:", n, err)
	ttl.Sweep()
	show("swept:")
	// Output:
	// expired, and not removed yet: 1 stored <nil>
	// valid visits: 0 <nil>
	// swept: 0 stored <nil>
}
