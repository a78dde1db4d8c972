package feed_test

import (
	"context"
	"errors"
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
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// feedLate starts a run whose first write to the copies is held back, and returns when
// that write waits.
func feedLate(
	t *testing.T, feed model.Stream, o model.StreamOptions,
) (db *mongo.Database, gate *mongotest.Gate, ended chan error) {
	t.Helper()
	gate, f := mongotest.NewGate(), mongotest.NewFaults()
	db = mongotest.NewClient(t, f).Database("feed")
	f.On(mongotest.Both(mongotest.Writes, mongotest.On("copies")), 1, mongotest.Hold(gate))
	testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a", Name: "old"}}})
	ended = make(chan error, 1)
	go func() { ended <- feed.Run(t.Context(), db, o) }()
	if _, err := gate.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db, gate, ended
}

func feedRename(t *testing.T, db *mongo.Database, name string) {
	t.Helper()
	_, err := db.Collection("boards").
		UpdateOne(t.Context(), bson.D{{Key: "_id", Value: "a"}}, bson.D{{
			Key: "$set", Value: bson.D{{Key: "name", Value: name}},
		}})
	feedWrite(t, err)
}

// A run was taken over while it has a slow plan in hand. That plan doesn't arrive after
// the plan of a newer change.
func TestFeedLatePlan(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	for _, poll := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			feed := newFeed(feedCopy, feed.Spec{})
			o := feedOnce
			o.Poll = poll
			if poll {
				feed.Since = "name"
			}
			db, gate, ended := feedLate(t, feed, o)
			feedRename(t, db, "outdated") // "old" is before it, and "new" is not
			feedRun(t, db, feed, o)
			feedRename(t, db, "renamed")
			feedRun(t, db, feed, o)
			wantCopies(t, db)
			gate.Open()
			if err := <-ended; !errors.Is(err, model.ErrTakenOver) {
				t.Errorf("the run that was taken over ends with %v", err)
			}
			wantCopies(t, db)
		})
	}
}

// How long a run waits for the one before it: not at all when that ended, or never had a
// plan; as long as a plan of it may take when it didn't; and no longer than it still
// lives.
func TestFeedTakesOver(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	took := func(t *testing.T, db *mongo.Database, feed model.Stream) time.Duration {
		t.Helper()
		began := time.Now()
		feedRun(t, db, feed, feedOnce)
		wantCopies(t, db)
		return time.Since(began)
	}
	o := feedOnce
	o.PlanTime = time.Minute
	t.Run("the one before ended", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			feed, db := newFeed(feedCopy, feed.Spec{}), mongotest.NewClient(t).Database("feed")
			testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a", Name: "old"}}})
			feedRun(t, db, feed, o)
			feedRename(t, db, "new")
			if d := took(t, db, feed); d > time.Second {
				t.Errorf("took %v", d)
			}
		})
	})
	t.Run("the one before had no plan", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			feed, db := newFeed(feedCopy, feed.Spec{}), mongotest.NewClient(t).Database("feed")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			idle := o
			idle.Once = false
			ended := make(chan error, 1)
			go func() { ended <- feed.Run(ctx, db, idle) }()
			time.Sleep(10 * time.Second)
			if d := took(t, db, feed); d > time.Second {
				t.Errorf("took %v", d)
			}
			feedRename(t, db, "new")
			cancel()
			<-ended
		})
	})
	t.Run("the one before died", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			feed := newFeed(feedCopy, feed.Spec{})
			f := mongotest.NewFaults()
			db := mongotest.NewClient(t, f, mongotest.Settings{Client: options.Client().
				SetRetryWrites(false).SetServerSelectionTimeout(time.Second)}).Database("feed")
			testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a", Name: "old"}}})
			dead := false
			f.From(func(c mongotest.Command) bool { dead = dead || c.Collection == "copies"; return dead },
				1, mongotest.CutBefore())
			dying := o
			dying.Attempts = 1
			if err := feed.Run(t.Context(), db, dying); err == nil {
				t.Fatal("it ended well")
			}
			f.Reset()
			time.Sleep(time.Hour) // however long ago that was: clocks of two machines are not compared
			if d := took(t, db, feed); d < time.Minute || d > 80*time.Second {
				t.Errorf("took %v, want a little more than a minute", d)
			}
		})
	})
	t.Run("the one before ends meanwhile", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			feed := newFeed(feedCopy, feed.Spec{})
			db, gate, ended := feedLate(t, feed, o)
			time.AfterFunc(20*time.Second, gate.Open)
			if d := took(t, db, feed); d < 20*time.Second || d > 25*time.Second {
				t.Errorf("took %v, want 20 s", d)
			}
			if err := <-ended; !errors.Is(err, model.ErrTakenOver) {
				t.Errorf("the run that was taken over ends with %v", err)
			}
		})
	})
}

// A run that waits for another stops when its context ends, or when a third one takes
// over; the third waits for the first.
func TestFeedStopsWaiting(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	synctest.Test(t, func(t *testing.T) {
		feed := newFeed(feedCopy, feed.Spec{})
		o := feedOnce
		o.PlanTime = time.Hour
		db, gate, first := feedLate(t, feed, o)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := feed.Run(ctx, db, o); err != nil || ctx.Err() == nil {
			t.Errorf("a run whose context ends while it waits: %v", err)
		}
		second, third := make(chan error, 1), make(chan error, 1)
		go func() { second <- feed.Run(t.Context(), db, o) }()
		time.Sleep(time.Minute)
		go func() { third <- feed.Run(t.Context(), db, o) }()
		if err := <-second; !errors.Is(err, model.ErrTakenOver) {
			t.Errorf("the second run ends with %v", err)
		}
		time.Sleep(time.Minute)
		if got := feedText(t, db, "copies"); got != "" || len(third) > 0 {
			t.Errorf("the third run didn't wait: %q", got)
		}
		gate.Open()
		if err := <-first; !errors.Is(err, model.ErrTakenOver) {
			t.Errorf("the first run ends with %v", err)
		}
		if err := <-third; err != nil {
			t.Error(err)
		}
		wantCopies(t, db)
	})
}
