package engine_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipe"
)

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
