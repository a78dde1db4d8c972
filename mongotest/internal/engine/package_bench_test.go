// These benchmarks measure the whole engine by the Go driver.

package engine_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipe"
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

// widgets are n documents whose field k is their number in a random order.
func widgets(n int) []any {
	docs := make([]any, n)
	for i, k := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		docs[i] = bson.D{
			{Key: "_id", Value: i}, {Key: "k", Value: k}, {Key: "name", Value: "widget"},
			{Key: "tags", Value: bson.A{"a", "b"}},
		}
	}
	return docs
}

// BenchmarkFindIndexed finds a document by an indexed field, and ten by a range of it, among more and more documents:
// the logarithm of their number. The driver's part is left out, which doesn't depend on it.
func BenchmarkFindIndexed(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		e := engine.New()
		answer := func(command bson.D) {
			if _, err := e.Answer(message(b, append(command, bson.E{Key: "$db", Value: "test"}))); err != nil {
				b.Fatal(err)
			}
		}
		answer(doc(b, `{"createIndexes":"things","indexes":[{"key":{"k":1},"name":"k_1"}]}`))
		for chunk := range slices.Chunk(widgets(n), 100_000) {
			answer(bson.D{{Key: "insert", Value: "things"}, {Key: "documents", Value: chunk}})
		}
		r := rand.New(rand.NewPCG(3, 4))
		for _, width := range []int{1, 10} {
			b.Run(fmt.Sprintf("%d of %d", width, n), func(b *testing.B) {
				for b.Loop() {
					from := r.IntN(n - width)
					k := bson.D{{Key: "$gte", Value: from}, {Key: "$lt", Value: from + width}}
					answer(bson.D{{Key: "find", Value: "things"}, {Key: "filter", Value: bson.D{{Key: "k", Value: k}}}})
				}
			})
		}
		e.Close()
	}
}

// BenchmarkInsertMany inserts 100,000 documents by one call, beside encoding them, which the driver does too, and
// beside what the engine does of it. The rest is the driver's, which reads each document once more for its _id.
func BenchmarkInsertMany(b *testing.B) {
	ctx := context.Background()
	docs := widgets(100_000)
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			for _, d := range docs {
				if _, err := bson.Marshal(d); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("engine", func(b *testing.B) {
		msg := message(b, bson.D{
			{Key: "insert", Value: "things"}, {Key: "documents", Value: docs}, {Key: "$db", Value: "test"},
		})
		for b.Loop() {
			e := engine.New()
			if _, err := e.Answer(msg); err != nil {
				b.Fatal(err)
			}
			e.Close()
		}
	})
	b.Run("insert", func(b *testing.B) {
		for b.Loop() {
			c := collection(b)
			if _, err := c.InsertMany(ctx, docs); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkAnswer finds a document by _id without the driver: the engine's part of BenchmarkFindOne.
func BenchmarkAnswer(b *testing.B) {
	e := engine.New()
	defer e.Close()
	if _, err := e.Answer(message(b, bson.D{
		{Key: "insert", Value: "things"}, {Key: "documents", Value: widgets(10_000)}, {Key: "$db", Value: "test"},
	})); err != nil {
		b.Fatal(err)
	}
	find := message(b, doc(b, `{"find":"things","filter":{"_id":777},"limit":1,"singleBatch":true,"$db":"test"}`))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Answer(find); err != nil {
			b.Fatal(err)
		}
	}
}

// echoes dials an engine whose answers to find and insert are computed once, and then given again: what is left is the
// driver.
type echoes struct{ engine *engine.Engine }

func (e echoes) DialContext(context.Context, string, string) (net.Conn, error) {
	client, server := pipe.New()
	go func() {
		defer server.Close()
		kept := map[string][]byte{}
		for {
			head := make([]byte, 4)
			if _, err := io.ReadFull(server, head); err != nil {
				return
			}
			message := make([]byte, binary.LittleEndian.Uint32(head))
			copy(message, head)
			if _, err := io.ReadFull(server, message[4:]); err != nil {
				return
			}
			name := "" // of a command whose answer is kept
			for _, s := range []string{"find", "insert"} {
				if bytes.Contains(message[:min(len(message), 40)], []byte("\x02"+s+"\x00")) {
					name = s
				}
			}
			reply := kept[name]
			if reply == nil {
				var err error
				if reply, err = e.engine.Answer(message); err != nil {
					return
				}
				if name != "" {
					kept[name] = reply
				}
			}
			copy(reply[8:12], message[4:8]) // responseTo
			if _, err := server.Write(reply); err != nil {
				return
			}
		}
	}()
	return client, nil
}

// BenchmarkDriver is what the driver takes by itself for BenchmarkFindOne and BenchmarkInsertOne: the answers are there
// already.
func BenchmarkDriver(b *testing.B) {
	ctx := context.Background()
	e := engine.New()
	defer e.Close()
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(echoes{e}))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = client.Disconnect(ctx) }()
	c := client.Database("test").Collection("things")
	if _, err := c.InsertOne(ctx, bson.D{
		{Key: "_id", Value: 0}, {Key: "name", Value: "widget"}, {Key: "tags", Value: bson.A{"a", "b"}},
	}); err != nil {
		b.Fatal(err)
	}
	b.Run("findOne", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := c.FindOne(ctx, bson.D{{Key: "_id", Value: 0}}).Err(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("insertOne", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.InsertOne(ctx, bson.D{{Key: "name", Value: "widget"}, {Key: "n", Value: 7}}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

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
					{Key: "find", Value: "things"},
					{Key: "sort", Value: bson.D{{Key: "s", Value: 1}, {Key: "_id", Value: 1}}},
					{Key: "limit", Value: 1}, {Key: "collation", Value: bson.D{{Key: "locale", Value: locale}}},
				})
			}
		})
	}
}
