package feed_test

import (
	"context"
	"fmt"
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
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// upperFeed is a feed that makes names upper case, and counts the changes that it receives.
func upperFeed(pipeline bool, spec feed.Spec, began func(feedChange)) model.Stream {
	spec.Mark = "upper"
	return newFeed(func(c feedChange) model.Plan {
		began(c)
		if c.Doc == nil {
			return model.Plan{}
		}
		set := bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: strings.ToUpper(c.Doc.Name)}}}}
		one := &mongo.UpdateOneModel{Filter: bson.D{{Key: "_id", Value: c.ID}}, Update: set}
		if pipeline {
			one.Update = mongo.Pipeline{set}
		}
		return model.NewPlan(model.Write{Collection: "boards", Idempotent: true, Model: one})
	}, spec)
}

// counter counts a feed's changes.
type counter struct {
	sync.Mutex
	n int
}

func (c *counter) add(feedChange) {
	c.Lock()
	defer c.Unlock()
	c.n++
}

func (c *counter) took() int {
	c.Lock()
	defer c.Unlock()
	n := c.n
	c.n = 0
	return n
}

// foreignWrites change one small board without touching the feed's mark. All are replacements for a change stream.
var foreignWrites = map[string]func(ctx context.Context, db *mongo.Database, name string) error{
	"a pipeline": func(ctx context.Context, db *mongo.Database, name string) error {
		_, err := db.Collection("boards").UpdateOne(ctx, bson.D{{Key: "_id", Value: "a"}},
			mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: "name", Value: name}}}}})
		return err
	},
	"a replacement": replaceBoard,
	"a transaction": func(ctx context.Context, db *mongo.Database, name string) error {
		return model.InTx(ctx, db, func(ctx context.Context) error { return replaceBoard(ctx, db, name) })
	},
}

// replaceBoard replaces the board by what was read, as an application does that doesn't know of the mark.
func replaceBoard(ctx context.Context, db *mongo.Database, name string) error {
	var d bson.M
	if err := db.Collection("boards").FindOne(ctx, bson.D{{Key: "_id", Value: "a"}}).Decode(&d); err != nil {
		return err
	}
	d["name"] = name
	_, err := db.Collection("boards").ReplaceOne(ctx, bson.D{{Key: "_id", Value: "a"}}, d)
	return err
}

// A feed that updates small documents by a pipeline skips its own updates, and none that leaves its mark alone.
func TestFeedOwnReplacements(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	for what, write := range foreignWrites {
		t.Run(what, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				mongotest.Need(t, db, mongotest.ChangeStreams)
				testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a", Name: "a"}}})
				var n counter
				feed := upperFeed(true, feed.Spec{}, n.add)
				n.took() // of the sample
				want := func(when, name string, changes int) {
					t.Helper()
					for range 3 {
						feedRun(t, db, feed, feedOnce)
					}
					if got := feedText(t, db, "boards"); got != "a "+name+" 0" {
						t.Errorf("%s: the board is %s, want %s", when, got, name)
					}
					if got := n.took(); got != changes {
						t.Errorf("%s: %d changes, want %d", when, got, changes)
					}
				}
				want("the scan", "A", 1)
				feedWrite(t, write(t.Context(), db, "b"))
				want("a change", "B", 1)
				feedWrite(t, write(t.Context(), db, "c"))
				feedWrite(t, write(t.Context(), db, "d"))
				want("two changes", "D", 2)

				// The runs read the change stream only after the feed's own update and the next change.
				feedWrite(t, write(t.Context(), db, "e"))
				feedRun(t, db, feed, feedOnce)
				feedWrite(t, write(t.Context(), db, "f"))
				want("right after an own update", "F", 2)
			})
		})
	}
}

// A change between the event and the feed's own update, and one between the update and its event, are followed.
func TestFeedOwnAmongOthers(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.ChangeStreams)
		testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a", Name: "a"}}})
		var n counter
		var between func()
		feed := upperFeed(true, feed.Spec{}, func(c feedChange) {
			n.add(c)
			if f := between; f != nil {
				between = nil
				f()
			}
		})
		feedRun(t, db, feed, feedOnce)
		n.took()
		between = func() { feedWrite(t, foreignWrites["a pipeline"](t.Context(), db, "c")) }
		feedWrite(t, foreignWrites["a pipeline"](t.Context(), db, "b"))
		for range 3 {
			feedRun(t, db, feed, feedOnce)
		}
		if got := n.took(); got != 2 {
			t.Errorf("%d changes, want the one before and the one between", got)
		}
	})
}

// A feed of own pipeline updates is killed at each command: afterwards it repeats a few changes and comes to rest.
func TestFeedOwnKilled(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	for k, more := 1, true; more; k++ {
		synctest.Test(t, func(t *testing.T) { more = feedOwnKilled(t, k) })
	}
}

// feedOwnKilled kills a run at its k-th command. It reports whether the run has so many.
func feedOwnKilled(t *testing.T, k int) bool {
	f := mongotest.NewFaults()
	db := mongotest.NewClient(t, f, mongotest.Settings{Client: options.Client().
		SetRetryWrites(false).SetRetryReads(false).SetServerSelectionTimeout(time.Second)}).Database("own")
	testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a", Name: "a"}}})
	var n counter
	feed := upperFeed(true, feed.Spec{}, n.add)
	o := feedOnce
	o.Attempts = 1
	feedRun(t, db, feed, o)
	feedWrite(t, foreignWrites["a pipeline"](t.Context(), db, "b"))
	f.Reset()
	f.On(mongotest.All, k, mongotest.CutAfter()).From(mongotest.All, k+1, mongotest.CutBefore())
	err := feed.Run(t.Context(), db, o)
	reached := f.Count(mongotest.All) >= k
	f.Reset()
	time.Sleep(time.Minute) // until the driver trusts the server again
	feedWrite(t, foreignWrites["a pipeline"](t.Context(), db, fmt.Sprint("c", k)))
	for range 2 {
		feedRun(t, db, feed, o)
	}
	n.took()
	feedRun(t, db, feed, o)
	if got, want := feedText(t, db, "boards"), fmt.Sprintf("a C%d 0", k); got != want || n.took() != 0 {
		t.Errorf("command %d: the board is %s, want %s; the first run ended with %v", k, got, want, err)
	}
	return reached
}
