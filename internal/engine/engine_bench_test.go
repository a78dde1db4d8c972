package engine_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/engine"
)

// BenchmarkFindOne finds one of 10,000 documents by _id.
func BenchmarkFindOne(b *testing.B) {
	ctx := context.Background()
	c := collection(b)
	docs := make([]any, 10_000)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}, {Key: "name", Value: "widget"}, {Key: "tags", Value: bson.A{"a", "b"}}}
	}
	if _, err := c.InsertMany(ctx, docs); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := c.FindOne(ctx, bson.D{{Key: "_id", Value: i % len(docs)}}).Err(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkInsertOne inserts documents one by one.
func BenchmarkInsertOne(b *testing.B) {
	ctx := context.Background()
	c := collection(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.InsertOne(ctx, bson.D{{Key: "name", Value: "widget"}, {Key: "n", Value: 7}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkConnect starts an engine, connects, pings, and ends both.
func BenchmarkConnect(b *testing.B) {
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		e := engine.New()
		client, err := mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e))
		if err != nil {
			b.Fatal(err)
		}
		if err := client.Ping(ctx, nil); err != nil {
			b.Fatal(err)
		}
		if err := client.Disconnect(ctx); err != nil {
			b.Fatal(err)
		}
		e.Close()
	}
}
