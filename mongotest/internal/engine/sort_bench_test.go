package engine_test

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

// BenchmarkSort sorts 1,000 strings that no index has in order, and returns the first, byte by byte and under a
// collation.
func BenchmarkSort(b *testing.B) {
	e := engine.New()
	defer e.Close()
	answer := func(command bson.D) {
		if _, err := e.Answer(message(b, append(command, bson.E{Key: "$db", Value: "test"}))); err != nil {
			b.Fatal(err)
		}
	}
	docs := make([]any, 1000)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}, {Key: "s", Value: fmt.Sprintf("widget %d", i*7919%1000)}}
	}
	answer(bson.D{{Key: "insert", Value: "things"}, {Key: "documents", Value: docs}})
	for _, locale := range []string{"simple", "en"} {
		b.Run(locale, func(b *testing.B) {
			for b.Loop() {
				answer(bson.D{
					{Key: "find", Value: "things"}, {Key: "sort", Value: bson.D{{Key: "s", Value: 1}, {Key: "_id", Value: 1}}},
					{Key: "limit", Value: 1}, {Key: "collation", Value: bson.D{{Key: "locale", Value: locale}}},
				})
			}
		})
	}
}
