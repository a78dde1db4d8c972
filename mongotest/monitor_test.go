package mongotest_test

import (
	"context"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest"
)

func TestMonitorClips(t *testing.T) {
	ctx := context.Background()
	m := mongotest.NewMonitor()
	db := mongotest.NewClient(t, m).Database("shop")
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

// TestClientBulkWrite holds that a bulk over collections is seen, priced and cut as other writes are.
func TestClientBulkWrite(t *testing.T) {
	ctx, m, f := context.Background(), mongotest.NewMonitor(), mongotest.NewFaults()
	client := mongotest.NewClient(t, m, f,
		mongotest.Settings{Client: options.Client().SetRetryWrites(false)})
	write := func(from int, collections ...string) error {
		var list []mongo.ClientBulkWrite
		for i, name := range collections {
			list = append(list, mongo.ClientBulkWrite{Database: "shop", Collection: name,
				Model: mongo.NewClientInsertOneModel().SetDocument(bson.D{{Key: "_id", Value: from + i}})})
		}
		_, err := client.BulkWrite(ctx, list)
		return err
	}
	if err := write(0, "a", "b", "a"); err != nil {
		t.Fatal(err)
	}
	if got, want := m.Cost(), (mongotest.Cost{Commands: 1, Written: 3}); got != want {
		t.Errorf("cost: %v, want %v", got, want)
	}
	if c := m.Commands()[0]; c.Name != "bulkWrite" || c.Collection != "" {
		t.Errorf("on several collections: %v", c)
	}
	f.On(mongotest.Both(mongotest.Writes, mongotest.On("b")), 1, mongotest.CutInside(2))
	if err := write(10, "b", "b", "b"); !mongo.IsNetworkError(err) {
		t.Errorf("cut inside: %v", err)
	}
	for name, want := range map[string]int64{"a": 2, "b": 3} {
		if n, err := client.Database("shop").Collection(name).CountDocuments(ctx, bson.D{}); err != nil || n != want {
			t.Errorf("%s has %d documents, want %d, %v", name, n, want, err)
		}
	}
}
