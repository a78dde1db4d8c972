package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

// ids reads what there is, as the _ids of the changed documents, and the token
// after each.
func ids(t testing.TB, cs *mongo.ChangeStream) (list []int32, tokens []bson.Raw) {
	t.Helper()
	for tryNext(cs) {
		id, _ := cs.Current.Lookup("documentKey", "_id").Int32OK()
		list, tokens = append(list, id), append(tokens, append(bson.Raw{}, cs.ResumeToken()...))
	}
	if err := cs.Err(); err != nil {
		t.Fatal(err)
	}
	return list, tokens
}

func TestChangeResume(t *testing.T) {
	c := collection(t)
	cs := watch(t, c, quick())
	start := cs.ResumeToken()
	var times []bson.Timestamp
	const n = 6
	for i := range n {
		insert(t, c.Database().Collection("other"), `{}`)
		insert(t, c, fmt.Sprintf(`{"_id":%d}`, i))
	}
	cs.SetBatchSize(1)
	all, tokens := ids(t, cs)
	if len(all) != n {
		t.Fatalf("events of %v, want %d", all, n)
	}
	for _, token := range tokens {
		var at uint64
		if _, err := fmt.Sscanf(token.Lookup("_data").StringValue()[2:18], "%16X", &at); err != nil {
			t.Fatal(err)
		}
		times = append(times, bson.Timestamp{T: uint32(at >> 32), I: uint32(at)})
	}
	check := func(what string, from int, opts *options.ChangeStreamOptionsBuilder) {
		t.Helper()
		for _, size := range []int32{0, 1, 4} {
			got, _ := ids(t, watch(t, c, quick(), opts, options.ChangeStream().SetBatchSize(size)))
			if fmt.Sprint(got) != fmt.Sprint(all[from:]) {
				t.Errorf("%s, in batches of %d: events of %v, want %v", what, size, got, all[from:])
			}
		}
	}
	check("from the start", 0, options.ChangeStream().SetResumeAfter(start))
	for i := range n {
		check(fmt.Sprint("after event ", i), i+1, options.ChangeStream().SetResumeAfter(tokens[i]))
		check(fmt.Sprint("started after event ", i), i+1, options.ChangeStream().SetStartAfter(tokens[i]))
		check(fmt.Sprint("at the time of event ", i), i, options.ChangeStream().SetStartAtOperationTime(&times[i]))
	}
	later := bson.Timestamp{T: times[n-1].T + 1000}
	check("at a time to come", n, options.ChangeStream().SetStartAtOperationTime(&later))
	check("now", n, options.ChangeStream())
}

// TestChangeResumeInvalid goes on after a collection was dropped.
func TestChangeResumeInvalid(t *testing.T) {
	c := collection(t)
	cs := watch(t, c, quick(), options.ChangeStream().SetBatchSize(1))
	insert(t, c, `{"_id":1}`)
	if err := c.Drop(ctx); err != nil {
		t.Fatal(err)
	}
	insert(t, c, `{"_id":2}`)
	_, tokens := ids(t, cs)
	if len(tokens) != 3 {
		t.Fatalf("%d events, want an insert, the drop and its invalidate", len(tokens))
	}
	drop := `{"operationType":"drop",` + things + `}`
	inserted := `{"operationType":"insert","fullDocument":{"_id":2},` + things + `,"documentKey":{"_id":2}}`
	after := func(i int) *options.ChangeStreamOptionsBuilder { return quick().SetResumeAfter(tokens[i]) }
	wantEvents(t, "after the insert", events(t, watch(t, c, after(0))), drop, `{"operationType":"invalidate"}`)
	wantEvents(t, "after the drop", events(t, watch(t, c, after(1))), `{"operationType":"invalidate"}`)
	wantEvents(t, "started after the invalidate", events(t, watch(t, c, quick().SetStartAfter(tokens[2]))), inserted)
	wantEvents(t, "the database, after the drop", events(t, watch(t, c.Database(), after(1))), inserted)
}

// TestChangeHistoryLost makes more changes than are kept.
func TestChangeHistoryLost(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":-1}`)
	cs, err := c.Watch(ctx, mongo.Pipeline{}, quick())
	if err != nil {
		t.Fatal(err)
	}
	early := cs.ResumeToken()
	docs := make([]any, 12_000)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}}
	}
	if _, err := c.InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
	if tryNext(cs) {
		t.Error("an event was given, though some before it have been forgotten")
	}
	wantCode(t, "a stream that fell behind", cs.Err(), 286)
	_, err = c.Watch(ctx, mongo.Pipeline{}, options.ChangeStream().SetResumeAfter(early))
	wantCode(t, "an old token", err, 286)
	var e mongo.ServerError
	if errors.As(err, &e) && !e.HasErrorLabel("NonResumableChangeStreamError") {
		t.Errorf("%v has no label that says that it is final", err)
	}
}

// TestChangeWait holds that a getMore waits as long as it was told, that an
// event ends the waiting at once, and that nothing happens meanwhile.
func TestChangeWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := collection(t)
		cs := watch(t, c, options.ChangeStream().SetMaxAwaitTime(time.Hour))
		cs.TryNext(ctx)
		begin := time.Now()
		if cs.TryNext(ctx) || cs.Err() != nil {
			t.Fatalf("there was an event, or %v", cs.Err())
		}
		if d := time.Since(begin); d != time.Hour {
			t.Errorf("an empty batch came after %v, want an hour", d)
		}
		begin = time.Now()
		go func() {
			time.Sleep(20 * time.Minute)
			if _, err := c.Database().Collection("other").InsertOne(ctx, bson.D{}); err != nil {
				t.Error(err)
			}
			time.Sleep(10 * time.Minute)
			if _, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}}); err != nil {
				t.Error(err)
			}
		}()
		if !cs.Next(ctx) {
			t.Fatal(cs.Err())
		}
		if d := time.Since(begin); d != 30*time.Minute {
			t.Errorf("the event came after %v, want 30 minutes", d)
		}
		plain := watch(t, c)
		plain.TryNext(ctx)
		begin = time.Now()
		if plain.TryNext(ctx); time.Since(begin) != time.Second {
			t.Errorf("without maxTimeMS a getMore waited %v, want a second", time.Since(begin))
		}
	})
}

// TestChangeKill ends the waiting of streams in each way that there is.
func TestChangeKill(t *testing.T) {
	wait := func(t *testing.T, ctx context.Context, cs *mongo.ChangeStream) <-chan error {
		done := make(chan error)
		go func() {
			for cs.TryNext(ctx) || cs.Err() == nil {
			}
			done <- cs.Err()
		}()
		synctest.Wait()
		return done
	}
	long := options.ChangeStream().SetMaxAwaitTime(time.Hour)
	t.Run("killCursors", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := collection(t)
			cs := watch(t, c, long)
			done := wait(t, ctx, cs)
			var reply struct{ CursorsKilled []int64 }
			kill := bson.D{{Key: "killCursors", Value: "things"}, {Key: "cursors", Value: bson.A{cs.ID()}}}
			if err := c.Database().RunCommand(ctx, kill).Decode(&reply); err != nil || len(reply.CursorsKilled) != 1 {
				t.Errorf("killCursors: %v, %v", reply, err)
			}
			wantCode(t, "the getMore", <-done, 237)
		})
	})
	t.Run("endSessions", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := collection(t)
			s, err := c.Database().Client().StartSession()
			if err != nil {
				t.Fatal(err)
			}
			defer s.EndSession(ctx)
			sctx := mongo.NewSessionContext(ctx, s)
			cs, err := c.Watch(sctx, mongo.Pipeline{}, long)
			if err != nil {
				t.Fatal(err)
			}
			done := wait(t, sctx, cs)
			end := bson.D{{Key: "endSessions", Value: bson.A{s.ID()}}}
			if err := c.Database().Client().Database("admin").RunCommand(ctx, end).Err(); err != nil {
				t.Fatal(err)
			}
			wantCode(t, "the getMore", <-done, 237)
		})
	})
	t.Run("context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := collection(t)
			short, cancel := context.WithCancel(ctx)
			done := wait(t, short, watch(t, c, long))
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("the getMore: %v", err)
			}
		})
	})
	t.Run("close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, e := start(t)
			short, cancel := context.WithTimeout(ctx, 30*time.Second)
			defer cancel()
			done := wait(t, short, watch(t, client.Database("test").Collection("things"), long))
			e.Close()
			if err := <-done; err == nil {
				t.Error("the stream of a closed engine goes on")
			}
		})
	})
}

// TestChangeCursorDies has the driver go on by itself after its cursor is gone.
func TestChangeCursorDies(t *testing.T) {
	c := collection(t)
	cs := watch(t, c, quick())
	for i := range 3 {
		insert(t, c, fmt.Sprintf(`{"_id":%d}`, i))
		kill := bson.D{{Key: "killCursors", Value: "things"}, {Key: "cursors", Value: bson.A{cs.ID()}}}
		if err := c.Database().RunCommand(ctx, kill).Err(); err != nil {
			t.Fatal(err)
		}
		if got, _ := ids(t, cs); len(got) != 1 || got[0] != int32(i) {
			t.Errorf("after the cursor was killed: events of %v, want %d", got, i)
		}
	}
}

// TestChangeExpiry has what a TTL index removes.
func TestChangeExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := collection(t)
		_, err := c.Indexes().CreateOne(ctx, mongo.IndexModel{
			Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(60)})
		if err != nil {
			t.Fatal(err)
		}
		cs := watch(t, c, quick())
		if _, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "at", Value: time.Now()}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		got, _ := ids(t, cs)
		if len(got) != 2 || cs.Current.Lookup("operationType").StringValue() != "delete" {
			t.Errorf("events of %v, the last is %s", got, cs.Current)
		}
	})
}

// Changes that are shown late are no changes before: batches are empty, and their tokens
// have come no further. A stream that waits has them as soon as they are shown.
func TestChangesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New()
		defer e.Close()
		e.DelayChanges(time.Minute)
		client, err := mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Disconnect(ctx) }()
		c := client.Database("test").Collection("c")
		cs := watch(t, c, quick())
		defer cs.Close(ctx)
		start := cs.ResumeToken()
		insert(t, c, `{"_id":1}`)
		time.Sleep(30 * time.Second)
		insert(t, c, `{"_id":2}`)
		if got, _ := ids(t, cs); len(got) > 0 || !bytes.Equal(cs.ResumeToken(), start) {
			t.Errorf("events of %v at once, token %v, want none and %v", got, cs.ResumeToken(), start)
		}
		time.Sleep(31 * time.Second)
		if got, _ := ids(t, cs); fmt.Sprint(got) != "[1]" {
			t.Errorf("events of %v after a minute, want those of 1", got)
		}
		began := time.Now()
		patient := watch(t, c, options.ChangeStream().SetStartAfter(cs.ResumeToken()).SetMaxAwaitTime(time.Hour))
		defer patient.Close(ctx)
		if !patient.Next(ctx) || time.Since(began) > 30*time.Second {
			t.Errorf("who waits has nothing after %v: %v", time.Since(began), patient.Err())
		}
		if got, _ := ids(t, watch(t, c, quick(),
			options.ChangeStream().SetStartAfter(start))); fmt.Sprint(got) != "[1 2]" {
			t.Errorf("events of %v in the end", got)
		}
	})
}
