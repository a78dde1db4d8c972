package mongotest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/mongotest"
)

// A difference is shown with the number of the command, both commands, and each field that differs.
func TestReplayDiffers(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "shop.replay")
	type step func(ctx context.Context, coll *mongo.Collection)
	insert := func(doc bson.D) step {
		return func(ctx context.Context, coll *mongo.Collection) { _, _ = coll.InsertOne(ctx, doc) }
	}
	find := func(filter bson.D) step {
		return func(ctx context.Context, coll *mongo.Collection) { _ = coll.FindOne(ctx, filter).Err() }
	}
	run := func(mode, collection string, opts []mongotest.Option, steps ...step) string {
		t.Setenv(mongotest.EnvRecord, mode)
		text := within(t, func(t testing.TB) {
			coll := mongotest.Replay(t, file, opts...).Database("replayed").Collection(collection)
			for _, s := range steps {
				s(ctx, coll)
			}
		})
		return strings.TrimSpace(strings.ReplaceAll(text, file, "shop.replay"))
	}
	id := bson.NewObjectID()
	byID := find(bson.D{{Key: "_id", Value: id}})
	one, two := insert(bson.D{{Key: "_id", Value: id}, {Key: "n", Value: 1}}),
		find(bson.D{{Key: "n", Value: 1}, {Key: "status", Value: "paid"}})
	if text := run("engine", "orders", nil, one, two, byID); text != "" {
		t.Fatal(text)
	}
	const remedy = "\n\tremedy: if the new command is meant, record the test again with MONGOTEST_RECORD=server or MONGOTEST_RECORD=engine"
	anyOrder := []mongotest.Option{mongotest.Settings{AnyOrder: true}}
	tests := []struct {
		name       string
		collection string
		opts       []mongotest.Option
		steps      []step
		text       string
	}{
		{
			name: "another value", collection: "orders", opts: nil,
			steps: []step{one, find(bson.D{{Key: "n", Value: int64(1)}, {Key: "status", Value: "sent"}}), byID},

			text: "mongotest: Replay: shop.replay: command 2 of 3 differs from the recorded one" +
				"\n\t- orders.find {filter: {n: 1, status: 'paid'}, limit: Long('1'), singleBatch: true}" +
				"\n\t+ orders.find {filter: {n: Long('1'), status: 'sent'}, limit: Long('1'), singleBatch: true}" +
				"\n\tfilter.n: want int32 1, got int64 Long('1')" +
				"\n\tfilter.status: want string 'paid', got string 'sent'" + remedy,
		},
		{"another collection", "carts", nil, []step{one},
			"mongotest: Replay: shop.replay: command 1 of 3 differs from the recorded one" +
				"\n\t- orders.insert {documents: [{_id: ObjectId('000000001d1d1d1d1d000001'), n: 1}]}" +
				"\n\t+ carts.insert {documents: [{_id: ObjectId('000000001d1d1d1d1d000001'), n: 1}]}" + remedy},
		{"another id of the client", "orders", nil, []step{one, two, find(bson.D{{Key: "_id", Value: bson.ObjectID{11: 1}}})},
			"mongotest: Replay: shop.replay: command 3 of 3 differs from the recorded one" +
				"\n\t- orders.find {filter: {_id: ObjectId('000000001d1d1d1d1d000001')}, limit: Long('1'), singleBatch: true}" +
				"\n\t+ orders.find {filter: {_id: ObjectId('000000000000000000000001')}, limit: Long('1'), singleBatch: true}" +
				"\n\tfilter._id: want objectID ObjectId('000000001d1d1d1d1d000001'), got objectID ObjectId('000000000000000000000001')" + remedy},
		{"another order", "orders", nil, []step{one, byID, two},
			"mongotest: Replay: shop.replay: command 2 of 3 differs from the recorded one" +
				"\n\t- orders.find {filter: {n: 1, status: 'paid'}, limit: Long('1'), singleBatch: true}" +
				"\n\t+ orders.find {filter: {_id: ObjectId('000000001d1d1d1d1d000001')}, limit: Long('1'), singleBatch: true}" +
				"\n\tfilter._id: want nothing, got objectID ObjectId('000000001d1d1d1d1d000001')" +
				"\n\tfilter.n: want int32 1, got nothing" +
				"\n\tfilter.status: want string 'paid', got nothing" +
				"\n\tit is command 3 of the recording; Settings.AnyOrder is for commands of several goroutines" +
				remedy},
		{"another order that is let be", "orders", anyOrder, []step{two, one, byID}, ""},
		{"one command more", "orders", nil, []step{one, two, byID, byID},
			"mongotest: Replay: shop.replay: command 4 was sent and is not in the recording, which has 3 commands" +
				"\n\t+ orders.find {filter: {_id: ObjectId('" + id.Hex() + "')}, limit: Long('1'), singleBatch: true}"},
		{"two commands less", "orders", nil, []step{one},
			"mongotest: Replay: shop.replay: 1 of 3 recorded commands were sent; not sent:" +
				"\n\t- orders.find {filter: {n: 1, status: 'paid'}, limit: Long('1'), singleBatch: true}" +
				"\n\t- orders.find {filter: {_id: ObjectId('000000001d1d1d1d1d000001')}, limit: Long('1'), singleBatch: true}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if text := run("", tt.collection, tt.opts, tt.steps...); text != tt.text {
				t.Errorf("got\n%s\nwant\n%s\n%s", text, tt.text, mongotest.Diff(tt.text, text))
			}
		})
	}
}

// What can't be recorded or replayed fails the test and leaves the file alone.
func TestReplayRefuses(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "x.replay")
	run := func(mode string, f func(t testing.TB, client *mongo.Client)) string {
		t.Setenv(mongotest.EnvRecord, mode)
		text := within(t, func(t testing.TB) { f(t, mongotest.Replay(t, file)) })
		return strings.ReplaceAll(text, file, "x.replay")
	}
	nothing := func(testing.TB, *mongo.Client) {}
	tests := []struct {
		name, mode, text string
		f                func(t testing.TB, client *mongo.Client)
	}{
		{
			name: "no file", mode: "",
			text: "there is no recording x.replay\n\tremedy: run the test once with MONGOTEST_RECORD=server and MONGODB_URI",
			f:    nothing,
		},
		{"another mode", "yes", `MONGOTEST_RECORD is "yes", want server or engine`, nothing},
		{
			name: "a command about the server", mode: "engine",
			text: "listDatabases can't be recorded: it is about the server",
			f: func(_ testing.TB, client *mongo.Client) {
				_, _ = client.ListDatabaseNames(ctx, bson.D{})
			},
		},
		{
			name: "two commands at once", mode: "engine",
			text: "a command was sent before the reply of another one had come",
			f: func(t testing.TB, client *mongo.Client) {
				coll := client.Database("replayed").Collection("x")
				stream, err := coll.Watch(ctx, mongo.Pipeline{})
				must(t, err)
				waiting := make(chan struct{})
				done := make(chan struct{})
				go func() { defer close(done); close(waiting); stream.Next(ctx) }()
				<-waiting
				time.Sleep(50 * time.Millisecond)
				_, err = coll.InsertOne(ctx, bson.D{})
				must(t, err)
				<-done
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if text := run(tt.mode, tt.f); !strings.Contains(text, tt.text) {
				t.Errorf("got %q, want %q", text, tt.text)
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("a file was written")
			}
		})
	}
	s := &scratch{TB: t}
	done := make(chan struct{})
	go func() { defer close(done); mongotest.NewClient(s, mongotest.Settings{AnyOrder: true}) }()
	<-done
	if s.text != "mongotest: Settings.AnyOrder is for Replay alone\n" {
		t.Errorf("NewClient: %q", s.text)
	}
}

// Commands of several goroutines come in any order.
func TestReplayAnyOrder(t *testing.T) {
	ctx := context.Background()
	replayCase(t, "engine", func(t testing.TB, client *mongo.Client) {
		coll := client.Database("replayed").Collection("parts")
		var wait sync.WaitGroup
		for n := range 4 {
			wait.Go(func() {
				for i := range 5 {
					res, err := coll.InsertOne(ctx, bson.D{{Key: "worker", Value: n}, {Key: "i", Value: i}})
					if err != nil {
						t.Errorf("%v", err)
						return
					}
					if err := coll.FindOne(ctx, bson.D{{Key: "_id", Value: res.InsertedID}}).Err(); err != nil {
						t.Errorf("%v", err)
					}
				}
			})
		}
		wait.Wait()
	}, mongotest.Settings{AnyOrder: true})
}
