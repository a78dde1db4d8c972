package mongotest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest"
)

// expiring returns a collection of an engine whose documents expire ten seconds after their time, and one document of
// now.
func expiring(t *testing.T, opts ...mongotest.Option) *mongo.Collection {
	t.Helper()
	c := mongotest.NewClient(t, opts...).Database("x").Collection("c")
	if _, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "at", Value: 1}},
		Options: options.Index().SetExpireAfterSeconds(10)}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.InsertOne(t.Context(), bson.D{{Key: "at", Value: time.Now()}}); err != nil {
		t.Fatal(err)
	}
	return c
}

func wantDocuments(t *testing.T, when string, c *mongo.Collection, want int64) {
	t.Helper()
	if n, err := c.CountDocuments(t.Context(), bson.D{}); err != nil || n != want {
		t.Errorf("%s: %d documents, %v; want %d", when, n, err, want)
	}
}

func TestTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		none, minute, manual := expiring(t), mongotest.NewTTL(time.Minute), mongotest.NewTTL(0)
		server, byHand := expiring(t, minute), expiring(t, manual)
		time.Sleep(11 * time.Second)
		wantDocuments(t, "at once", none, 0)
		wantDocuments(t, "as a server, before its minute", server, 1)
		wantDocuments(t, "by hand", byHand, 1)
		time.Sleep(50 * time.Second)
		wantDocuments(t, "as a server, after its minute", server, 0)
		wantDocuments(t, "by hand, still", byHand, 1)
		manual.Sweep()
		wantDocuments(t, "by hand, swept", byHand, 0)

		// What has expired when it is stored stays until the next minute.
		if _, err := server.InsertOne(t.Context(), bson.D{{Key: "at", Value: time.Now().Add(-time.Hour)}}); err != nil {
			t.Fatal(err)
		}
		wantDocuments(t, "stored expired", server, 1)
		time.Sleep(time.Minute)
		wantDocuments(t, "a minute later", server, 0)
		if _, err := server.InsertOne(t.Context(), bson.D{{Key: "at", Value: time.Now().Add(-time.Hour)}}); err != nil {
			t.Fatal(err)
		}
		minute.Sweep()
		wantDocuments(t, "swept between", server, 0)
	})
}

func TestTTLRefused(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a nil TTL is taken")
		}
	}()
	_, stop := mongotest.Start((*mongotest.TTL)(nil))
	stop()
}
