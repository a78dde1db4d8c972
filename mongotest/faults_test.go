package mongotest_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/docmodel/docmodel/mongotest"
)

// noRetries makes each cut final.
type part struct {
	ID int32 `bson:"_id"`
	N  int32 `bson:"n"`
}

var noRetries = mongotest.Settings{Client: options.Client().SetRetryReads(false).SetRetryWrites(false)}

func insert(ctx context.Context, db *mongo.Database, ids ...int32) error {
	docs := make([]part, len(ids))
	for i, id := range ids {
		docs[i].ID = id
	}
	_, err := db.Collection("parts").InsertMany(ctx, docs)
	return err
}

func count(t testing.TB, db *mongo.Database, filter bson.D) int64 {
	t.Helper()
	if filter == nil {
		filter = bson.D{}
	}
	n, err := db.Collection("parts").CountDocuments(context.Background(), filter)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name, reason string
		action       mongotest.Action
		stored       int64
		check        func(error) bool
	}{
		{"fail", "the server doesn't see it", mongotest.Fail(112, "TransientTransactionError"), 0, func(err error) bool {
			var e mongo.ServerError
			return errors.As(err, &e) && e.HasErrorCode(112) && e.HasErrorLabel("TransientTransactionError")
		}},
		{
			name:   "fail inside",
			reason: "the first two statements are done, and the server says no",
			action: mongotest.FailInside(2, 11601), stored: 2,
			check: func(err error) bool {
				var e mongo.CommandError
				return errors.As(err, &e) && e.Code == 11601 && e.Name == "Interrupted"
			},
		},
		{"before", "the server doesn't see it either", mongotest.CutBefore(), 0, mongo.IsNetworkError},
		{"inside", "the first statement is done", mongotest.CutInside(1), 1, mongo.IsNetworkError},
		{"inside, as far as it goes", "two of three", mongotest.CutInside(2), 2, mongo.IsNetworkError},
		{"inside, all", "it has no more parts", mongotest.CutInside(3), 3, mongo.IsNetworkError},
		{"after", "the answer is lost", mongotest.CutAfter(), 3, mongo.IsNetworkError},
		{"delay", "it is only late", mongotest.Delay(time.Millisecond), 3, func(err error) bool { return err == nil }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // the driver waits half a second after a cut
			f := mongotest.NewFaults()
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				f.Reset()
				f.On(mongotest.Both(mongotest.Writes, mongotest.On("parts")), 2, tt.action)
				ctx := context.Background()
				if err := insert(ctx, db, 10); err != nil {
					t.Fatalf("the first write: %v", err)
				}
				if err := insert(ctx, db, 1, 2, 3); !tt.check(err) {
					t.Errorf("the second write: %v", err)
				}
				if n := count(t, db, bson.D{{Key: "_id", Value: bson.D{{Key: "$lt", Value: 10}}}}); n != tt.stored {
					t.Errorf("%s: %d stored, want %d", tt.reason, n, tt.stored)
				}
				if err := insert(ctx, db, 11); err != nil {
					t.Errorf("the third write: %v", err)
				}
				if n := f.Count(mongotest.Named("insert")); n != 3 {
					t.Errorf("counted %d", n)
				}
			}, noRetries, f)
		})
	}
}

func TestCutInsideMany(t *testing.T) {
	t.Parallel()
	f := mongotest.NewFaults()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		f.Reset()
		ctx := context.Background()
		if err := insert(ctx, db, 1, 2, 3, 4, 5); err != nil {
			t.Fatal(err)
		}
		from2 := bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: 2}}}}
		f.On(mongotest.Writes, 1, mongotest.CutInside(2)).On(mongotest.Writes, 2, mongotest.CutInside(1))
		_, err := db.Collection("parts").UpdateMany(ctx, from2, bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: 7}}}})
		if !mongo.IsNetworkError(err) {
			t.Errorf("update: %v", err)
		}
		if n := count(t, db, bson.D{
			{Key: "n", Value: 7},
			{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{2, 3}}}},
		}); n != 2 {
			t.Errorf("%d of the first two were updated", n)
		}
		if n := count(t, db, bson.D{{Key: "n", Value: 7}}); n != 2 {
			t.Errorf("%d were updated", n)
		}
		if _, err = db.Collection("parts").DeleteMany(ctx, from2); !mongo.IsNetworkError(err) {
			t.Errorf("delete: %v", err)
		}
		if n := count(t, db, nil); n != 4 {
			t.Errorf("%d are left", n)
		}
	}, noRetries, f)
}

func TestDriverRetries(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	f, m := mongotest.NewFaults(), mongotest.NewMonitor()
	db := mongotest.NewClient(t, f, m).Database("x")
	f.On(mongotest.Writes, 1, mongotest.CutAfter())
	if err := insert(ctx, db, 1, 2); err != nil {
		t.Errorf("one cut is mended: %v", err)
	}
	if got := m.Cost(); got.Commands != 1 || got.Written != 2 || len(m.Commands()) != 2 {
		t.Errorf("a second attempt isn't another command: %v, %v", got, m.Commands())
	}
	if n := f.Count(mongotest.Writes); n != 2 {
		t.Errorf("%d attempts", n)
	}
	f.From(mongotest.Writes, 1, mongotest.CutBefore())
	if err := insert(ctx, db, 3); !mongo.IsNetworkError(err) {
		t.Errorf("two cuts are not: %v", err)
	}
	f.Reset()
	if err := insert(ctx, db, 3); err != nil {
		t.Errorf("after Reset: %v", err)
	}
}

func TestHold(t *testing.T) {
	f := mongotest.NewFaults()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		f.Reset()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		g := mongotest.NewGate()
		f.On(mongotest.Writes, 1, mongotest.Hold(g))
		done := make(chan error, 1)
		go func() { done <- insert(ctx, db, 1) }()
		c, err := g.Wait(ctx)
		if err != nil || c.Name != "insert" {
			t.Fatalf("at the gate: %v, %v", c, err)
		}
		if n := count(t, db, nil); n != 0 {
			t.Errorf("%d stored while it is held", n)
		}
		g.Open()
		g.Open()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if n := count(t, db, nil); n != 1 {
			t.Errorf("%d stored", n)
		}
	}, f)
}

// A held command ends with its context, with the faults' reset, and with the client.
func TestHoldEnds(t *testing.T) {
	for _, way := range []string{"deadline", "cancel", "reset", "client"} {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := mongotest.NewFaults()
				client, stop := mongotest.Start(f, noRetries)
				db := client.Database("x")
				f.On(mongotest.Writes, 1, mongotest.Hold(mongotest.NewGate()))
				ctx, cancel := context.WithCancel(context.Background())
				if way == "deadline" {
					ctx, cancel = context.WithTimeout(ctx, time.Hour)
				}
				done := make(chan error, 1)
				go func() { done <- insert(ctx, db, 1) }()
				synctest.Wait()
				switch way {
				case "cancel":
					cancel()
				case "reset":
					f.Reset()
				case "client":
					stop()
				}
				err := <-done
				cancel()
				if (err == nil) != (way == "reset" || way == "client") {
					t.Errorf("the held insert: %v", err)
				}
				stop()
			})
		})
	}
}

func TestDelayInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := mongotest.NewFaults().On(mongotest.Writes, 1, mongotest.Delay(time.Hour))
		db := mongotest.NewClient(t, f).Database("x")
		began := time.Now()
		if err := insert(context.Background(), db, 1); err != nil || time.Since(began) != time.Hour {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

func TestUnacknowledged(t *testing.T) {
	ctx := context.Background()
	f := mongotest.NewFaults().On(mongotest.Writes, 2, mongotest.Fail(8))
	db := mongotest.NewClient(t, f).Database("x")
	coll := db.Collection("parts", options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
	for id := range 3 {
		if _, err := coll.InsertOne(ctx, part{ID: int32(id)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, db, nil); n != 2 {
		t.Errorf("%d stored", n)
	}
}

func TestFaultsRefuse(t *testing.T) {
	for name, f := range map[string]func(){
		"zero":     func() { mongotest.NewFaults().On(mongotest.All, 0, mongotest.CutAfter()) },
		"no match": func() { mongotest.NewFaults().On(nil, 1, mongotest.CutAfter()) },
		"action":   func() { mongotest.NewFaults().From(mongotest.All, 1, nil) },
		"inside":   func() { mongotest.CutInside(0) },
		"failing":  func() { mongotest.FailInside(0, 11601) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "mongotest: ") {
					t.Errorf("panic %q", text)
				}
			}()
			f()
		})
	}
}

func TestNothingIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		f := mongotest.NewFaults()
		client, stop := mongotest.Start(f, noRetries)
		f.On(mongotest.Writes, 1, mongotest.CutAfter()).On(mongotest.Writes, 2, mongotest.Hold(mongotest.NewGate()))
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		_ = insert(ctx, client.Database("x"), 1)
		_ = insert(ctx, client.Database("x"), 2)
		cancel()
		stop()
	}
	for wait := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(wait) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// TestFailPointBesideFaults lets one insert fail on both sides: the client's faults see each command that the driver
// sends, and the server's fail point counts those that arrive.
func TestFailPointBesideFaults(t *testing.T) {
	for _, c := range []struct {
		reason string
		data   bson.D
		faults *mongotest.Faults
		sent   int
		check  func(error) bool
		stored int64
	}{
		{"the cut insert is sent again, and fails in the server", bson.D{{Key: "errorCode", Value: 11}},
			mongotest.NewFaults().On(mongotest.Named("insert"), 1, mongotest.CutBefore()), 2, func(err error) bool {
				var e mongo.ServerError
				return errors.As(err, &e) && e.HasErrorCode(11)
			}, 0},
		{
			reason: "the insert whose connection the server closed is sent again",
			data:   bson.D{{Key: "closeConnection", Value: true}}, faults: mongotest.NewFaults(), sent: 2,

			check: func(err error) bool { return err == nil }, stored: 2,
		},
		{"the insert that may be sent again fails in the client the second time", bson.D{{Key: "errorCode", Value: 91}},
			mongotest.NewFaults().On(mongotest.Named("insert"), 2, mongotest.CutAfter()), 2, mongo.IsNetworkError, 2},
	} {
		t.Run(c.reason, func(t *testing.T) {
			client := mongotest.NewClient(t, c.faults)
			data := append(bson.D{{Key: "failCommands", Value: bson.A{"insert"}}}, c.data...)
			if err := client.Database("admin").RunCommand(t.Context(), bson.D{{Key: "configureFailPoint", Value: "failCommand"},
				{Key: "mode", Value: bson.D{{Key: "times", Value: 1}}}, {Key: "data", Value: data}}).Err(); err != nil {
				t.Fatal(err)
			}
			if err := insert(t.Context(), client.Database("test"), 1, 2); !c.check(err) {
				t.Error(err)
			}
			if n := c.faults.Count(mongotest.Named("insert")); n != c.sent {
				t.Errorf("sent %d times, want %d", n, c.sent)
			}
			if n := count(t, client.Database("test"), nil); n != c.stored {
				t.Errorf("%d stored, want %d", n, c.stored)
			}
		})
	}
}
