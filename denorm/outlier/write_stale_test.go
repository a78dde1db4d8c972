package outlier_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/denorm/outlier"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// outlierPlanned is the plan of a Split for a book as it is now.
func outlierPlanned(t testing.TB, db *mongo.Database, x *buyersOutlier, id string) model.Plan {
	t.Helper()
	doc, err := (&model.Find[bson.Raw]{
		Query: model.Query{Collection: "books", Filter: bson.D{testkit.E("_id", id)}},
	}).One(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	p, err := x.Split().Stages[0].Plan([]bson.Raw{doc})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// outlierUpTo is the plan's first n steps.
func outlierUpTo(p model.Plan, n int) model.Plan { return model.NewPlan(p.Steps[:n]...) }

// A plan that was decided before others wrote puts no element where another one is, and none in twice.
func TestOutlierStale(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			reason, read, before, remove, then string // read is what the owner has when the plan is decided
			want                               error
			after                              string
		}{
			{"room that is gone", "1", "1", "", "2", model.ErrStale, "1 2"},
			{"room, though there is overflow by now", "1", "1 2 3", "1", "", model.ErrStale, "2 3"},
			{"full, and the array holds it by now", "1 2", "1 2", "1", "x", model.ErrStale, "2 x"},
			{"the same, with overflow", "1 2", "1 2", "1", "x y", model.ErrStale, "2 x y"},
			{"full, and the overflow holds it by now", "1 2", "1 2", "", "x y", nil, "1 2 x y"},
			{"full, and the array has room by now", "1 2", "1 2", "1", "", model.ErrStale, "2"},
			{"a page that was full is not filled up", "1 2 3 4", "1 2 3 4 5 6", "4", "", model.ErrStale, "1 2 3 5 6"},
		} {
			t.Run(c.reason, func(t *testing.T) {
				add := purchases.Append("b", customer{ID: "x", Paid: 1})
				testkit.Seed(t, db, testkit.Docs{"books": {titled{ID: "b"}}, "buyers": nil})
				if err := outlierAppend(t.Context(), db, purchases, "b", c.read); err != nil {
					t.Fatal(err)
				}
				p, err := add.Plan(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				testkit.Seed(t, db, testkit.Docs{"books": {titled{ID: "b"}}, "buyers": nil})
				err = outlierAppend(t.Context(), db, purchases, "b", c.before)
				if c.remove != "" {
					err = errors.Join(err, outlierRemove(t.Context(), db, purchases, "b", c.remove))
				}
				if err = errors.Join(err, outlierAppend(t.Context(), db, purchases, "b", c.then)); err != nil {
					t.Fatal(err)
				}
				testkit.WantError(t, testkit.Exec(t.Context(), db, p), c.want)
				wantOutlier(t, db, purchases, "b", c.after)
			})
		}
		t.Run("bytes that are gone", func(t *testing.T) {
			add := outlierBytes.Append("b", customer{ID: "x", Paid: 1})
			testkit.Seed(t, db, testkit.Docs{"books": {titled{ID: "b", Buyers: outlierBuyers("1")}}, "buyers": nil})
			read, err := add.Read(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			p, err := add.Decide(read)
			if err != nil {
				t.Fatal(err)
			}
			testkit.Seed(t, db, testkit.Docs{"books": {titled{ID: "b", Buyers: outlierBuyers("1 2")}}, "buyers": nil})
			testkit.WantError(t, testkit.Exec(t.Context(), db, p), model.ErrStale)
		})
	})
}

// A Split that was cut goes on when the array has grown, and one that is late does no harm.
func TestOutlierSplitGrown(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for cut := range 4 {
			for _, x := range []*buyersOutlier{purchases, outlierPlain} {
				testkit.Seed(t, db, testkit.Docs{
					"books":  {titled{ID: "b", Buyers: outlierBuyers("1 2 3 4 5 6 7")}},
					"buyers": nil,
				})
				late := outlierPlanned(t, db, x, "b")
				testkit.MustExec(t, db, outlierUpTo(late, min(cut, 2)))
				if err := outlierPush(t.Context(), db, "b", "8 9"); err != nil {
					t.Fatal(err)
				}
				if cut > 0 {
					wantOutlierDrift(t, db, x, "b unsplit")
				}
				if list, err := x.Elements("b").All(t.Context(), db); err != nil ||
					outlierIDs(list) != "1 2 3 4 5 6 7 8 9" {
					t.Errorf("while it is split: %v, %v", list, err)
				}
				if cut == 3 { // another one meets it: what it writes of a shorter array is refused
					testkit.MustExec(t, db, outlierUpTo(outlierPlanned(t, db, x, "b"), 3))
					_, err := late.Run(t.Context(), db)
					testkit.WantErrorText(t, err, model.ErrStale, "stored overflow")
				}
				if err := outlierSplit(t.Context(), db, x); err != nil {
					t.Fatal(err)
				}
				if err := outlierAppend(t.Context(), db, x, "b", "x"); err != nil {
					t.Fatal(err)
				}
				wantOutlier(t, db, x, "b", "1 2 3 4 5 6 7 8 9 x")
				if x == purchases {
					if err := outlierRemove(t.Context(), db, x, "b", "4"); err != nil {
						t.Fatal(err)
					}
				}
				_, err := late.Run(t.Context(), db)
				testkit.WantErrorText(t, err, model.ErrStale, "stored overflow")
				wantOutlier(t, db, x, "b", map[bool]string{
					false: "1 2 3 4 5 6 7 8 9 x", true: "1 2 3 5 6 7 8 9 x",
				}[x == purchases])
			}
		}
	})
}

// outlierMend mends at once what overflow has no flag.
func outlierMend(ctx context.Context, db *mongo.Database) error {
	c := purchases.Checks()[0]
	c.Age = 0
	return testkit.CheckJob(c)(ctx, db)
}

// What other code does past the technique is found completely, and mended where that loses nothing.
func TestOutlierDrift(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		testkit.Seed(t, db, testkit.Docs{"books": nil, "buyers": nil})
		for _, id := range []string{"few", "cut", "grown", "lost", "over", "shrunk", "short", "whole"} {
			testkit.MustExec(t, db, model.NewPlan(titles.Insert(titled{ID: id, Title: "kept"})))
		}
		push := func(id, list string) {
			t.Helper()
			if err := outlierPush(ctx, db, id, list); err != nil {
				t.Fatal(err)
			}
		}
		update := func(id string, u bson.D) { t.Helper(); testkit.MustExec(t, db, model.NewPlan(titles.Update(id, u))) }
		appendTo := func(id, list string) {
			t.Helper()
			if err := outlierAppend(ctx, db, purchases, id, list); err != nil {
				t.Fatal(err)
			}
		}
		appendTo("few", "1 2")
		appendTo("whole", "1 2 3 4")
		push("grown", "1 2 3 4 5 6 7")
		push("cut", "1 2 3 4 5 6 7")
		testkit.MustExec(t, db, outlierUpTo(outlierPlanned(t, db, purchases, "cut"), 1))
		appendTo("lost", "1 2 3 4")
		update("lost", bson.D{testkit.E("$unset", bson.D{testkit.E("extras", "")})})
		appendTo("over", "1 2 3")
		push("over", "8 9")
		for _, id := range []string{"shrunk", "short"} {
			push(id, "1 2 3 4 5 6 7")
			testkit.MustExec(t, db, outlierUpTo(outlierPlanned(t, db, purchases, id), 2))
		}
		update("shrunk", bson.D{testkit.E("$pull", bson.D{testkit.E("buyers", bson.D{testkit.E("id", "1")})})})
		// by a person, who took the rest out
		update("short", bson.D{testkit.E("$set", bson.D{testkit.E("buyers", outlierBuyers("1 7"))})})
		wantOutlierDrift(t, db, purchases, "cut unsplit", "grown unsplit", "lost unflagged", "over oversized",
			"short unflagged", "shrunk leftover")
		if _, said := testkit.FindingsOf(t, db, purchases.Checks()[1]); !slices.Equal(said, []string{
			"books 'cut': unsplit: its array holds 7 elements, and there are overflow documents without the flag: 1",
			"books 'grown': unsplit: its array holds 7 elements",
			"books 'over': oversized: its array holds 4 elements although there is overflow",
		}) {
			t.Errorf("over Max: %q", said)
		}
		if c := purchases.Checks()[1]; c.Job().Err == nil {
			t.Error("a job mends arrays over Max")
		}

		for _, id := range []string{"cut", "grown", "shrunk"} {
			testkit.WantErrorText(t, outlierAppend(ctx, db, purchases, id, "x"), outlier.ErrUnsound, "Outlier.Split")
			testkit.WantErrorText(t, outlierRemove(ctx, db, purchases, id, "3"), outlier.ErrUnsound, "Outlier.Split")
		}
		testkit.WantErrorText(t, outlierAppend(ctx, db, purchases, "lost", "x"), outlier.ErrUnsound, "Outlier.Checks")
		testkit.WantErrorText(t, outlierRemove(ctx, db, purchases, "lost", "9"), outlier.ErrUnsound, "Outlier.Checks")
		// of the shrunk one
		testkit.WantErrorText(t, outlierSplit(ctx, db, purchases), model.ErrStale, "stored overflow")
		for range 2 {
			if err := outlierMend(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		if err := outlierSplit(ctx, db, purchases); err != nil {
			t.Fatal(err)
		}
		wantOutlierDrift(t, db, purchases, "over oversized")
		if _, err := purchases.Settle().Run(ctx, db, model.JobOptions{}); err != nil {
			t.Fatal(err)
		}
		wantOutlierDrift(t, db, purchases)
		for id, want := range map[string]string{
			"few": "1 2", "cut": "1 2 3 4 5 6 7", "grown": "1 2 3 4 5 6 7", "lost": "1 2 3 4",
			"shrunk": "2 3 4 5 6 7",
			"whole":  "1 2 3 4", "over": "1 2 3 8 9",
		} {
			if list, err := purchases.Elements(id).All(ctx, db); err != nil || outlierIDs(list) != want {
				t.Errorf("%s has %v, %v", id, list, err)
			}
		}
		if n, err := titles.Find(bson.D{testkit.E("title", "kept")}).Count(ctx, db); n != 8 || err != nil {
			t.Errorf("%d books as they were, %v", n, err)
		}
	})
}

// Flags that get lost at random are all found, and nothing else; repaired, all is as it was.
func TestOutlierFlagsLost(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"books": nil, "buyers": nil})
		r := rand.New(rand.NewPCG(5, 5))
		var lost, all []string
		for n := range 20 {
			id := fmt.Sprintf("b%02d", n)
			testkit.MustExec(t, db, model.NewPlan(titles.Insert(titled{ID: id})))
			list := "1 2 3 4 5 6 7"[:1+2*r.IntN(7)]
			if n%2 == 0 {
				if err := outlierAppend(t.Context(), db, purchases, id, list); err != nil {
					t.Fatal(err)
				}
			} else if err := errors.Join(outlierPush(t.Context(), db, id, list),
				outlierSplit(t.Context(), db, purchases)); err != nil {
				t.Fatal(err)
			}
			all = append(all, list)
			if r.IntN(2) == 0 {
				testkit.MustExec(t, db,
					model.NewPlan(titles.Update(id, bson.D{testkit.E("$set", bson.D{testkit.E("extras", false)})})))
				if len(list) > 3 {
					lost = append(lost, id+" unflagged")
				}
			}
		}
		wantOutlierDrift(t, db, purchases, lost...)
		if err := outlierMend(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		for n, list := range all {
			wantOutlier(t, db, purchases, fmt.Sprintf("b%02d", n), list)
		}
	})
}

// Overflow whose owner is gone is found, and deleted only if nothing came to it since.
func TestOutlierOrphans(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"books": {titled{ID: "a"}, titled{ID: "b"}, titled{ID: "c"}}, "buyers": nil})
		for _, id := range []string{"a", "b", "c"} {
			if err := outlierAppend(t.Context(), db, purchases, id, "1 2 3 4 5 6"); err != nil {
				t.Fatal(err)
			}
		}
		testkit.MustExec(t, db, model.NewPlan(titles.Delete("a"), titles.Delete("c")))
		check := purchases.Checks()[2]
		found, got := testkit.FindingsOf(t, db, check)
		if want := []string{
			"buyers 'a#0000000000': the owner 'a' doesn't exist", "buyers 'a#0000000001': the owner 'a' doesn't exist",
			"buyers 'c#0000000000': the owner 'c' doesn't exist", "buyers 'c#0000000001': the owner 'c' doesn't exist",
		}; !slices.Equal(got, want) {
			t.Fatalf("%q", got)
		}
		testkit.MustExec(t, db, model.NewPlan(customerPages.AppendTo("c", 1, customer{ID: "new"})))
		testkit.MustExec(t, db, check.Mend(found))
		left, said := testkit.FindingsOf(t, db, check)
		if len(left) != 1 || left[0].ID.StringValue() != "c#0000000001" || left[0].Detail.Lookup("n").AsInt64() != 2 {
			t.Errorf("%q", said)
		}
		wantOutlier(t, db, purchases, "b", "1 2 3 4 5 6")
		testkit.Seed(t, db, testkit.Docs{
			"buyers": {
				bson.D{testkit.E("_id", "x#0"), testkit.E("key", "x")},
				bson.D{testkit.E("_id", 5), testkit.E("key", "y"), testkit.E("n", "many"), testkit.E("bytes", nil)},
			},
		})
		if err := testkit.CheckJob(check)(t.Context(), db); err != nil { // other code's, without counts
			t.Error(err)
		}
		testkit.WantDocs(t, db, testkit.Docs{"buyers": {}})
	})
}

// What each operation costs is what its documentation says.
func TestOutlierCosts(t *testing.T) {
	testkit.Parallel(t)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		add := func(x *buyersOutlier, id string) func(context.Context) error {
			return func(ctx context.Context) error { return outlierAppend(ctx, db, x, "b", id) }
		}
		for _, c := range []struct {
			reason, before string
			want           model.Cost
			run            func(context.Context) error
		}{
			{"append with room", "1", model.Cost{Commands: 2, Written: 1, Returned: 1}, add(purchases, "x")},
			{"append over the bound", "1 2", model.Cost{Commands: 5, Written: 2, Returned: 2}, add(purchases, "x")},
			{
				reason: "append over the bound, no key", before: "1 2",
				want: model.Cost{Commands: 5, Written: 2, Returned: 2}, run: add(outlierPlain, "x"),
			},
			{"append to overflow", "1 2 3", model.Cost{Commands: 3, Written: 1, Returned: 2}, add(purchases, "x")},
			{
				reason: "append to overflow, no key", before: "1 2 3",
				want: model.Cost{Commands: 3, Written: 1, Returned: 2}, run: add(outlierPlain, "x"),
			},
			{
				reason: "append to full overflow", before: "1 2 3 4 5",
				want: model.Cost{Commands: 4, Written: 1, Returned: 3}, run: add(purchases, "x"),
			},
			{"append what the array holds", "1 2 3", model.Cost{Commands: 2, Returned: 2}, add(purchases, "1")},
			{
				reason: "remove from the array", before: "1 2 3",
				want: model.Cost{Commands: 2, Written: 1, Returned: 1},
				run:  func(ctx context.Context) error { return outlierRemove(ctx, db, purchases, "b", "1") },
			},
			{
				reason: "remove from overflow", before: "1 2 3", want: model.Cost{Commands: 3, Written: 1, Returned: 3},
				run: func(ctx context.Context) error { return outlierRemove(ctx, db, purchases, "b", "3") },
			},
			{
				reason: "remove what isn't there", before: "1", want: model.Cost{Commands: 2, Returned: 1},
				run: func(ctx context.Context) error { return outlierRemove(ctx, db, purchases, "b", "x") },
			},
			{
				reason: "delete", before: "1 2 3", want: model.Cost{Commands: 2, Written: 2},
				run: func(ctx context.Context) error { return testkit.Exec(ctx, db, purchases.Delete("b")) },
			},
			{"elements", "1 2 3 4", model.Cost{Commands: 1, Returned: 4}, func(ctx context.Context) error {
				_, err := purchases.Elements("b").All(ctx, db)
				return err
			}},
			{"count", "1 2 3 4", model.Cost{Commands: 1, Returned: 1}, func(ctx context.Context) error {
				_, err := purchases.Count("b").One(ctx, db)
				return err
			}},
		} {
			t.Run(c.reason, func(t *testing.T) {
				testkit.Seed(t, db, testkit.Docs{"books": {titled{ID: "b"}}, "buyers": nil})
				if err := outlierAppend(t.Context(), db, purchases, "b", c.before); err != nil {
					t.Fatal(err)
				}
				modeltest.WantCost(t, monitor, c.want, func() error { return c.run(t.Context()) })
			})
		}
		t.Run("split", func(t *testing.T) {
			testkit.Seed(t, db, testkit.Docs{
				"books":  {titled{ID: "b", Buyers: outlierBuyers("1 2 3 4 5 6 7")}},
				"buyers": nil,
			})
			modeltest.WantCost(t, monitor, model.Cost{Commands: 6, Written: 3, Returned: 1}, func() error {
				return outlierSplit(t.Context(), db, purchases)
			})
		})
	}, monitor)
}

func TestOutlierIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		list, pages := make([]titled, 3000), make([]customerPage, 3000)
		for i := range list {
			id := fmt.Sprintf("b%04d", i)
			list[i] = titled{ID: id, Extras: i%100 == 0, Buyers: outlierBuyers("1 2")}
			pages[i] = customerPage{ID: id + "#0000000000", Key: id, N: 1, Items: outlierBuyers("3")}
		}
		testkit.MustExec(t, db, titles.InsertMany(list), moreCustomers.InsertMany(pages))
		if err := model.New("test", purchases).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		modeltest.WantIndexed(t, db, customerPages.Oldest("b0100"), model.IDIndex)
		modeltest.WantIndexed(t, db, purchases.Elements("b0100"), model.IDIndex)
		modeltest.WantIndexed(t, db, purchases.Holding("b0100", "3"), model.IDIndex)
		modeltest.WantIndexed(t, db, purchases.Count("b0100"), model.IDIndex)
	})
}

// The partial index on the flag serves the outliers. On DocumentDB it does too, but all of it is read, which is what is
// asked, and that looks like an index read from end to end; so only the engine is asked.
func TestOutlierFlagIndexed(t *testing.T) {
	testkit.Parallel(t)
	db := mongotest.NewClient(t).Database("shop")
	list := make([]titled, 300)
	for i := range list {
		list[i] = titled{ID: fmt.Sprintf("b%04d", i), Extras: i%100 == 0}
	}
	testkit.MustExec(t, db, titles.InsertMany(list))
	if err := model.New("test", purchases).Indexes().Ensure(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	modeltest.WantIndexed(t, db, withFlag(), purchases.Indexes()[0].Name)
}

// An owner that is not there, and one that stores something else than an array.
func TestOutlierMissing(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{
			"books": {
				bson.D{testkit.E("_id", "null"), testkit.E("buyers", nil)},
				bson.D{testkit.E("_id", "text"), testkit.E("buyers", "x")},
			},
			"buyers": nil,
		})
		testkit.WantError(t, outlierAppend(t.Context(), db, purchases, "gone", "x"), model.ErrNotFound)
		testkit.WantError(t, outlierRemove(t.Context(), db, purchases, "gone", "x"), model.ErrNotFound)
		testkit.WantError(t, outlierAppend(t.Context(), db, purchases, "null", "x"), testkit.ErrRefused)
		testkit.WantError(t, outlierAppend(t.Context(), db, purchases, "text", "x"), testkit.ErrRefused)
		if list, err := purchases.Elements("text").All(t.Context(), db); err != nil || len(list) > 0 {
			t.Errorf("%v, %v", list, err)
		}
		_, err := purchases.Count("gone").One(t.Context(), db)
		testkit.WantError(t, err, model.ErrNotFound)
		testkit.Seed(t, db, testkit.Docs{
			"books":  {bson.D{testkit.E("_id", "b"), testkit.E("buyers", bson.A{1, 2, 3})}},
			"buyers": nil,
		})
		testkit.WantError(t, outlierSplit(t.Context(), db, purchases), testkit.ErrRefused)
		testkit.WantDocs(t, db, testkit.Docs{"buyers": {}})
	})
}
