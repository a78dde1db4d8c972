// These tests archive documents beside others who archive or change them.

package expiry_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A writer and the archive, in all orders: what the writer stored is somewhere.
func TestExpiryInterleaved(t *testing.T) {
	type writer struct {
		reason string
		run    func(ctx context.Context, db *mongo.Database) error
		n      int64 // what must be found
	}
	var changed atomic.Bool // the writer found it
	set := func(v bson.D) func(ctx context.Context, db *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			update := bson.D{{Key: "$set", Value: v}, {Key: "$inc", Value: bson.D{{Key: "v", Value: 1}}}}
			result, err := db.Collection("orders").UpdateOne(ctx, bson.D{{Key: "_id", Value: "a"}}, update)
			changed.Store(err == nil && result.ModifiedCount > 0)
			return err
		}
	}
	run := func(x *schema.Expiry[expOrder, string]) func(ctx context.Context, db *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := x.Archive(expNow).Run(ctx, db, model.JobOptions{})
			return err
		}
	}
	for _, w := range []writer{
		{"changes it", set(bson.D{{Key: "n", Value: int64(99)}}), 99},
		{"extends it", set(bson.D{{Key: "n", Value: int64(98)}, {Key: "placed", Value: expNow}}), 98},
		{"archives it too", run(expVersion), 31},
		{"archives it too, by the whole document", run(expArchived), 31},
	} {
		if w.n == 31 && os.Getenv("DOCMODEL_FULL") == "" {
			continue // hundreds of orders: TestExpiryConcurrent takes some
		}
		for name, x := range map[string]*schema.Expiry[expOrder, string]{"whole": expArchived, "version": expVersion} {
			t.Run(w.reason+" "+name, func(t *testing.T) {
				modeltest.Interleave(t, modeltest.InterleaveCase{
					Sample: 4,
					Seed: func(ctx context.Context, db *mongo.Database) error {
						changed.Store(false)
						expPut(t, ctx, db, "orders", expAged("a", 31), expAged("b", 32))
						return nil
					},
					A: run(x),
					B: w.run,
					Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
						if err := errors.Join(errA, errB); err != nil {
							t.Error(err)
						}
						for _, id := range []string{"a", "b"} {
							if !expSomewhere(t, db, id) {
								t.Errorf("%s is lost", id)
							}
						}
						hot, err := expOrders.ByID("a").One(context.Background(), db)
						cold, err2 := x.Archived("a").One(context.Background(), db)
						want := int64(31)
						if changed.Load() {
							want = w.n
						}
						if err == nil && hot.N != want || err != nil && (err2 != nil || cold.N != want) {
							t.Errorf("a is %+v (%v) and %+v (%v), want %d", hot, err, cold, err2, want)
						}
						expRun(t, db, x, model.JobOptions{}) // what is left goes then
						pairs, err := x.Both(expNow).All(context.Background(), db)
						if err != nil {
							t.Fatal(err)
						}
						for _, p := range pairs {
							if p.Expired {
								t.Errorf("%v is still in both", p.ID)
							}
						}
					},
				})
			})
		}
	}
}

// Archives that run at once, and those who change what they archive: nothing is lost.
func TestExpiryConcurrent(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		const docs, workers = 60, 8
		for i := range docs {
			expPut(t, t.Context(), db, "orders", expAged(fmt.Sprint(i), 31))
		}
		errs := make([]error, 2*workers)
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				job := expArchived.Archive(expNow)
				job.Stages[0].BatchSize = 5 + w
				for range 10 { // of eight runners one may lose a batch eight times, and gives up: run again it goes on
					if _, errs[w] = job.Run(t.Context(), db, model.JobOptions{}); !errors.Is(errs[w], model.ErrStale) {
						return
					}
				}
			})
			all.Go(func() {
				for i := w; i < docs; i += workers {
					_, err := db.Collection("orders").
						UpdateByID(t.Context(), fmt.Sprint(i),
							bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 100}}}})
					errs[workers+w] = errors.Join(errs[workers+w], err)
				}
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		expRun(t, db, expArchived, model.JobOptions{})
		if got := expIDs(t, db, "cold"); len(got) != docs || len(expIDs(t, db, "orders")) > 0 {
			t.Errorf("%d are archived", len(got))
		}
	})
}
