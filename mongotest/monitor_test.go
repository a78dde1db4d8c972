package mongotest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestMonitorClips(t *testing.T) {
	ctx := context.Background()
	m := mongotest.NewMonitor()
	db := mongotest.NewClient(t, mongotest.WithMonitor(m)).Database("shop")
	ids := make([]int32, 5000)
	for i := range ids {
		ids[i] = int32(i)
	}
	if err := insert(ctx, db, ids...); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 20<<10)
	if _, err := db.Collection("parts").CountDocuments(ctx, bson.D{{Key: "s", Value: long}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range m.Commands() {
		if err := c.Body.Validate(); err != nil || len(c.Body) > 10<<10 {
			t.Errorf("%s: %d bytes kept, %v", c.Name, len(c.Body), err)
		}
		if c.Collection != "parts" || c.Database != "shop" {
			t.Errorf("%s: collection %q, database %q", c.Name, c.Collection, c.Database)
		}
	}
}
