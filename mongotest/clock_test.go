package mongotest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest"
)

// A trial ends after 14 days. The test begins on a leap day and moves the clock, and nobody waits.
func ExampleClock_days() {
	clock := mongotest.NewClock(time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC))
	client, stop := mongotest.Start(clock)
	defer stop()
	ctx, trials := context.Background(), client.Database("shop").Collection("trials")
	_, err := trials.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "since", Value: 1}},
		Options: options.Index().SetExpireAfterSeconds(14 * 24 * 3600)})
	if err != nil {
		log.Panic(err)
	}
	since := bson.D{{Key: "$currentDate", Value: bson.D{{Key: "since", Value: true}}}}
	if _, err := trials.UpdateByID(ctx, "ann", since, options.UpdateOne().SetUpsert(true)); err != nil {
		log.Panic(err)
	}
	for _, wait := range []time.Duration{0, 13 * 24 * time.Hour, 25 * time.Hour} {
		clock.Advance(wait)
		n, err := trials.CountDocuments(ctx, bson.D{})
		fmt.Println(clock.Now().Format(time.DateOnly), n, err)
	}
	// Output:
	// 2024-02-29 1 <nil>
	// 2024-03-13 1 <nil>
	// 2024-03-14 0 <nil>
}

var leapDay = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)

// What has expired is gone once the clock has moved, and not before.
func TestClockExpiry(t *testing.T) {
	clock, byHand := mongotest.NewClock(leapDay), mongotest.NewTTL(0)
	db := mongotest.NewClient(t, clock).Database("x")
	other := mongotest.NewClient(t, clock, byHand).Database("x")
	for _, db := range []*mongo.Database{db, other} {
		c := db.Collection("c")
		if _, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "at", Value: 1}},
			Options: options.Index().SetExpireAfterSeconds(10)}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.InsertOne(t.Context(), bson.D{{Key: "at", Value: leapDay}}); err != nil {
			t.Fatal(err)
		}
	}
	wantDocuments(t, "before", db.Collection("c"), 1)
	clock.Advance(9 * time.Second)
	wantDocuments(t, "nearly", db.Collection("c"), 1)
	clock.Advance(2 * time.Second)
	wantDocuments(t, "after", db.Collection("c"), 0)
	wantDocuments(t, "by hand", other.Collection("c"), 1)
	byHand.Sweep()
	wantDocuments(t, "by hand, swept", other.Collection("c"), 0)
}

// A change stream that waits sees what expires as the clock moves, at the clock's time.
func TestClockWakesStream(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	clock := mongotest.NewClock(leapDay)
	c := mongotest.NewClient(t, clock, mongotest.Settings{ChangeLag: time.Minute}).
		Database("x").Collection("c")
	if _, err := c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "at", Value: 1}},
		Options: options.Index().SetExpireAfterSeconds(0)}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.InsertOne(ctx, bson.D{{Key: "at", Value: leapDay.Add(time.Hour)}}); err != nil {
		t.Fatal(err)
	}
	stream, err := c.Watch(ctx, mongo.Pipeline{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close(ctx)
	go func() {
		clock.Advance(2 * time.Hour)
		clock.Advance(2 * time.Minute)
	}()
	if !stream.Next(ctx) {
		t.Fatal(stream.Err())
	}
	var event struct {
		OperationType string
		ClusterTime   bson.Timestamp
		WallTime      time.Time
	}
	if err := stream.Decode(&event); err != nil {
		t.Fatal(err)
	}
	want := leapDay.Add(2 * time.Hour)
	if event.OperationType != "delete" || !event.WallTime.Equal(want) || int64(event.ClusterTime.T) != want.Unix() {
		t.Errorf("%+v, want a delete at %v", event, want)
	}
}

// Everything that tells a time tells the clock's.
func TestClockTells(t *testing.T) {
	ctx, clock := t.Context(), mongotest.NewClock(leapDay.Add(-time.Hour))
	client := mongotest.NewClient(t, clock)
	db := client.Database("x")
	clock.Advance(time.Hour)
	run := func(command string) bson.Raw {
		t.Helper()
		var d bson.D
		if err := bson.UnmarshalExtJSON([]byte(command), false, &d); err != nil {
			t.Fatal(err)
		}
		reply, err := db.RunCommand(ctx, d).Raw()
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	run(`{"insert": "c", "documents": [{"n": 1, "ts": {"$timestamp": {"t": 0, "i": 0}}}]}`)
	run(`{"update": "c", "updates": [{"q": {"n": 2}, "u": {"$currentDate": {"at": true, "ts": {"$type": "timestamp"}}}, "upsert": true},
		{"q": {"n": 3}, "u": [{"$set": {"at": "$$NOW"}}], "upsert": true}]}`)
	run(`{"aggregate": "c", "pipeline": [{"$match": {"n": 1}}, {"$project": {"_id": 0, "n": {"$literal": 4}}},
		{"$merge": {"into": "c"}}], "cursor": {}}`)
	run(`{"aggregate": "c", "pipeline": [{"$match": {"n": 1}}, {"$project": {"_id": 0, "n": 1}}, {"$out": "d"}], "cursor": {}}`)
	date := func(v bson.RawValue) time.Time { return v.Time() }
	id := func(v bson.RawValue) time.Time { return v.ObjectID().Timestamp() }
	ts := func(v bson.RawValue) time.Time { s, _ := v.Timestamp(); return time.Unix(int64(s), 0) }
	find := func(coll, filter string) string {
		return fmt.Sprintf(`{"find": %q, "filter": %s, "let": {"then": "$$NOW"}, "projection": {"now": "$$NOW", "then": "$$then", "at": 1, "ts": 1}}`, coll, filter)
	}
	for _, tt := range []struct {
		command string
		read    func(bson.RawValue) time.Time
		path    []string
	}{
		{find("c", `{"n": 1}`), id, []string{"cursor", "firstBatch", "0", "_id"}},
		{find("c", `{"n": 1}`), ts, []string{"cursor", "firstBatch", "0", "ts"}},
		{find("c", `{"n": 1}`), date, []string{"cursor", "firstBatch", "0", "now"}},
		{find("c", `{"n": 1}`), date, []string{"cursor", "firstBatch", "0", "then"}},
		{find("c", `{"n": 1}`), ts, []string{"operationTime"}},
		{find("c", `{"n": 1}`), ts, []string{"$clusterTime", "clusterTime"}},
		{find("c", `{"$expr": {"$eq": ["$at", "$$NOW"]}}`), date, []string{"cursor", "firstBatch", "1", "at"}},
		{find("c", `{"n": 2}`), id, []string{"cursor", "firstBatch", "0", "_id"}},
		{find("c", `{"n": 2}`), date, []string{"cursor", "firstBatch", "0", "at"}},
		{find("c", `{"n": 2}`), ts, []string{"cursor", "firstBatch", "0", "ts"}},
		{find("c", `{"n": 3}`), date, []string{"cursor", "firstBatch", "0", "at"}},
		{find("c", `{"n": 4}`), id, []string{"cursor", "firstBatch", "0", "_id"}},
		{find("d", `{}`), id, []string{"cursor", "firstBatch", "0", "_id"}},
		{
			command: `{"aggregate": "c", "pipeline": [{"$collStats": {}}], "cursor": {}}`,
			read:    date,
			path:    []string{"cursor", "firstBatch", "0", "localTime"},
		},
		{
			command: `{"aggregate": "c", "pipeline": [{"$indexStats": {}}], "cursor": {}}`,
			read:    date,
			path:    []string{"cursor", "firstBatch", "0", "accesses", "since"},
		},
		{`{"hello": 1}`, date, []string{"localTime"}},
		{`{"serverStatus": 1}`, date, []string{"localTime"}},
	} {
		v, err := run(tt.command).LookupErr(tt.path...)
		if err != nil {
			t.Errorf("%s: %v: %v", tt.command, tt.path, err)
		} else if got := tt.read(v); !got.Equal(leapDay) {
			t.Errorf("%s: %v is %v, want %v", tt.command, tt.path, got.UTC(), leapDay)
		}
	}
	if got := run(`{"serverStatus": 1}`).Lookup("uptimeMillis").Int64(); got != time.Hour.Milliseconds() {
		t.Errorf("up for %d ms, want an hour", got)
	}
}

// Cluster times don't go back with the clock.
func TestClockBack(t *testing.T) {
	clock := mongotest.NewClock(leapDay)
	c := mongotest.NewClient(t, clock).Database("x").Collection("c")
	var last bson.Timestamp
	for _, move := range []time.Duration{0, -time.Hour, -time.Hour, 3 * time.Hour} {
		clock.Advance(move)
		reply, err := c.Database().
			RunCommand(t.Context(), bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{bson.D{}}}}).Raw()
		if err != nil {
			t.Fatal(err)
		}
		var at struct{ OperationTime bson.Timestamp }
		if err := bson.Unmarshal(reply, &at); err != nil || !at.OperationTime.After(last) {
			t.Errorf("after %v: %v, %v, the one before was %v", move, at.OperationTime, err, last)
		}
		last = at.OperationTime
	}
	if want := leapDay.Add(time.Hour).Unix(); int64(last.T) != want {
		t.Errorf("at last %d, want %d", last.T, want)
	}
}

// A transaction lives for 60 seconds of the clock. A write that waits for it goes on at once.
func TestClockEndsTransaction(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	clock := mongotest.NewClock(leapDay)
	client := mongotest.NewClient(t, clock)
	c := client.Database("x").Collection("c")
	if _, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	set := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
	err := client.UseSession(ctx, func(ctx context.Context) error {
		s := mongo.SessionFromContext(ctx)
		if err := s.StartTransaction(); err != nil {
			return err
		}
		if _, err := c.UpdateByID(ctx, 1, set); err != nil {
			return err
		}
		clock.Advance(59 * time.Second)
		if _, err := c.UpdateByID(ctx, 1, set); err != nil {
			return err
		}
		waited := make(chan error)
		go func() {
			_, err := c.UpdateByID(t.Context(), 1, set)
			waited <- err
		}()
		clock.Advance(2 * time.Second)
		return errors.Join(<-waited, s.CommitTransaction(ctx))
	})
	var failed mongo.CommandError
	if !errors.As(err, &failed) || failed.Code != 251 {
		t.Errorf("commit after 61 seconds: %v, want NoSuchTransaction", err)
	}
	var found struct{ N int }
	if err := c.FindOne(ctx, bson.D{}).Decode(&found); err != nil || found.N != 1 {
		t.Errorf("n is %d, %v, want 1", found.N, err)
	}
}

func TestClockRefused(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a nil Clock is taken")
		}
	}()
	_, stop := mongotest.Start((*mongotest.Clock)(nil))
	stop()
}
