package bucket_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// appending is the operation of an append.
func appending(b *noteBucket, key string, n note) func(context.Context, *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		_, err := b.Append(key, n).Run(ctx, db)
		return err
	}
}

// fillBucket appends notes before a case begins.
func fillBucket(b *noteBucket, list ...note) func(context.Context, *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		for _, n := range list {
			if err := appending(b, "p", n)(ctx, db); err != nil {
				return err
			}
		}
		return nil
	}
}

// An append that is cut anywhere, and run again, adds once: into an empty sequence, a bucket with room, after a full
// one, and after one that is closed for it.
func TestBucketFaults(t *testing.T) {
	testkit.Parallel(t)
	for _, c := range []struct {
		reason string
		b      *noteBucket
		before []note
		add    note
		want   [][]string
	}{
		{"the first", added, nil, makeNote("a"), [][]string{{"a"}}},
		{"with room", added, []note{makeNote("a")}, makeNumbered("b", 1, 2), [][]string{{"a", "b"}}},
		{
			reason: "after a full bucket", b: added,
			before: []note{makeNote("a"), makeNote("b"), makeNote("c")}, add: makeNote("d"),
			want: [][]string{{"a", "b", "c"}, {"d"}},
		},
		{"the last place", added, []note{makeNote("a"), makeNote("b")}, makeNote("c"), [][]string{{"a", "b", "c"}}},
		{"by bytes", budgeted, []note{ofSize("a", 100)}, ofSize("b", 60), [][]string{{"a"}, {"b"}}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed:  fillBucket(c.b, c.before...),
				Run:   appending(c.b, "p", c.add),
				Check: func(t testing.TB, db *mongo.Database) { wantPages(t, db, c.b, "p", c.want...) },
			})
		})
	}
}

// Without a Key an append that is run again adds its element again, as its documentation says.
func TestBucketAppendAgain(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		empty(t, db)
		appendAll(t, db, plain, "p", makeNote("a"), makeNote("a"))
		wantPages(t, db, plain, "p", []string{"a", "a"})
	})
}

// An append takes part in a transaction, and goes with it.
func TestBucketAppendInTransaction(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		appendAll(t, db, byKey, "p", makeNote("a"), makeNote("b"))
		errUndone := errors.New("undone")
		for _, want := range []error{errUndone, nil} {
			err := model.InTx(t.Context(), db, func(ctx context.Context) error {
				return errors.Join(fillBucket(byKey, makeNote("b"), makeNote("c"), makeNote("d"))(ctx, db), want)
			})
			if !errors.Is(err, want) {
				t.Fatal(err)
			}
			if want != nil {
				wantPages(t, db, byKey, "p", []string{"a", "b"})
			}
		}
		wantPages(t, db, byKey, "p", []string{"a", "b", "c"}, []string{"d"})
	})
}

// Two appends in every order of their commands: both elements are there once, or the one is, if it is the same.
func TestBucketInterleaved(t *testing.T) {
	testkit.Parallel(t)
	for _, c := range []struct {
		reason string
		b      *noteBucket
		before []note
		x, y   note
	}{
		{"into an empty sequence", byKey, nil, makeNote("x"), makeNote("y")},
		{"into the last place", byKey, []note{makeNote("a"), makeNote("b")}, makeNote("x"), makeNote("y")},
		{
			reason: "after a full bucket", b: byKey,
			before: []note{makeNote("a"), makeNote("b"), makeNote("c")},
			x:      makeNote("x"), y: makeNote("y"),
		},
		{"by bytes", budgeted, []note{ofSize("a", 60)}, ofSize("x", 61), ofSize("y", 60)},
		{"by bytes, both too large", budgeted, []note{ofSize("a", 60)}, ofSize("x", 61), ofSize("y", 62)},
		{"the same into an empty sequence", byKey, nil, makeNote("x"), makeNote("x")},
		{"the same into the last place", byKey, []note{makeNote("a"), makeNote("b")}, makeNote("x"), makeNote("x")},
		{
			reason: "the same after a full bucket", b: byKey,
			before: []note{makeNote("a"), makeNote("b"), makeNote("c")},
			x:      makeNote("x"), y: makeNote("x"),
		},
		{"the same by bytes", budgeted, []note{ofSize("a", 60)}, ofSize("x", 61), ofSize("x", 61)},
		{"without a key", plain, []note{makeNote("a"), makeNote("b")}, makeNote("x"), makeNote("y")},
	} {
		t.Run(c.reason, func(t *testing.T) {
			modeltest.Interleave(t, modeltest.InterleaveCase{
				Match:  testkit.Interleaved,
				Sample: 5,
				Seed:   fillBucket(c.b, c.before...),
				A:      appending(c.b, "p", c.x),
				B:      appending(c.b, "p", c.y),
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					if err := errors.Join(errA, errB); err != nil {
						t.Error(err)
					}
					want := append(idsOfNotes(c.before), c.x.ID)
					if c.y.ID != c.x.ID {
						want = append(want, c.y.ID)
					}
					wantWhole(t, db, c.b, 3, want)
				},
			})
		})
	}
}

// wantWhole says that a key's pages hold each of the ids once, that all before the newest are full or closed, and
// numbered without a gap.
func wantWhole(t testing.TB, db *mongo.Database, b *noteBucket, most int, want []string) {
	t.Helper()
	pages, err := b.Oldest("p").All(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, p := range pages {
		got = append(got, idsOfNotes(p.Items)...)
		if p.Seq != int64(i) || p.N > most || i < len(pages)-1 && p.N < most && !p.Closed {
			t.Errorf("page %d of %d: number %d, %d items, closed %v", i, len(pages), p.Seq, p.N, p.Closed)
		}
	}
	want = slices.Sorted(slices.Values(want))
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the pages hold %v, want %v", got, want)
	}
	wantCounted(t, db, b)
}

// Thirty-two that append at once, each element by two of them: nothing is lost, doubled or overfilled, by number or by
// bytes.
func TestBucketConcurrent(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := testkit.CreateIndexes(t.Context(), db, added); err != nil {
			t.Fatal(err)
		}
		t.Run("by number", func(t *testing.T) {
			appendTwice(t, db, added, 3, func(id string) note { return makeNumbered(id, 7, 0.1) })
		})
		t.Run("by bytes", func(t *testing.T) {
			appendTwice(t, db, budgeted, 10, func(id string) note {
				return ofSize(id, 50+3*int(id[0]-'0')+2*int(id[len(id)-1]-'0'))
			})
		})
	})
}

func appendTwice(t *testing.T, db *mongo.Database, b *noteBucket, most int, of func(string) note) {
	const writers, each = 32, 4
	empty(t, db)
	errs := make([]error, writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				errs[w] = errors.Join(errs[w], appending(b, "p", of(fmt.Sprint(w/2, ".", i)))(t.Context(), db))
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	var want []string
	for w := range writers / 2 {
		for i := range each {
			want = append(want, fmt.Sprint(w, ".", i))
		}
	}
	wantWhole(t, db, b, most, want)
}

// Without keys of elements, every append counts.
func TestBucketConcurrentWithoutKey(t *testing.T) {
	testkit.Parallel(t)
	const writers, each = 32, 4
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		empty(t, db)
		var want []string
		errs := make([]error, writers)
		var all sync.WaitGroup
		for w := range writers {
			for i := range each {
				want = append(want, fmt.Sprint(w, ".", i))
			}
			all.Go(func() {
				for i := range each {
					errs[w] = errors.Join(errs[w],
						appending(plain, "p", makeNote(fmt.Sprint(w, ".", i)))(t.Context(), db))
				}
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		wantWhole(t, db, plain, 3, want)
	})
}

// Pages give back exactly what was appended, in order, whatever the sizes, the bounds and the keys.
func TestBucketProperty(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for s := range uint64(6) {
			random := rand.New(rand.NewPCG(s, 1))
			most, bytes := 1+random.IntN(5), int64(150+random.IntN(200))
			b := bucket.New(notes, bucket.Spec{
				Max: most, MaxBytes: bytes, ElementKey: "id", Totals: []string{"n", "f"},
			})
			empty(t, db)
			want, sums := map[string][]string{}, map[string]int64{}
			for range 60 {
				key := []string{"p", "p#", "p#0000000000", "%", "$where"}[random.IntN(5)]
				n := ofSize(fmt.Sprintf("%02d", random.IntN(40)), 50+random.IntN(60))
				v := random.Int64N(100)
				n.N, n.F = &v, random.Float64()
				appendAll(t, db, b, key, n)
				if !slices.Contains(want[key], n.ID) {
					want[key] = append(want[key], n.ID)
					sums[key] += v
				}
			}
			for key, ids := range want {
				got, err := b.Elements(key).All(t.Context(), db)
				if err != nil || !slices.Equal(idsOfNotes(got), ids) {
					t.Fatalf("%d %q: %v, %v; want %v", s, key, idsOfNotes(got), err, ids)
				}
				totals, err := b.Totals(key).One(t.Context(), db)
				if err != nil || totals.N != int64(len(ids)) || totals.Totals["n"].Sum != float64(sums[key]) ||
					totals.Bytes != sizeOf(got...) {
					t.Errorf("%d %q: totals %+v, %v", s, key, totals, err)
				}
				pages, err := b.Newest(key).All(t.Context(), db)
				if err != nil || len(pages) != totals.Buckets ||
					slices.ContainsFunc(pages, func(p noteDoc) bool {
						return p.N > most || p.Bytes > bytes || p.Key != key
					}) {
					t.Errorf("%d %q: pages %+v, %v", s, key, pages, err)
				}
			}
			wantCounted(t, db, b)
		}
	})
}

// Keys that look like commands, patterns or other keys' buckets stay data.
func TestBucketHostileKeys(t *testing.T) {
	testkit.Parallel(t)
	keys := []string{
		"$where", "a.b", "^.*", "$$ROOT", "{$ne: null}", "é\x00", "p", "p#", "p#0000000000",
		"p%23", "p%", "p$", "#", "%", "p#2014-03-28", "|", "/",
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		empty(t, db)
		at := time.Date(2014, 3, 28, 0, 0, 0, 0, time.UTC)
		for _, b := range []*noteBucket{byKey, daily} {
			empty(t, db)
			for _, key := range keys {
				for i := range 4 {
					appendAll(t, db, b, key, note{
						ID: key + fmt.Sprint(i), Any: bson.D{{Key: "x", Value: key}}, At: &at,
					})
				}
			}
			for _, key := range keys {
				want := []string{key + "0", key + "1", key + "2", key + "3"}
				if got, err := b.Elements(key).All(t.Context(), db); err != nil ||
					!slices.Equal(idsOfNotes(got), want) {
					t.Errorf("%q: %q, %v", key, idsOfNotes(got), err)
				}
				if got, err := b.Holding(key, key+"3").All(t.Context(), db); err != nil ||
					len(got) != 1 || got[0].Key != key {
					t.Errorf("%q holds: %v, %v", key, got, err)
				}
			}
		}
	})
}
