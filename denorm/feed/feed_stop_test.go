package feed_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docmodel/docmodel/denorm/feed"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A plan that can't be run stops the feed at its change, and the next run begins with it.
func TestFeedFails(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	for _, test := range []struct {
		reason string
		plan   func(id string) model.Plan
		want   error
		tries  int
	}{
		{
			reason: "bad input",
			plan: func(id string) model.Plan {
				return model.NewPlan(model.Refused("copies", &model.ValueError{Reason: "bad"}))
			},
			want: nil, tries: 0,
		},
		{"isn't repeatable", func(id string) model.Plan {
			return model.NewPlan(model.Write{Collection: "copies", Model: &mongo.UpdateOneModel{
				Filter: bson.D{{Key: "_id", Value: id}},
				Update: bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}}})
		}, model.ErrNotRepeatable, 0},
		{"a document that is gone", func(id string) model.Plan {
			return model.NewPlan(model.Write{Collection: "none", Expect: model.One, Model: &mongo.UpdateOneModel{
				Filter: bson.D{{Key: "_id", Value: id}},
				Update: bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: 1}}}}}})
		}, model.ErrNotFound, 3},
	} {
		broken := true
		feed := newFeed(func(c feedChange) model.Plan {
			if c.ID == "poison" && broken {
				return test.plan(c.ID)
			}
			return feedCopy(c)
		}, feed.Spec{})
		t.Run(test.reason, func(t *testing.T) {
			m := mongotest.NewMonitor()
			db := mongotest.NewClient(t, m).Database("feed")
			feedRun(t, db, feed, feedOnce)
			testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a"}, board{ID: "poison"}, board{ID: "z"}}})
			o := feedOnce
			o.Attempts, o.Workers = 3, 1
			err := feed.Run(t.Context(), db, o)
			var failed *model.StreamError
			if !errors.As(err, &failed) || failed.Event.ID.StringValue() != "poison" || failed.Stream != "copies" ||
				test.want != nil && !errors.Is(err, test.want) {
				t.Fatalf("the feed ends with %v, want a StreamError of the change with %v", err, test.want)
			}
			if !strings.Contains(err.Error(), "inserted 'poison'") {
				t.Errorf("%v doesn't name the change", err)
			}
			tries := 0
			for _, c := range m.Commands() {
				if c.Collection == "none" {
					tries++
				}
			}
			if tries != test.tries {
				t.Errorf("the plan was tried %d times, want %d", tries, test.tries)
			}
			broken = false
			if n := feedRun(t, db, feed, feedOnce); n != 2 {
				t.Errorf("the next run applied %d changes, want the failed one and the one after it", n)
			}
			wantCopies(t, db)
		})
	}
}

// The later run of a feed takes over.
func TestFeedTakenOver(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	feed := newFeed(feedCopy, feed.Spec{})
	client := mongotest.NewClient(t)
	db := client.Database("feed")
	feedRun(t, db, feed, feedOnce)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ready, done := make(chan bool, 1000), make(chan error, 1)
	go func() {
		done <- feed.Run(ctx, db, model.StreamOptions{
			Wait: time.Millisecond,
			Progress: func(model.StreamProgress) error {
				ready <- true
				return nil
			},
		})
	}()
	select {
	case <-ready:
	case err := <-done:
		t.Fatalf("the earlier run ended by itself: %v", err)
	}
	feedRun(t, db, feed, feedOnce)
	testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a"}}})
	if err := <-done; !errors.Is(err, model.ErrTakenOver) {
		t.Errorf("the earlier run ends with %v", err)
	}
	feedRun(t, db, feed, feedOnce)
	wantCopies(t, db)
}

// A feed waits, tells its backlog and lag, and stops when its context ends, with what it has in hand done.
func TestFeedStops(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	synctest.Test(t, func(t *testing.T) {
		gate, f := mongotest.NewGate(), mongotest.NewFaults()
		db := mongotest.NewClient(t, f).Database("feed")
		feed := newFeed(feedCopy, feed.Spec{})
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var last model.StreamProgress
		progress := func() model.StreamProgress { mu.Lock(); defer mu.Unlock(); return last }
		done := make(chan error)
		go func() {
			done <- feed.Run(ctx, db, model.StreamOptions{
				Workers: 1, Grace: time.Hour, PlanTime: time.Hour,
				Progress: func(p model.StreamProgress) error {
					mu.Lock()
					defer mu.Unlock()
					last = p
					return nil
				},
			})
		}()
		time.Sleep(5 * time.Second)
		if p := progress(); p.Backlog != 0 || p.Lag != 0 || p.Mode != model.Following {
			t.Errorf("at rest: %+v", p)
		}
		f.On(mongotest.Both(mongotest.Writes, mongotest.On("copies")), 1, mongotest.Hold(gate))
		testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a"}, board{ID: "b"}, board{ID: "c"}}})
		time.Sleep(10 * time.Second)
		if p := progress(); p.Backlog != 3 || p.Lag < 8*time.Second || p.Lag > 10*time.Second {
			t.Errorf("with a plan that hangs: %+v", p)
		}
		cancel()
		time.Sleep(time.Minute)
		gate.Open()
		if err := <-done; err != nil {
			t.Errorf("stopped: %v", err)
		}
		if got := feedText(t, db, "copies"); got != "a  0" {
			t.Errorf("after it stopped there are %q, want what was in hand alone", got)
		}
		if n := feedRun(t, db, feed, feedOnce); n != 2 {
			t.Errorf("the next run applied %d changes, want the 2 that were left", n)
		}
		wantCopies(t, db)
	})
}

func TestFeedSourceGone(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	feed := newFeed(feedCopy, feed.Spec{})
	db := mongotest.NewClient(t).Database("feed")
	feedRun(t, db, feed, feedOnce)
	testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a"}}})
	feedWrite(t, db.Collection("boards").Drop(t.Context()))
	if err := feed.Run(t.Context(), db, feedOnce); !errors.Is(err, model.ErrSourceGone) {
		t.Fatalf("the feed ends with %v", err)
	}
	testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "b"}}})
	if n := feedRun(t, db, feed, feedOnce); n != 1 {
		t.Errorf("the next run applied %d changes of the new collection", n)
	}
}

func TestFeedHistoryLost(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	feed := newFeed(feedCopy, feed.Spec{})
	db := mongotest.NewClient(t).Database("feed")
	o := feedOnce
	o.FromNow = true
	testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "old"}}})
	if n := feedRun(t, db, feed, o); n != 0 {
		t.Errorf("%d changes from now on", n)
	}
	testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a"}, board{ID: "b"}}})
	many := make([]any, 11_000)
	for i := range many {
		many[i] = bson.D{{Key: "_id", Value: i}}
	}
	_, err := db.Collection("other").InsertMany(t.Context(), many)
	feedWrite(t, err)
	if err := feed.Run(t.Context(), db, o); !errors.Is(err, model.ErrHistoryLost) {
		t.Fatalf("the feed ends with %v", err)
	}
	o.Rescan = true
	if n := feedRun(t, db, feed, o); n != 2 {
		t.Errorf("the scan applied %d documents", n)
	}
	wantCopies(t, db)
	if n := feedRun(t, db, feed, o); n != 0 {
		t.Errorf("%d changes were applied again", n)
	}
}
