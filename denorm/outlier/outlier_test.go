package outlier_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/outlier"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The tests are about books and their buyers, as ExampleOutlier is.
type (
	titled struct {
		ID     string     `bson:"_id"`
		Title  string     `bson:"title,omitempty"`
		Extras bool       `bson:"extras,omitempty"`
		Buyers []customer `bson:"buyers,omitempty"`
	}
	customer struct {
		ID   string `bson:"id"`
		Paid int    `bson:"paid,omitempty"`
	}
	customerPage = bucket.Doc[string, customer]
)

var (
	titles        = model.NewCollection[titled, string]("books")
	moreCustomers = model.NewCollection[customerPage, string]("buyers")
	customerPages = bucket.New(moreCustomers, bucket.Spec{Max: 3, ElementKey: "id", Totals: []string{"paid"}})
	purchases     = outlier.New(titles, "buyers", customerPages, outlier.Spec{Max: 2, Flag: "extras"})
)

type buyersOutlier = outlier.Outlier[titled, string, customer]

var (
	outlierPlainPages = bucket.New(moreCustomers, bucket.Spec{Max: 3})
	outlierPlain      = outlier.New(titles, "buyers", outlierPlainPages,
		outlier.Spec{Max: 2, Flag: "extras"})
	outlierBytePages = bucket.New(moreCustomers, bucket.Spec{
		Max: 10, MaxBytes: 70, ElementKey: "id", Totals: []string{"paid"},
	})
	outlierBytes = outlier.New(titles, "buyers", outlierBytePages,
		outlier.Spec{Max: 10, MaxBytes: 60, Flag: "extras"})
)

// withFlag is the query of the owners that have overflow.
func withFlag() *model.Find[titled] {
	return titles.Find(bson.D{testkit.E("extras", true)}).Sorted(bson.D{testkit.E("_id", 1)})
}

func outlierBuyers(ids string) (out []customer) {
	for _, id := range strings.Fields(ids) {
		out = append(out, customer{ID: id, Paid: len(id)})
	}
	return out
}

func outlierAppend(ctx context.Context, db *mongo.Database, x *buyersOutlier, id, buyers string) error {
	for _, b := range outlierBuyers(buyers) {
		if _, err := x.Append(id, b).Run(ctx, db); err != nil {
			return fmt.Errorf("append %s: %w", b.ID, err)
		}
	}
	return nil
}

func outlierRemove(ctx context.Context, db *mongo.Database, x *buyersOutlier, id, customer string) error {
	_, err := x.Remove(id, customer).Run(ctx, db)
	return err
}

func outlierSplit(ctx context.Context, db *mongo.Database, x *buyersOutlier) error {
	_, err := x.Split().Run(ctx, db, model.JobOptions{})
	return err
}

// outlierPush is other code, which knows nothing of overflow.
func outlierPush(ctx context.Context, db *mongo.Database, id, buyers string) error {
	return testkit.Exec(ctx, db,
		model.NewPlan(titles.Update(id, bson.D{
			testkit.E("$push", bson.D{testkit.E("buyers", bson.D{testkit.E("$each", outlierBuyers(buyers))})}),
		})))
}

func outlierIDs(list []customer) string {
	var ids []string
	for _, b := range list {
		ids = append(ids, b.ID)
	}
	return strings.Join(ids, " ")
}

// wantOutlier says what a book's buyers are, in order; that array and pages hold no more than they may, the counts are
// right, and the check finds nothing.
func wantOutlier(t testing.TB, db *mongo.Database, x *buyersOutlier, id, want string) {
	t.Helper()
	ctx := context.Background()
	list, err := x.Elements(id).All(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	if got := outlierIDs(list); got != want {
		t.Errorf("%s has %q, want %q", id, got, want)
	}
	b, err := titles.ByID(id).One(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := customerPages.Oldest(id).All(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	most, seen := 2, len(b.Buyers)
	if x == outlierBytes {
		most = 10
	}
	for _, p := range pages {
		seen += p.N
		if x != outlierBytes && p.N > 3 || p.N != len(p.Items) {
			t.Errorf("page %s holds %d, says %d", p.ID, len(p.Items), p.N)
		}
	}
	n, err := x.Count(id).One(ctx, db)
	if err != nil || n.Kept+n.Overflow != int64(seen) || seen != len(list) || len(b.Buyers) > most ||
		!b.Extras && len(pages) > 0 {
		t.Errorf("%v, %v; the book holds %d, extras %v, %d pages", n, err, len(b.Buyers), b.Extras, len(pages))
	}
	wantOutlierDrift(t, db, x)
	if diffs, err := customerPages.Checks()[0].All(ctx, db); x == purchases && (err != nil || len(diffs) > 0) {
		t.Errorf("miscounted: %v, %v", diffs, err)
	}
}

func wantOutlierDrift(t testing.TB, db *mongo.Database, x *buyersOutlier, want ...string) {
	t.Helper()
	var got []string
	for _, c := range x.Checks()[:2] {
		found, _ := testkit.FindingsOf(t, db, c)
		for _, f := range found {
			fault, _, _ := strings.Cut(f.Problem, ":")
			got = append(got, f.ID.StringValue()+" "+fault)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the check finds %q, want %q", got, want)
	}
}

// Whatever is appended and removed, by whichever bound, the elements are those of a list in memory, in its order.
func TestOutlierProperty(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for n, x := range []*buyersOutlier{purchases, outlierBytes, purchases} {
			r := rand.New(rand.NewPCG(uint64(n), 7))
			ids := []string{"a", "a#", "$where"}
			testkit.Seed(t, db, testkit.Docs{
				"books":  {titled{ID: ids[0]}, titled{ID: ids[1], Buyers: []customer{}}, titled{ID: ids[2]}},
				"buyers": nil,
			})
			want := map[string][]string{}
			for range 60 {
				id, who := ids[r.IntN(3)], fmt.Sprintf("b%0*d", 1+r.IntN(2)*r.IntN(12), r.IntN(20))
				i := slices.Index(want[id], who)
				if r.IntN(4) == 0 {
					if err := outlierRemove(t.Context(), db, x, id, who); err != nil {
						t.Fatal(err)
					}
					if i >= 0 {
						want[id] = slices.Delete(want[id], i, i+1)
					}
					continue
				}
				if err := outlierAppend(t.Context(), db, x, id, who); err != nil {
					t.Fatal(err)
				}
				if i < 0 {
					want[id] = append(want[id], who)
				}
				found, err := x.Holding(id, who).All(t.Context(), db)
				if err != nil || len(found) != 1 || found[0].ID != who {
					t.Fatalf("holding %s: %v, %v", who, found, err)
				}
			}
			var flagged []string
			for _, id := range ids {
				wantOutlier(t, db, x, id, strings.Join(want[id], " "))
			}
			list, err := withFlag().All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range list {
				flagged = append(flagged, b.ID)
			}
			if !slices.Equal(flagged, slices.Sorted(slices.Values(ids))) {
				t.Errorf("outliers %q", flagged)
			}
		}
	})
}

// Of 32 that append at once none is lost and none comes twice, with and without a key.
func TestOutlierWriters(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for name, x := range map[string]*buyersOutlier{
			"key": purchases, "no key": outlierPlain, "bytes": outlierBytes,
		} {
			t.Run(name, func(t *testing.T) {
				testkit.Seed(t, db, testkit.Docs{"books": {titled{ID: "a"}}, "buyers": nil})
				var wait sync.WaitGroup
				var want []string
				for w := range 32 {
					who := fmt.Sprintf("w%02d", w)
					if x != outlierPlain {
						who = fmt.Sprintf("w%02d", w/2) // each by two of them
					}
					want = append(want, who)
					wait.Go(func() {
						if err := outlierAppend(t.Context(), db, x, "a", who); err != nil {
							t.Error(err)
						}
					})
				}
				wait.Wait()
				want = slices.Compact(want)
				list, err := x.Elements("a").All(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				got := outlierIDs(list)
				if sorted := slices.Sorted(slices.Values(strings.Fields(got))); !slices.Equal(sorted, want) {
					t.Errorf("has %v, want %v", sorted, want)
				}
				wantOutlier(t, db, x, "a", got)
			})
		}
	})
}

// An append, a removal, a deletion and a Split can be cut anywhere and run again.
func TestOutlierFaults(t *testing.T) {
	testkit.Parallel(t)
	for _, c := range []struct {
		name   string
		x      *buyersOutlier
		before string
		run    func(context.Context, *mongo.Database) error
		want   string
	}{
		{
			name: "append with room", x: purchases, before: "a",
			run: func(ctx context.Context, db *mongo.Database) error {
				return outlierAppend(ctx, db, purchases, "b", "x")
			},
			want: "a x",
		},
		{
			name: "append over the bound", x: purchases, before: "a b",
			run: func(ctx context.Context, db *mongo.Database) error {
				return outlierAppend(ctx, db, purchases, "b", "x")
			},
			want: "a b x",
		},
		{
			name: "append after a full page", x: purchases, before: "a b c d e",
			run: func(ctx context.Context, db *mongo.Database) error {
				return outlierAppend(ctx, db, purchases, "b", "x")
			},
			want: "a b c d e x",
		},
		{
			name: "append by bytes", x: outlierBytes, before: "a b cccccccccccccccccccccccc",
			run: func(ctx context.Context, db *mongo.Database) error {
				return outlierAppend(ctx, db, outlierBytes, "b", "xxxxxxxxxxxxxxxxxxxxxxxxxx")
			},
			want: "a b cccccccccccccccccccccccc xxxxxxxxxxxxxxxxxxxxxxxxxx",
		},
		{
			name: "remove from the array", x: purchases, before: "a b c",
			run: func(ctx context.Context, db *mongo.Database) error {
				return outlierRemove(ctx, db, purchases, "b", "a")
			},
			want: "b c",
		},
		{
			name: "remove from a full page", x: purchases, before: "a b c d e f",
			run: func(ctx context.Context, db *mongo.Database) error {
				return outlierRemove(ctx, db, purchases, "b", "d")
			},
			want: "a b c e f",
		},
		{
			name: "split", x: purchases, before: "",
			run:  func(ctx context.Context, db *mongo.Database) error { return outlierSplit(ctx, db, purchases) },
			want: "1 2 3 4 5 6 7",
		},
		{
			name: "split by bytes", x: outlierBytes, before: "",
			run:  func(ctx context.Context, db *mongo.Database) error { return outlierSplit(ctx, db, outlierBytes) },
			want: "1 2 3 4 5 6 7 8 9 10 11 12",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					err := testkit.Exec(ctx, db, model.NewPlan(titles.Insert(titled{ID: "b"})))
					if c.before == "" {
						return errors.Join(err, outlierPush(ctx, db, "b", c.want))
					}
					return errors.Join(err, outlierAppend(ctx, db, c.x, "b", c.before))
				},
				Run:   c.run,
				Check: func(t testing.TB, db *mongo.Database) { wantOutlier(t, db, c.x, "b", c.want) },
			})
		})
	}
	t.Run("delete", func(t *testing.T) {
		modeltest.FaultMatrix(t, modeltest.FaultCase{
			Seed: func(ctx context.Context, db *mongo.Database) error {
				return errors.Join(testkit.Exec(ctx, db, model.NewPlan(titles.Insert(titled{ID: "b"}))),
					outlierAppend(ctx, db, purchases, "b", "1 2 3 4 5 6 7"))
			},
			Run: func(ctx context.Context, db *mongo.Database) error {
				return testkit.Exec(ctx, db, purchases.Delete("b"))
			},
			Check: func(t testing.TB, db *mongo.Database) {
				if n, err := moreCustomers.Find(nil).Count(context.Background(), db); n != 0 || err != nil {
					t.Errorf("%d pages, %v", n, err)
				}
			},
		})
	})
}

// Two operations in every order of their commands: each element is there once, in an order that both could have been
// in.
func TestOutlierInterleaved(t *testing.T) {
	testkit.Parallel(t)
	add := func(id string) testkit.Operation {
		return testkit.Operation{
			Name: "append " + id,
			Run: func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error {
				return outlierAppend(ctx, db, purchases, "b", id)
			},
		}
	}
	remove := func(id string) testkit.Operation {
		return testkit.Operation{
			Name: "remove " + id,
			Run: func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error {
				return outlierRemove(ctx, db, purchases, "b", id)
			},
		}
	}
	split := testkit.Operation{
		Name: "split",
		Run: func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error {
			return outlierSplit(ctx, db, purchases)
		},
	}
	push := testkit.Operation{Name: "push", Run: func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error {
		// Other code, to which the flag says that the array is closed.
		r, err := db.Collection("books").
			UpdateOne(ctx, bson.D{testkit.E("_id", "b"), testkit.E("extras", bson.D{testkit.E("$ne", true)})},
				bson.D{testkit.E("$push", bson.D{testkit.E("buyers", customer{ID: "x"})})})
		if err == nil && r.MatchedCount == 0 {
			err = outlier.ErrUnsound // it does nothing
		}
		return err
	}}
	for _, c := range []struct {
		before string
		pushed bool
		a, b   testkit.Operation
		want   []string // that may come out; where pushed, the first if b succeeds, and the other if it can do nothing
	}{
		{"1", false, add("x"), add("y"), []string{"1 x y", "1 y x"}},
		{"1", false, add("x"), add("x"), []string{"1 x"}},
		{"1 2", false, add("x"), add("y"), []string{"1 2 x y", "1 2 y x"}},
		{"1 2", false, add("x"), add("x"), []string{"1 2 x"}},
		{"1 2 3 4 5", false, add("x"), add("x"), []string{"1 2 3 4 5 x"}},
		{"1 2", false, add("x"), remove("1"), []string{"2 x"}},
		{"1 2 3 4 5", false, add("x"), remove("4"), []string{"1 2 3 5 x"}},
		{"1 2 3", false, add("3"), remove("3"), []string{"1 2", "1 2 3"}},
		{"1 2 3 4", true, split, add("x"), []string{"1 2 3 4 x", "1 2 3 4"}},
		{"1 2 3 4", true, split, split, []string{"1 2 3 4"}},
		{"1 2 3 4", true, split, push, []string{"1 2 3 4 x", "1 2 3 4"}},
		{"1 2 3 4", true, split, remove("4"), []string{"1 2 3", "1 2 3 4"}},
	} {
		t.Run(fmt.Sprintf("%s | %s after %s", c.a.Name, c.b.Name, c.before), func(t *testing.T) {
			if os.Getenv("MONGODB_URI") == "" {
				t.Parallel()
			}
			match := mongotest.All
			if !testkit.EveryPair {
				match = mongotest.Writes
			}
			modeltest.Interleave(t, modeltest.InterleaveCase{
				Sample: 3, Match: match,
				Seed: func(ctx context.Context, db *mongo.Database) error {
					err := testkit.Exec(ctx, db, model.NewPlan(titles.Insert(titled{ID: "b"})))
					if c.pushed {
						return errors.Join(err, outlierPush(ctx, db, "b", c.before))
					}
					return errors.Join(err, outlierAppend(ctx, db, purchases, "b", c.before))
				},
				A: func(ctx context.Context, db *mongo.Database) error { return c.a.Run(ctx, db, testkit.Token(1)) },
				B: func(ctx context.Context, db *mongo.Database) error { return c.b.Run(ctx, db, testkit.Token(2)) },
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					if err := errors.Join(errA, errB); err != nil && !errors.Is(err, outlier.ErrUnsound) {
						t.Error(err)
					}
					list, err := purchases.Elements("b").All(context.Background(), db)
					got, want := outlierIDs(list), c.want
					if c.pushed && errB == nil {
						want = want[:1]
					} else if c.pushed {
						want = want[1:]
					}
					if err != nil || !slices.Contains(want, got) {
						t.Errorf("%q, %v; want one of %q", got, err, want)
					}
					wantOutlier(t, db, purchases, "b", got)
				},
			})
		})
	}
}
