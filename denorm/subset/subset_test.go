package subset_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/denorm/subset"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What the tests of subsets are about: threads that hold their newest remarks.
type (
	thread struct {
		ID     string   `bson:"_id"`
		Title  string   `bson:"title,omitempty"`
		Newest []remark `bson:"newest,omitempty"`
		Whole  []remark `bson:"whole,omitempty"`

		Rating counter.Average `bson:"rating,omitzero"`
		Score  float64         `bson:"score,omitempty"`
	}
	remark struct {
		ID     string `bson:"_id"`
		Thread string `bson:"thread,omitempty"`
		At     int    `bson:"at"`
		Text   string `bson:"text,omitempty"`
		Likes  int    `bson:"likes,omitempty"`
	}
)

var (
	threads = model.NewCollection[thread, string]("threads")
	remarks = model.NewCollectionWith[remark, string]("remarks", model.CollectionOptions{StoreField: "kept"})

	newestThree = subset.New(remarks, "thread", threads, "newest", subset.Spec{
		Max: 3, By: bson.D{testkit.E("at", -1)}, Fields: []string{"text"},
	})
	wholeTwo = subset.New(remarks, "thread", threads, "whole",
		subset.Spec{Max: 2, By: bson.D{testkit.E("at", -1), testkit.E("_id", 1)}})
)

// firstOf is what a thread is to hold, by the remarks in memory.
func firstOf(list []remark, id string, whole bool) []remark {
	var out []remark
	for _, r := range list {
		switch {
		case r.Thread != id:
		case whole:
			out = append(out, r)
		default:
			out = append(out, remark{ID: r.ID, Text: r.Text, At: r.At})
		}
	}
	slices.SortFunc(out, func(a, b remark) int {
		if whole {
			return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(a.ID, b.ID))
		}
		return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.ID, a.ID))
	})
	n := map[bool]int{true: 2, false: 3}[whole]
	return out[:min(n, len(out))]
}

// subsetDrift compares what the check finds with what the remarks say, and returns it.
func subsetDrift(t testing.TB, db *mongo.Database, x *subset.Subset[thread, string, remark, string], want ...string) {
	t.Helper()
	ctx := context.Background()
	found, err := testkit.FoundBy(ctx, db, x.Checks())
	if err != nil {
		t.Fatal(err)
	}
	var got, told []string
	for _, d := range found {
		got = append(got, d.ID.StringValue())
	}
	list, err := remarks.Find(nil).All(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	all, err := threads.Find(nil).Sorted(bson.D{testkit.E("_id", 1)}).All(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	for _, th := range all {
		held := th.Newest
		if x == wholeTwo {
			held = th.Whole
		}
		if !slices.Equal(held, firstOf(list, th.ID, x == wholeTwo)) {
			told = append(told, th.ID)
		}
	}
	if !slices.Equal(got, told) || !slices.Equal(got, want) {
		t.Fatalf("the check finds %q, the remarks say %q, want %q", got, told, want)
	}
}

// storeOf is the store of remarks for one subset.
func storeOf(x *subset.Subset[thread, string, remark, string]) *model.Store[remark, string] {
	return model.NewStore(model.New("remarks", x), remarks)
}

var newest, whole = storeOf(newestThree), storeOf(wholeTwo)

type changed = model.ChangeOf[model.Stored[remark]]

func runChange(ctx context.Context, db model.DB, c model.Action) error {
	_, err := c.Change().Run(ctx, db)
	return err
}

func mustRun(t testing.TB, db model.DB, changes ...changed) {
	t.Helper()
	for _, c := range changes {
		if err := runChange(t.Context(), db, c); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever is inserted, changed, moved and deleted, the threads hold the first of their remarks, after each operation.
func TestSubsetFollows(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, x := range []*subset.Subset[thread, string, remark, string]{newestThree, wholeTwo} {
			testkit.Seed(t, db, testkit.Docs{
				"threads": {thread{ID: "a"}, thread{ID: "b", Newest: []remark{}}},
				"remarks": nil,
			})
			r, store := rand.New(rand.NewPCG(3, 5)), storeOf(x)
			ids := []string{}
			for n := range 60 {
				var err error
				id := fmt.Sprintf("r%02d", n)
				switch k := r.IntN(8); {
				case k < 3 || len(ids) == 0:
					ids = append(ids, id)
					err = runChange(t.Context(), db,
						store.Insert(remark{
							ID: id, Thread: []string{"a", "b"}[r.IntN(2)], At: r.IntN(9), Text: id, Likes: r.IntN(5),
						}))
				case k < 6:
					fields := []bson.D{
						{testkit.E("text", id)}, {testkit.E("at", r.IntN(9))},
						{testkit.E("likes", r.IntN(5)), testkit.E("text", id)},
						{testkit.E("thread", []string{"a", "b"}[r.IntN(2)])},
						{testkit.E("thread", "b"), testkit.E("at", r.IntN(9))},
					}[r.IntN(5)]
					err = runChange(t.Context(), db, store.Set(ids[r.IntN(len(ids))], fields))
				default:
					i := r.IntN(len(ids))
					err = runChange(t.Context(), db, store.Delete(ids[i]))
					ids = slices.Delete(ids, i, i+1)
				}
				if err != nil {
					t.Fatal(err)
				}
				subsetDrift(t, db, x)
			}
		}
	})
}

// What is changed past the subset is found completely, and mended exactly, by each of the ways.
func TestSubsetDrift(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		for name, repair := range map[string]func() error{
			"mend": func() error { return testkit.MendedNow(newestThree.Checks()...)(ctx, db) },
			"job":  func() error { return testkit.MendedByJobs(newestThree.Checks()...)(ctx, db) },
			"rebuild": func() error {
				p, err := newestThree.Checks()[0].Job().Run(ctx, db, model.JobOptions{})
				if p.Modified != 4 {
					t.Errorf("%d threads written", p.Modified)
				}
				return err
			},
			"refresh": func() error {
				for _, id := range []string{"a", "b", "c", "d", "e", "gone"} {
					if err := runChange(ctx, db, newestThree.Refresh(id)); err != nil {
						return err
					}
				}
				return nil
			},
		} {
			testkit.Seed(t, db, testkit.Docs{"threads": nil, "remarks": nil})
			for i, id := range []string{"a", "b", "c", "d", "e", "f"} {
				testkit.MustExec(t, db, model.NewPlan(threads.Insert(thread{ID: id, Title: "kept"})))
				for n := range i {
					mustRun(t, db, newest.Insert(remark{ID: fmt.Sprint(id, n), Thread: id, At: n, Text: "x"}))
				}
			}
			subsetDrift(t, db, newestThree)
			for id, update := range map[string]bson.D{
				"a": {testkit.E("$set", bson.D{testkit.E("newest", []remark{{ID: "ghost"}})})},
				"b": {testkit.E("$unset", bson.D{testkit.E("newest", "")})},
				"c": {testkit.E("$set", bson.D{testkit.E("newest.0.text", "y")})},
				"d": {testkit.E("$set", bson.D{testkit.E("newest", nil)})},
			} {
				testkit.MustExec(t, db, model.NewPlan(threads.Update(id, update)))
			}
			subsetDrift(t, db, newestThree, "a", "b", "c", "d")
			if err := repair(); err != nil {
				t.Fatal(name, err)
			}
			subsetDrift(t, db, newestThree)
			if n, err := threads.Find(bson.D{testkit.E("title", "kept")}).Count(ctx, db); n != 6 || err != nil {
				t.Errorf("%s: %d threads as they were, %v", name, n, err)
			}
		}
	})
}

// The rest begins after the last that the thread holds, and pages on.
func TestSubsetRest(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.MustExec(t, db, model.NewPlan(threads.Insert(thread{ID: "a"}), threads.Insert(thread{ID: "b"})))
		for n := range 10 {
			mustRun(t, db, newest.Insert(remark{ID: fmt.Sprint(n), Thread: "a", At: n / 2}))
		}
		a, err := threads.ByID("a").One(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		seen := ""
		for _, r := range a.Newest {
			seen += r.ID + " "
		}
		page := newestThree.Rest(&a).Limited(4)
		for range 3 {
			list, err := page.All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range list {
				seen += r.ID + " "
				page = newestThree.Children("a").Limited(4).After(r.At, r.ID)
			}
			seen += "| "
		}
		if want := "9 8 7 6 5 4 3 | 2 1 0 | | "; seen != want {
			t.Errorf("seen %q, want %q", seen, want)
		}
		if list, err := newestThree.Rest(&thread{ID: "b"}).All(t.Context(), db); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
	})
}

// A refresh can be cut anywhere and run again.
func TestSubsetFaults(t *testing.T) {
	testkit.Parallel(t)
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return errors.Join(fiveRemarks(ctx, db), testkit.Exec(ctx, db, model.NewPlan(remarks.Delete("r3"))))
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			return runChange(ctx, db, newestThree.Refresh("a"))
		},
		Check: func(t testing.TB, db *mongo.Database) {
			subsetDrift(t, db, newestThree)
			if a, err := threads.ByID("a").One(context.Background(), db); err != nil || a.Newest[0].ID != "r4" {
				t.Errorf("%v, %v", a, err)
			}
		},
	})
}

// fiveRemarks stores two threads, and five remarks of one. It removes what stores have noted.
func fiveRemarks(ctx context.Context, db *mongo.Database) error {
	err := testkit.Exec(ctx, db, model.NewPlan(threads.Insert(thread{ID: "a"}), threads.Insert(thread{ID: "b"})))
	for n := range 5 {
		err = errors.Join(err,
			runChange(ctx, db, newest.Insert(remark{ID: fmt.Sprint("r", n), Thread: "a", At: n, Text: "x"})))
	}
	for _, name := range []string{"threads", "remarks"} {
		_, failed := db.Collection(name).
			UpdateMany(ctx, bson.D{}, bson.D{testkit.E("$unset", bson.D{testkit.E("_m", ""), testkit.E("kept", "")})})
		err = errors.Join(err, failed)
	}
	return err
}

// Of 32 writers none is lost and none comes twice.
func TestSubsetWriters(t *testing.T) {
	testkit.Parallel(t)
	test := func(t *testing.T, db *mongo.Database) {
		if err := fiveRemarks(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for i := range 32 {
			wait.Go(func() {
				var err error
				if id := fmt.Sprintf("w%02d", i); i%4 > 0 {
					err = runChange(t.Context(), db, newest.Insert(remark{ID: id, Thread: "a", At: i, Text: id}))
				} else {
					err = runChange(t.Context(), db, newest.Set(fmt.Sprint("r", i/8), bson.D{testkit.E("at", 40-i)}))
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		subsetDrift(t, db, newestThree)
		if n, err := remarks.Find(nil).Count(t.Context(), db); n != 29 || err != nil {
			t.Errorf("%d remarks, %v", n, err)
		}
	}
	for range 6 { // what two changes of a remark can do to each other shows once in many
		mongotest.Each(t, test)
	}
}
