package feed_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docmodel/docmodel/denorm/feed"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/mongotest"
)

// A run that shall end once it has caught up applies what was written before it began,
// though the server shows changes late: an empty batch tells nothing.
func TestFeedCatchesUp(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	for _, lag := range []time.Duration{20 * time.Millisecond, 3 * time.Second} {
		t.Run(lag.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := mongotest.NewClient(t, mongotest.Settings{ChangeLag: lag}).Database("feed")
				feed := newFeed(feedCopy, feed.Spec{})
				testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a", Name: "A"}}})
				if n := feedRun(t, db, feed, feedOnce); n != 1 {
					t.Errorf("%d documents were scanned, want 1", n)
				}
				for round := range 3 {
					for i := range 5 {
						_, err := boards.Insert(board{ID: fmt.Sprint(round, i)}).Run(t.Context(), db)
						feedWrite(t, err)
					}
					began := time.Now()
					if n := feedRun(t, db, feed, feedOnce); n != 5 {
						t.Errorf("%d changes were applied, want 5", n)
					}
					if took := time.Since(began); took > 2*lag+time.Second {
						t.Errorf("the run took %v", took)
					}
					wantCopies(t, db)
				}
				if n := feedRun(t, db, feed, feedOnce); n != 0 {
					t.Errorf("%d changes were applied again", n)
				}
			})
		})
	}
}
