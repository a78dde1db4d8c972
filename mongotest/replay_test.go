package mongotest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/docmodel/docmodel/mongotest"
)

// scratch is a testing.TB of a test within a test. Its failures are text.
type scratch struct {
	testing.TB
	mu       sync.Mutex
	text     string
	failed   bool
	cleanups []func()
}

func (*scratch) Helper() {}

func (s *scratch) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

func (s *scratch) Failed() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.failed }

func (s *scratch) Skipped() bool { return false }

func (s *scratch) Logf(string, ...any) {}

func (s *scratch) Fatalf(format string, a ...any) { s.Errorf(format, a...); runtime.Goexit() }

func (s *scratch) Errorf(format string, a ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = true
	s.text += fmt.Sprintf(format, a...) + "\n"
}

// within runs f as a test of its own and returns the text of its failures.
func within(t *testing.T, f func(t testing.TB)) string {
	t.Helper()
	s := &scratch{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, c := range slices.Backward(s.cleanups) {
				c()
			}
		}()
		f(s)
	}()
	<-done
	return s.text
}

// recorders are what a test can be recorded on.
func recorders() []string {
	if os.Getenv(mongotest.EnvURI) != "" {
		return []string{"engine", "server"}
	}
	return []string{"engine"}
}

// replayCase runs f recorded, recorded again, and replayed twice, and returns the recording.
func replayCase(t *testing.T, on string, f func(t testing.TB, client *mongo.Client), opts ...mongotest.Option) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "testdata", "case.replay")
	run := func(mode string) string {
		t.Helper()
		t.Setenv(mongotest.EnvRecord, mode)
		if text := within(t, func(t testing.TB) { f(t, mongotest.Replay(t, file, opts...)) }); text != "" {
			t.Fatalf("mode %q: %s", mode, text)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := run(on)
	t.Logf("%s", first)
	run("")
	run("")
	if again := run(on); again != first {
		t.Errorf("recorded again:\n%s\nbefore:\n%s", again, first)
	}
	return first
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// Whatever a client does is replayed: cursors, errors, what it generates, and what the server generates. Every case has a
// database of its own: FerretDB once deleted nothing in a collection whose name had just been dropped.
func TestReplay(t *testing.T) {
	ctx := context.Background()
	tests := []struct {
		name string
		f    func(t testing.TB, client *mongo.Client)
		opts []mongotest.Option
	}{
		{"documents and cursors", func(t testing.TB, client *mongo.Client) {
			coll := client.Database("replayed_cursors").Collection("orders")
			for n := range 5 {
				res, err := coll.InsertOne(ctx, bson.D{{Key: "n", Value: n}, {Key: "f", Value: 1.0}, {Key: "l", Value: int64(1)}})
				must(t, err)
				var got struct {
					ID  bson.ObjectID `bson:"_id"`
					Ref string
				}
				_, err = coll.UpdateByID(ctx, res.InsertedID, bson.D{{
					Key:   "$set",
					Value: bson.D{{Key: "ref", Value: "order:" + res.InsertedID.(bson.ObjectID).Hex()}},
				}})
				must(t, err)
				must(t, coll.FindOne(ctx, bson.D{{Key: "_id", Value: res.InsertedID}}).Decode(&got))
				if got.ID != res.InsertedID || got.Ref != "order:"+got.ID.Hex() {
					t.Errorf("got %v %s, want %v", got.ID, got.Ref, res.InsertedID)
				}
			}
			cursor, err := coll.Find(ctx, bson.D{}, options.Find().SetBatchSize(2).SetSort(bson.D{{Key: "n", Value: 1}}))
			must(t, err)
			for n := range 5 {
				if !cursor.Next(ctx) || cursor.Current.Lookup("n").Int32() != int32(n) {
					t.Errorf("%d: %v, %v", n, cursor.Current, cursor.Err())
				}
			}
			must(t, cursor.Close(ctx))
			cursor, err = coll.Find(ctx, bson.D{}, options.Find().SetBatchSize(2))
			must(t, err)
			must(t, cursor.Close(ctx)) // a killCursors
		}, nil},
		{"errors", func(t testing.TB, client *mongo.Client) {
			coll := client.Database("replayed_errors").Collection("orders")
			_, err := coll.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}})
			must(t, err)
			if _, err = coll.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}}); !mongo.IsDuplicateKeyError(err) {
				t.Errorf("want a duplicate key, got %v", err)
			}
			err = coll.FindOne(ctx, bson.D{{Key: "$nonsense", Value: 1}}).Err()
			var failure mongo.ServerError
			if !errors.As(err, &failure) || !failure.HasErrorCode(2) {
				t.Errorf("want BadValue, got %v", err)
			}
		}, nil},
		{"ids of the server", func(t testing.TB, client *mongo.Client) {
			coll := client.Database("replayed_ids").Collection("orders")
			res, err := coll.UpdateOne(ctx, bson.D{{Key: "n", Value: 1}},
				bson.D{{Key: "$set", Value: bson.D{{Key: "m", Value: 1}}}}, options.UpdateOne().SetUpsert(true))
			must(t, err)
			n, err := coll.DeleteOne(ctx, bson.D{{Key: "_id", Value: res.UpsertedID}})
			must(t, err)
			if n.DeletedCount != 1 {
				t.Errorf("deleted %d", n.DeletedCount)
			}
		}, nil},
		{"unacknowledged", func(t testing.TB, client *mongo.Client) {
			coll := client.Database("replayed_unacknowledged").
				Collection("orders", options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
			_, err := coll.InsertOne(ctx, bson.D{{Key: "n", Value: 1}})
			must(t, err)
		}, nil},
		{"maxTimeMS", func(t testing.TB, client *mongo.Client) {
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, err := client.Database("replayed_times").Collection("orders").CountDocuments(short, bson.D{})
			must(t, err)
		}, nil},
	}
	for _, on := range recorders() {
		for _, tt := range tests {
			t.Run(on+"/"+tt.name, func(t *testing.T) { replayCase(t, on, tt.f, tt.opts...) })
		}
	}
}

func TestReplayTransactions(t *testing.T) {
	ctx := context.Background()
	text := replayCase(t, "engine", func(t testing.TB, client *mongo.Client) {
		coll := client.Database("replayed").Collection("accounts")
		for range 2 {
			session, err := client.StartSession()
			must(t, err)
			_, err = session.WithTransaction(ctx, func(ctx context.Context) (any, error) {
				res, err := coll.InsertOne(ctx, bson.D{{Key: "n", Value: 1}})
				if err == nil {
					_, err = coll.DeleteOne(ctx, bson.D{{Key: "_id", Value: res.InsertedID}})
				}
				return nil, err
			})
			must(t, err)
			session.EndSession(ctx)
		}
	})
	if n := strings.Count(text, `"txnNumber": {"$numberLong": "2"}`); n != 3 {
		t.Errorf("the second transaction has %d commands, want 3", n)
	}
	for _, word := range []string{"lsid", "clusterTime", "$db", "engine.local"} {
		if strings.Contains(text, word) {
			t.Errorf("the recording has %s", word)
		}
	}
}

func TestReplayChangeStream(t *testing.T) {
	ctx := context.Background()
	replayCase(t, "engine", func(t testing.TB, client *mongo.Client) {
		coll := client.Database("replayed").Collection("accounts")
		stream, err := coll.Watch(ctx, mongo.Pipeline{})
		must(t, err)
		_, err = coll.InsertOne(ctx, bson.D{{Key: "n", Value: 1}})
		must(t, err)
		if !stream.Next(ctx) || stream.Current.Lookup("operationType").StringValue() != "insert" {
			t.Errorf("%v, %v", stream.Current, stream.Err())
		}
		token := stream.ResumeToken()
		must(t, stream.Close(ctx))
		_, err = coll.InsertOne(ctx, bson.D{{Key: "n", Value: 2}})
		must(t, err)
		stream, err = coll.Watch(ctx, mongo.Pipeline{}, options.ChangeStream().SetResumeAfter(token))
		must(t, err)
		if !stream.Next(ctx) || stream.Current.Lookup("fullDocument", "n").Int32() != 2 {
			t.Errorf("%v, %v", stream.Current, stream.Err())
		}
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		if stream.Next(short) || !errors.Is(stream.Err(), context.DeadlineExceeded) {
			t.Errorf("want no further change, got %v, %v", stream.Current, stream.Err())
		}
		must(t, stream.Close(ctx))
	})
}
