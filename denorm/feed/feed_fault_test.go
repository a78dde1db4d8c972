package feed_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
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

// feedTwice copies in two commands, of which a cut may leave one.
func feedTwice(c feedChange) model.Plan {
	first := feedCopy(c)
	second := first.Steps[0].(model.Write)
	second.Collection = "second"
	return model.Concat(first, model.NewPlan(second))
}

// feedChanges writes to boards at random. Each write gives the board a greater name than all before, from v<from> on.
func feedChanges(ctx context.Context, db *mongo.Database, seed uint64, from, n int, deletes bool) error {
	rng := rand.New(rand.NewPCG(seed, uint64(from)))
	c := db.Collection("boards")
	for i := range n {
		b := board{ID: fmt.Sprint("b", rng.IntN(4)), Name: fmt.Sprintf("v%04d", from+i)}
		id := bson.D{{Key: "_id", Value: b.ID}}
		var err error
		switch k := rng.IntN(6); {
		case k == 0 && deletes:
			_, err = c.DeleteOne(ctx, id)
		case k <= 1:
			_, err = c.ReplaceOne(ctx, id, b, options.Replace().SetUpsert(true))
		default:
			_, err = c.UpdateOne(ctx, id, bson.D{
				{Key: "$set", Value: bson.D{{Key: "name", Value: b.Name}}},
				{Key: "$push", Value: bson.D{{Key: "posts", Value: post{ID: "p", N: i}}}},
			}, options.UpdateOne().SetUpsert(true))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A feed is killed at each of its commands, before the server sees it or after, and run again: the end is the same.
func TestFeedKilled(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	cut := map[string]mongotest.Action{"before": mongotest.CutBefore(), "after": mongotest.CutAfter()}
	for _, begun := range []bool{true, false} {
		for _, poll := range []bool{false, true} {
			for _, workers := range []int{1, 3} {
				t.Run(fmt.Sprintf("begun %v, poll %v, %d workers", begun, poll, workers), func(t *testing.T) {
					o := feedOnce
					o.Poll, o.Workers, o.SaveEvery, o.Attempts, o.Queue = poll, workers, 2, 1, 3
					for n, sent := 1, feedSent(t, o, begun); n <= sent; n++ {
						for name, action := range cut {
							if !testkit.EveryPair && (n+len(name))%3 > 0 {
								continue
							}
							synctest.Test(t, func(t *testing.T) {
								if got := feedKilled(t, o, begun, n, action); got < n {
									t.Errorf("cut %s command %d: there were %d", name, n, got)
								}
							})
						}
					}
				})
			}
		}
	}
}

// feedBegin stores boards, lets a feed fill the copies if it is to have begun, and changes boards.
func feedBegin(t *testing.T, db *mongo.Database, feed model.Stream, o model.StreamOptions, begun bool) {
	feedWrite(t, feedChanges(t.Context(), db, 1, 0, 5, false))
	if begun {
		feedRun(t, db, feed, o)
	}
	feedWrite(t, feedChanges(t.Context(), db, 2, 100, 12, !o.Poll))
}

// feedSent is how many commands a run sends at least. How many of another worker's go with one of a save may differ.
func feedSent(t *testing.T, o model.StreamOptions, begun bool) int {
	f := mongotest.NewFaults()
	db := mongotest.NewClient(t, f).Database("feed")
	feed := newFeed(feedTwice, feed.Spec{Since: "name"})
	feedBegin(t, db, feed, o, begun)
	f.Reset()
	feedRun(t, db, feed, o)
	return f.Count(mongotest.All) - 4
}

func feedKilled(t *testing.T, o model.StreamOptions, begun bool, n int, action mongotest.Action) int {
	f := mongotest.NewFaults()
	db := mongotest.NewClient(t, f, mongotest.Settings{Client: options.Client().
		SetRetryWrites(false).SetRetryReads(false).SetServerSelectionTimeout(time.Second)}).Database("feed")
	feed := newFeed(feedTwice, feed.Spec{Since: "name"})
	feedBegin(t, db, feed, o, begun)
	f.Reset()
	f.On(mongotest.All, n, action).From(mongotest.All, n, mongotest.CutBefore())
	err := feed.Run(t.Context(), db, o)
	sent := f.Count(mongotest.All)
	f.Reset()
	time.Sleep(time.Minute) // until the driver trusts the server again
	feedWrite(t, feedChanges(t.Context(), db, 3, 200, 3, false))
	feedRun(t, db, feed, o)
	for _, name := range []string{"copies", "second"} {
		if got, want := feedText(t, db, name), feedText(t, db, "boards"); got != want {
			t.Errorf("command %d: %s are\n%s\nof the boards\n%s\nafter a run that ended with %v",
				n, name, got, want, err)
		}
	}
	return sent
}

// Connections that break, at any command, once or more often than the driver tries, don't end a feed.
func TestFeedCut(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	o := feedOnce
	o.Workers, o.SaveEvery = 1, 2
	actions := []mongotest.Action{
		mongotest.CutBefore(), mongotest.CutAfter(),
		mongotest.Fail(11600, "RetryableWriteError", "ResumableChangeStreamError"),
	}
	for n, sent := 1, feedSent(t, o, true); n <= sent; n++ {
		for i, action := range actions {
			if !testkit.EveryPair && (n+i)%2 > 0 {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				f := mongotest.NewFaults()
				db := mongotest.NewClient(t, f).Database("feed")
				feed := newFeed(feedTwice, feed.Spec{Since: "name"})
				feedBegin(t, db, feed, o, true)
				f.Reset()
				for k := range 1 + n%4 {
					f.On(mongotest.All, n+k, action)
				}
				if err := feed.Run(t.Context(), db, o); err != nil {
					t.Errorf("command %d: the feed ended with %v", n, err)
				}
				f.Reset() // what it didn't meet
				time.Sleep(time.Minute)
				wantCopies(t, db)
			})
		}
	}
}

// Many writers, a feed that is stopped and started meanwhile, with one worker and with many: in each run the changes of
// each board come in order, those of different boards at the same time, and in the end the copies are the boards.
func TestFeedOrder(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	for _, workers := range []int{1, 8} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			db := mongotest.NewClient(t).Database("feed")
			o := model.StreamOptions{Workers: workers, SaveEvery: 7, Wait: time.Millisecond, FromNow: true}
			once := o
			once.Once = true
			feedRun(t, db, newFeed(feedCopy, feed.Spec{}), once)
			var writers sync.WaitGroup
			for w := range 4 {
				writers.Go(func() {
					for i := range 40 {
						time.Sleep(2 * time.Millisecond)
						if err := feedChanges(t.Context(), db, uint64(w), i*1000+w, 2, true); err != nil &&
							!mongo.IsDuplicateKeyError(err) {
							t.Error(err)
						}
					}
				})
			}
			stopped := make(chan struct{})
			go func() { writers.Wait(); close(stopped) }()
			runs, changes := 0, 0
			for running := true; running; runs++ {
				var mu sync.Mutex
				tokens := map[string][]string{}
				feed := newFeed(func(c feedChange) model.Plan {
					mu.Lock()
					defer mu.Unlock()
					tokens[c.ID] = append(tokens[c.ID], c.Token)
					return feedCopy(c)
				}, feed.Spec{})
				delete(tokens, "s") // the sample
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				if err := feed.Run(ctx, db, o); err != nil {
					t.Error(err)
				}
				cancel()
				for id, list := range tokens {
					changes += len(list)
					if len(slices.Compact(slices.Clone(list))) != len(list) || !slices.IsSorted(list) {
						t.Errorf("in one run the changes of %s came as %q", id, list)
					}
				}
				select {
				case <-stopped:
					running = false
				default:
				}
			}
			feedRun(t, db, newFeed(feedCopy, feed.Spec{}), once)
			wantCopies(t, db)
			t.Logf("%d runs, %d changes", runs, changes)
		})
	}
}

// The job does what the stream begins with.
func TestFeedJob(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	feed := feed.New(boards, "copies", board{ID: "s"}, feedCopy, feed.Spec{})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		feedWrite(t, feedChanges(t.Context(), db, 1, 0, 20, false))
		for range 2 {
			if _, err := feed.Rebuild().Run(t.Context(), db, model.JobOptions{Checkpoint: "jobs"}); err != nil {
				t.Fatal(err)
			}
			wantCopies(t, db)
		}
	})
}
