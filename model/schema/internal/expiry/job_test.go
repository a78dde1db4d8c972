package expiry_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
)

// What the tests are about: orders.
type expOrder struct {
	ID     string     `bson:"_id"`
	Placed *time.Time `bson:"placed,omitempty"`
	N      int64      `bson:"n,omitempty"`
	V      int64      `bson:"v,omitempty"`
	Tags   []string   `bson:"tags,omitempty"`
}

const expDay = 24 * time.Hour

var (
	expOrders   = model.NewCollection[expOrder, string]("orders")
	expDeleted  = schema.NewExpiry(expOrders, "placed", schema.ExpirySpec{After: 30 * expDay})
	expEach     = schema.NewExpiry(expOrders, "placed", schema.ExpirySpec{Archive: "cold"})
	expArchived = schema.NewExpiry(expOrders, "placed", schema.ExpirySpec{
		After: 30 * expDay, Archive: "cold", ArchiveFor: 5 * 365 * expDay,
	})
	expVersion = schema.NewExpiry(expOrders, "placed", schema.ExpirySpec{
		After: 30 * expDay, Archive: "cold", Version: "v",
	})
	expMargin = schema.NewExpiry(expOrders, "placed", schema.ExpirySpec{
		After: 30 * expDay, Archive: "cold", Margin: 7 * expDay,
	})

	expNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
)

// expAged is an order of so many days ago.
func expAged(id string, days int) expOrder {
	at := expNow.Add(-time.Duration(days) * expDay)
	return expOrder{ID: id, Placed: &at, N: int64(days), V: 1}
}

func expPut(t testing.TB, ctx context.Context, db *mongo.Database, collection string, list ...any) {
	t.Helper()
	if _, err := db.Collection(collection).InsertMany(ctx, list); err != nil {
		t.Fatal(err)
	}
}

// expIDs are the _ids of a collection, and each document's own.
func expIDs(t testing.TB, db *mongo.Database, collection string) (ids []string) {
	t.Helper()
	list, err := (&model.Find[bson.Raw]{
		Query: model.Query{Collection: collection, Filter: bson.D{}, Sort: bson.D{{Key: "_id", Value: 1}}},
	}).
		All(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		ids = append(ids, d.Lookup("_id").StringValue())
	}
	return ids
}

func expWant(t testing.TB, db *mongo.Database, hot, cold []string) {
	t.Helper()
	if got := expIDs(t, db, "orders"); !slices.Equal(got, hot) {
		t.Errorf("there are %q, want %q", got, hot)
	}
	if got := expIDs(t, db, "cold"); !slices.Equal(got, cold) {
		t.Errorf("archived are %q, want %q", got, cold)
	}
}

func expRun(t testing.TB, db *mongo.Database, x *schema.Expiry[expOrder, string], o model.JobOptions) model.Progress {
	t.Helper()
	p, err := x.Archive(expNow).Run(context.Background(), db, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What has expired is moved, whole, and nothing else.
func TestExpiryArchive(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, x := range []*schema.Expiry[expOrder, string]{expArchived, expVersion, expMargin} {
			for _, name := range []string{"orders", "cold", "jobs"} {
				if _, err := db.Collection(name).DeleteMany(t.Context(), bson.D{}); err != nil {
					t.Fatal(err)
				}
			}
			strange := bson.D{
				{Key: "_id", Value: "d"}, {Key: "placed", Value: expNow.Add(-40 * expDay)},
				{
					Key:   "weird",
					Value: bson.A{"$where", "$$ROOT", bson.D{{Key: "a", Value: bson.Regex{Pattern: "^.*"}}}},
				},
				{Key: "v", Value: int32(7)}, {Key: "nan", Value: bson.D{{Key: "a", Value: nil}}},
			}
			expPut(t, t.Context(), db, "orders", expAged("a", 29), expAged("b", 30), expAged("c", 31), strange,
				expOrder{ID: "e"}, bson.D{{Key: "_id", Value: "f"}, {Key: "placed", Value: nil}}, bson.D{
					{Key: "_id", Value: "g"}, {Key: "placed", Value: "2001-01-01"},
				})
			if found, err := x.Live(expNow).Where(bson.D{{Key: "_id", Value: bson.D{{Key: "$lt", Value: "f"}}}}).
				All(t.Context(), db); err != nil || len(found) != 2 {
				t.Errorf("%d live: %v, %v", i, found, err)
			}
			p := expRun(t, db, x, model.JobOptions{DryRun: true})
			if p.Documents != 3 || p.Writes != 6 || p.Modified != 0 {
				t.Errorf("%d dry: %+v", i, p)
			}
			expWant(t, db, []string{"a", "b", "c", "d", "e", "f", "g"}, nil)
			job := x.Archive(expNow)
			job.Stages[0].BatchSize = 2
			stop := errors.New("stop")
			o := model.JobOptions{Checkpoint: "jobs", Progress: func(model.Progress) error { return stop }}
			if _, err := job.Run(t.Context(), db, o); !errors.Is(err, stop) {
				t.Fatal(err)
			}
			expWant(t, db, []string{"a", "d", "e", "f", "g"}, []string{"b", "c"})
			o.Progress = nil
			if p, err := job.Run(t.Context(), db, o); err != nil || p.Documents != 1 {
				t.Errorf("%d goes on: %+v, %v", i, p, err)
			}
			expWant(t, db, []string{"a", "e", "f", "g"}, []string{"b", "c", "d"})
			var got bson.D
			err := db.Collection("cold").FindOne(t.Context(), bson.D{{Key: "_id", Value: "d"}}).Decode(&got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := mongotest.Diff(strange, got); diff != "" {
				t.Error(diff)
			}
			if p := expRun(t, db, x, model.JobOptions{}); p.Documents != 0 {
				t.Errorf("%d again: %+v", i, p)
			}
			if c, err := x.Archived("b").One(t.Context(), db); err != nil || c.N != 30 {
				t.Errorf("%+v, %v", c, err)
			}
		}
	})
}

// Wherever archiving is cut, each document is in one place at the end, and never in none.
func TestExpiryFaults(t *testing.T) {
	for name, x := range map[string]*schema.Expiry[expOrder, string]{"whole": expArchived, "version": expVersion} {
		t.Run(name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Sample: 8,
				Seed: func(ctx context.Context, db *mongo.Database) error {
					expPut(t, ctx, db, "orders", expAged("a", 31), expAged("b", 31), expAged("c", 31), expAged("d", 1))
					old := expAged("b", 31)
					old.N, old.V = 5, 0
					expPut(t, ctx, db, "cold", old, expAged("c", 31))
					return nil
				},
				Run: func(ctx context.Context, db *mongo.Database) error {
					job := x.Archive(expNow)
					job.Stages[0].BatchSize = 3
					_, err := job.Run(ctx, db, model.JobOptions{})
					for _, id := range []string{"a", "b", "c"} { // at any time
						if ctx.Err() == nil && !expSomewhere(t, db, id) {
							t.Errorf("%s is lost", id)
						}
					}
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) {
					expWant(t, db, []string{"d"}, []string{"a", "b", "c"})
					b, err := db.Collection("cold").FindOne(context.Background(),
						bson.D{{Key: "_id", Value: "b"}}).Raw()
					if err != nil {
						t.Fatal(err)
					}
					if n, err := b.LookupErr("archivedEarlier", "0", "n"); b.Lookup("n").AsInt64() != 31 ||
						err != nil || n.AsInt64() != 5 {
						t.Errorf("b is archived as %s", b)
					}
					if list, _ := b.Lookup("archivedEarlier").Array().Values(); len(list) != 1 {
						t.Errorf("b has %d earlier copies", len(list))
					}
				},
			})
		})
	}
}

func expSomewhere(t testing.TB, db *mongo.Database, id string) bool {
	for _, name := range []string{"orders", "cold"} {
		n, err := db.Collection(name).CountDocuments(context.Background(), bson.D{{Key: "_id", Value: id}})
		if err != nil {
			return true // the backend is cut off: nothing is known
		}
		if n > 0 {
			return true
		}
	}
	return false
}

// Random changes between runs: each document's last state is where it belongs.
func TestExpiryProperty(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for seed, x := range []*schema.Expiry[expOrder, string]{expArchived, expVersion} {
			random := rand.New(rand.NewPCG(uint64(seed), 7))
			for _, name := range []string{"orders", "cold"} {
				if _, err := db.Collection(name).DeleteMany(t.Context(), bson.D{}); err != nil {
					t.Fatal(err)
				}
			}
			want := map[string]expOrder{} // the last state of each
			var version int64
			for round := range 8 {
				for range 8 {
					o := expAged(fmt.Sprint(random.IntN(12)), random.IntN(60))
					version++
					o.N, o.V, o.Tags = random.Int64N(5), version, []string{fmt.Sprint(round)}
					if _, err := db.Collection("orders").DeleteOne(t.Context(),
						bson.D{{Key: "_id", Value: o.ID}}); err != nil {
						t.Fatal(err)
					}
					expPut(t, t.Context(), db, "orders", o)
					want[o.ID] = o
				}
				job := x.Archive(expNow)
				job.Stages[0].BatchSize = 1 + random.IntN(4)
				if _, err := job.Run(t.Context(), db, model.JobOptions{}); err != nil {
					t.Fatal(err)
				}
				for id, o := range want {
					f := expOrders.ByID(id)
					if !o.Placed.After(expNow.Add(-30 * expDay)) {
						f = x.Archived(id)
						if n, err := expOrders.ByID(id).Count(t.Context(), db); err != nil || n != 0 {
							t.Errorf("%s is still there: %v", id, err)
						}
					}
					got, err := f.One(t.Context(), db)
					if err != nil || got.N != o.N || got.V != o.V {
						t.Fatalf("round %d: %s is %+v, want %+v: %v", round, id, got, o, err)
					}
				}
			}
			pairs, err := x.Both(expNow).All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range pairs {
				plan := x.Discard(p, bson.NewObjectID())
				for range 2 {
					if _, err := plan.Run(t.Context(), db); err != nil {
						t.Fatal(err)
					}
				}
			}
			if len(pairs) == 0 {
				t.Error("no document was in both: the test tests nothing")
			}
			if pairs, err = x.Both(expNow).All(t.Context(), db); err != nil || len(pairs) > 0 {
				t.Errorf("still in both: %v, %v", pairs, err)
			}
			for id := range want {
				if !expSomewhere(t, db, id) {
					t.Errorf("%s is lost", id)
				}
			}
		}
	})
}

// Time passes, and the server deletes what each collection's index says, when it says so.
func TestExpiryTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, db := t.Context(), mongotest.NewClient(t).Database("x")
		plain := db.Client().Database("y")
		each := schema.NewExpiry(expOrders, "placed", schema.ExpirySpec{})
		tiers := schema.NewExpiry(expOrders, "placed", schema.ExpirySpec{
			After: 30 * time.Minute, Archive: "cold", ArchiveFor: 5 * time.Hour,
		})
		for _, x := range []struct {
			db *mongo.Database
			x  *schema.Expiry[expOrder, string]
		}{{db, tiers}, {plain, each}} {
			if err := model.New("test", x.x).Indexes().Ensure(ctx, x.db); err != nil {
				t.Fatal(err)
			}
		}
		now := time.Now()
		later := now.Add(30 * time.Minute)
		expPut(t, ctx, db, "orders", expOrder{ID: "a", Placed: &now}, expOrder{ID: "never"})
		expPut(t, ctx, plain, "orders", expOrder{ID: "a", Placed: &later}, expOrder{ID: "b", Placed: &later},
			expOrder{ID: "c", Placed: &later}, expOrder{ID: "never"})
		if _, err := each.Until("c", time.Time{}).Run(ctx, plain); err != nil {
			t.Fatal(err)
		}
		if _, err := each.Until("b", now.Add(90*time.Minute)).Run(ctx, plain); err != nil {
			t.Fatal(err)
		}
		if _, err := each.Until("z", now).Run(ctx, plain); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("of none: %v", err)
		}
		time.Sleep(time.Hour)
		if got := expIDs(t, plain, "orders"); !slices.Equal(got, []string{"b", "c", "never"}) {
			t.Errorf("after an hour %q", got)
		}
		time.Sleep(time.Hour)
		if got := expIDs(t, plain, "orders"); !slices.Equal(got, []string{"c", "never"}) {
			t.Errorf("after two %q", got)
		}
		// One document waits for the archive.
		if late, err := tiers.Expired(time.Now()).All(ctx, db); err != nil || len(late) != 1 {
			t.Errorf("waiting: %v, %v", late, err)
		}
		if _, err := tiers.Archive(time.Now()).Run(ctx, db, model.JobOptions{}); err != nil {
			t.Fatal(err)
		}
		expWant(t, db, []string{"never"}, []string{"a"})
		time.Sleep(2 * time.Hour)
		expWant(t, db, []string{"never"}, []string{"a"})
		time.Sleep(2 * time.Hour)
		expWant(t, db, []string{"never"}, nil)
	})
}
