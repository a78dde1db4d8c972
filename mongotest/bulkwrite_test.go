package mongotest_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest"
)

// TestClientBulkWrite holds that a bulk over collections is seen, priced and cut as other writes are.
func TestClientBulkWrite(t *testing.T) {
	ctx, m, f := context.Background(), mongotest.NewMonitor(), mongotest.NewFaults()
	client := mongotest.NewClient(t, mongotest.WithMonitor(m), mongotest.WithFaults(f),
		mongotest.WithClientOptions(options.Client().SetRetryWrites(false)))
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
