package subsetpages_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/subsetpages"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What the tests are about: threads that hold their newest remarks, and pages of three with all of them.
type (
	thread struct {
		ID     string   `bson:"_id"`
		Title  string   `bson:"title,omitempty"`
		Newest []remark `bson:"newest,omitempty"`
	}
	remark struct {
		ID    string `bson:"id"`
		At    int    `bson:"at"`
		Text  string `bson:"text,omitempty"`
		Likes int    `bson:"likes"`
	}
	page   = bucket.Doc[string, remark]
	dbFunc = testkit.DBFunc
)

var (
	threads  = model.NewCollection[thread, string]("threads")
	pageDocs = model.NewCollection[page, string]("pages")
	pages    = bucket.New(pageDocs, bucket.Spec{Max: 3, ElementKey: "id", Totals: []string{"likes"}})
	newest   = subsetpages.New(threads, "newest", pages,
		subsetpages.Spec{Max: 2, By: bson.D{testkit.E("at", -1)}})
)

func remarkAt(at int) remark { return remark{ID: fmt.Sprint("r", at), At: at, Text: "x", Likes: 1} }

// appendAll appends remarks of these times to a thread.
func appendAll(list ...int) dbFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		for _, at := range list {
			if err := testkit.Changed(newest.Append("a", remarkAt(at)))(ctx, db); err != nil {
				return err
			}
		}
		return nil
	}
}

// beginWith is a thread with some remarks.
func beginWith(list ...int) dbFunc {
	return testkit.InTurn(testkit.Stored(testkit.Docs{"threads": {thread{ID: "a"}}, "pages": nil}), appendAll(list...))
}

func begin(t *testing.T, db *mongo.Database, list ...int) {
	t.Helper()
	testkit.Seed(t, db, testkit.Docs{"threads": {thread{ID: "a"}}, "pages": nil})
	if err := appendAll(list...)(t.Context(), db); err != nil {
		t.Fatal(err)
	}
}

// wantTimes compares the times of what a thread holds, and of all that its pages hold.
func wantTimes(t testing.TB, db model.DB, array, all []int) {
	t.Helper()
	ctx := context.Background()
	doc, err := threads.ByID("a").One(ctx, db)
	if err != nil {
		t.Error(err)
	}
	list, err := pages.Elements("a").All(ctx, db)
	if err != nil {
		t.Error(err)
	}
	times := func(list []remark) (out []int) {
		for _, r := range list {
			out = append(out, r.At)
		}
		return out
	}
	if got := times(doc.Newest); !slices.Equal(got, array) {
		t.Errorf("the thread holds %v, want %v", got, array)
	}
	if got := times(list); !slices.Equal(got, all) {
		t.Errorf("the pages hold %v, want %v", got, all)
	}
	testkit.WantNothingFound(t, db, newest.Checks())
}

func TestOperations(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			reason     string
			before     []int
			run        model.Change
			array, all []int
		}{
			{"the first", nil, newest.Append("a", remarkAt(1)), []int{1}, []int{1}},
			{
				reason: "one more than the array holds", before: []int{1, 2, 3}, run: newest.Append("a", remarkAt(4)),
				array: []int{4, 3}, all: []int{1, 2, 3, 4},
			},
			{"an element that is older", []int{2, 3}, newest.Append("a", remarkAt(1)), []int{3, 2}, []int{2, 3, 1}},
			{"one that is there", []int{1, 2, 3}, newest.Append("a", remarkAt(1)), []int{3, 2}, []int{1, 2, 3}},
			{
				reason: "one that is there, and in the array", before: []int{1, 2, 3},
				run: newest.Append("a", remarkAt(3)), array: []int{3, 2}, all: []int{1, 2, 3},
			},
			{"remove from the array", []int{1, 2, 3, 4}, newest.Remove("a", "r4"), []int{3, 2}, []int{1, 2, 3}},
			{"remove from a page alone", []int{1, 2, 3, 4}, newest.Remove("a", "r1"), []int{4, 3}, []int{2, 3, 4}},
			{"remove the only one", []int{1}, newest.Remove("a", "r1"), nil, nil},
			{"remove what isn't there", []int{1}, newest.Remove("a", "r9"), []int{1}, []int{1}},
			{
				reason: "another place, out of the array", before: []int{1, 2, 3},
				run: newest.Set("a", "r3", bson.D{testkit.E("at", 0)}), array: []int{2, 1}, all: []int{1, 2, 0},
			},
			{
				reason: "another place, into the array", before: []int{1, 2, 3},
				run: newest.Set("a", "r1", bson.D{testkit.E("at", 9)}), array: []int{9, 3}, all: []int{9, 2, 3},
			},
			{"refresh what is true", []int{1, 2, 3}, newest.Refresh("a"), []int{3, 2}, []int{1, 2, 3}},
		} {
			t.Run(c.reason, func(t *testing.T) {
				begin(t, db, c.before...)
				for range 2 {
					if err := testkit.Changed(c.run)(t.Context(), db); err != nil {
						t.Fatal(err)
					}
					wantTimes(t, db, c.array, c.all)
				}
			})
		}
	})
}

// Set changes an element in both places, and the page's totals.
func TestSet(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		begin(t, db, 1, 2, 3)
		for _, id := range []string{"r1", "r3"} {
			if err := testkit.Changed(newest.Set("a", id,
				bson.D{testkit.E("likes", 5), testkit.E("text", "new")}))(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		wantTimes(t, db, []int{3, 2}, []int{1, 2, 3})
		doc, err := threads.ByID("a").One(t.Context(), db)
		if err != nil || doc.Newest[0].Likes != 5 || doc.Newest[0].Text != "new" {
			t.Errorf("%v, %v", doc, err)
		}
		total, err := pages.Totals("a").One(t.Context(), db)
		if err != nil || total.N != 3 || total.Totals["likes"].Sum != 11 {
			t.Errorf("%v, %v", total, err)
		}
	})
}

func TestRefused(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		begin(t, db, 1)
		for _, c := range []struct {
			run  model.Change
			want error
		}{
			{newest.Append("", remarkAt(1)), testkit.ErrRefused},
			{newest.Append("a", remark{At: 1, ID: ""}), nil},
			{newest.Append("gone", remarkAt(1)), model.ErrNotFound},
			{newest.Set("a", "r9", bson.D{testkit.E("text", "y")}), model.ErrNotFound},
			{newest.Set("a", "r1", bson.D{testkit.E("id", "y")}), testkit.ErrRefused},
			{newest.Set("a", "r1", bson.D{testkit.E("txt", "y")}), testkit.ErrRefused},
			{newest.Set("a", "r1", bson.D{testkit.E("text", 5)}), testkit.ErrRefused},
			{newest.Set("a", "r1", bson.D{testkit.E("at", nil)}), testkit.ErrRefused},
			{newest.Set("a", "r1", nil), testkit.ErrRefused},
			{newest.Remove("a", nil), testkit.ErrRefused},
			{newest.Remove("", "r1"), testkit.ErrRefused},
			{newest.Refresh(""), testkit.ErrRefused},
			{newest.Refresh("gone"), nil},
			{newest.Remove("none", "r1"), nil},
		} {
			testkit.WantError(t, testkit.Changed(c.run)(t.Context(), db), c.want)
		}
		for _, q := range []*model.Aggregate[page]{
			newest.Rest(&thread{ID: "a"}, "b#0000000000", 1), newest.Rest(&thread{ID: "a"}, "", -1),
			newest.Rest(&thread{}, "", 1),
		} {
			_, err := q.All(t.Context(), db)
			testkit.WantError(t, err, testkit.ErrRefused)
		}
		// Other code's page without a parent.
		orphan := page{ID: "gone#0000000000", Key: "gone", N: 1, Items: []remark{remarkAt(1)}}
		testkit.MustExec(t, db, model.NewPlan(pageDocs.Insert(orphan)))
		_, orphans := testkit.FindingsOf(t, db, newest.Checks()[1])
		if want := []string{"pages 'gone#0000000000': the parent 'gone' doesn't exist"}; !slices.Equal(orphans, want) {
			t.Errorf("%q", orphans)
		}
		if err := testkit.CheckJob(newest.Checks()[1])(t.Context(), db); err != nil {
			t.Error(err)
		}
		testkit.WantNothingFound(t, db, newest.Checks())
		testkit.WantError(t, deleteThread(t.Context(), db), nil)
		testkit.WantDocs(t, db, testkit.Docs{"threads": {}, "pages": {}})
	})
}

// An Append to a missing parent writes nothing: another tenant's parent is missing.
func TestAppendWithoutParent(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"threads": nil, "pages": nil})
		of := func(tenant string) model.DB { return model.Scope{Tenant: bson.D{testkit.E("tenant", tenant)}}.On(db) }
		if _, err := threads.Insert(thread{ID: "a"}).Run(t.Context(), of("mine")); err != nil {
			t.Fatal(err)
		}
		_, err := newest.Append("a", remarkAt(1)).Run(t.Context(), of("theirs"))
		testkit.WantError(t, err, model.ErrNotFound)
		if _, err := newest.Append("a", remarkAt(1)).Run(t.Context(), of("mine")); err != nil {
			t.Fatal(err)
		}
		wantTimes(t, of("mine"), []int{1}, []int{1})
	})
}

// Rest and the array together are all elements, each once, however many pages are read at a time.
func TestRest(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		begin(t, db, 1, 2, 3, 8, 5, 6, 7, 4)
		for n := range int64(4) {
			doc, err := threads.ByID("a").One(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, r := range doc.Newest {
				got = append(got, r.At)
			}
			after := ""
			for {
				list, err := newest.Rest(&doc, after, n).All(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range list {
					after = p.ID
					for _, r := range p.Items {
						got = append(got, r.At)
					}
				}
				if len(list) == 0 || n == 0 {
					break
				}
			}
			if want := []int{8, 7, 4, 5, 6, 1, 2, 3}; !slices.Equal(got, want) {
				t.Errorf("by %d: %v, want %v", n, got, want)
			}
		}
	})
}

// What other code does to an array, or to the pages, is found and mended.
func TestMend(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for reason, newestNow := range map[string]any{
			"gone":         bson.D{testkit.E("$unset", bson.D{testkit.E("newest", "")})},
			"old fields":   bson.D{testkit.E("$set", bson.D{testkit.E("newest.0.text", "old")})},
			"one too many": bson.D{testkit.E("$push", bson.D{testkit.E("newest", remarkAt(0))})},
			"no array":     bson.D{testkit.E("$set", bson.D{testkit.E("newest", "x")})},
		} {
			t.Run(reason, func(t *testing.T) {
				begin(t, db, 1, 2, 3)
				if _, err := db.Collection("threads").UpdateByID(t.Context(), "a", newestNow); err != nil {
					t.Fatal(err)
				}
				if found, said := testkit.FindingsOf(t, db, newest.Checks()[0]); len(found) != 1 {
					t.Errorf("%q", said)
				}
				if err := testkit.CheckJob(newest.Checks()[0])(t.Context(), db); err != nil {
					t.Error(err)
				}
				wantTimes(t, db, []int{3, 2}, []int{1, 2, 3})
			})
		}
	})
}

// Each operation, cut anywhere and run again, ends right.
func TestFaults(t *testing.T) {
	testkit.Parallel(t)
	cases := map[string]modeltest.FaultCase{}
	add := func(name string, run dbFunc, array, all []int) {
		cases[name] = modeltest.FaultCase{
			Seed: beginWith(1, 2, 3, 4), Run: run,
			Check: func(t testing.TB, db *mongo.Database) { wantTimes(t, db, array, all) },
		}
	}
	add("append", appendAll(5), []int{5, 4}, []int{1, 2, 3, 4, 5})
	add("append an older one", appendAll(0), []int{4, 3}, []int{1, 2, 3, 4, 0})
	add("remove", testkit.Changed(newest.Remove("a", "r3")), []int{4, 2}, []int{1, 2, 4})
	add("remove from a page", testkit.Changed(newest.Remove("a", "r1")), []int{4, 3}, []int{2, 3, 4})
	add("set", testkit.Changed(newest.Set("a", "r4", bson.D{testkit.E("text", "y"), testkit.E("likes", 7)})),
		[]int{4, 3}, []int{1, 2, 3, 4})
	add("set its place", testkit.Changed(newest.Set("a", "r4", bson.D{testkit.E("at", 0)})),
		[]int{3, 2}, []int{1, 2, 3, 0})
	cases["delete"] = modeltest.FaultCase{
		Seed: beginWith(1, 2, 3, 4),
		Run:  deleteThread,
		Check: func(t testing.TB, db *mongo.Database) {
			testkit.WantDocs(t, db, testkit.Docs{"threads": {}, "pages": {}})
		},
	}
	spoil := func(ctx context.Context, db *mongo.Database) error {
		_, err := db.Collection("threads").
			UpdateByID(ctx, "a", bson.D{testkit.E("$unset", bson.D{testkit.E("newest", "")})})
		return err
	}
	for name, run := range map[string]dbFunc{
		"refresh": testkit.Changed(newest.Refresh("a")), "mend": testkit.CheckJob(newest.Checks()[0]),
	} {
		cases[name] = modeltest.FaultCase{
			Seed: testkit.InTurn(beginWith(1, 2, 3, 4), spoil), Run: run,
			Check: func(t testing.TB, db *mongo.Database) { wantTimes(t, db, []int{4, 3}, []int{1, 2, 3, 4}) },
		}
	}
	testkit.RunFaults(t, cases)
}

// Two operations at once: wherever the second comes in, both are done, and the array is right without mending.
func TestMeets(t *testing.T) {
	testkit.Parallel(t)
	ops := []struct {
		name string
		run  dbFunc
		do   func(list []int) []int
	}{
		{"append 5", appendAll(5), func(l []int) []int { return append(l, 5) }},
		{"append 2.5", appendAll(25), func(l []int) []int { return append(l, 25) }},
		{"append the oldest", appendAll(0), func(l []int) []int { return append(l, 0) }},
		{
			name: "remove 40", run: testkit.Changed(newest.Remove("a", "r40")),
			do: func(l []int) []int { return removeTime(l, 40) },
		},
		{
			name: "remove 30", run: testkit.Changed(newest.Remove("a", "r30")),
			do: func(l []int) []int { return removeTime(l, 30) },
		},
		{
			name: "remove 10", run: testkit.Changed(newest.Remove("a", "r10")),
			do: func(l []int) []int { return removeTime(l, 10) },
		},
		{
			name: "set 40",
			run:  testkit.Changed(newest.Set("a", "r40", bson.D{testkit.E("text", "y")})),
			do:   func(l []int) []int { return l },
		},
		{
			name: "set 20",
			run:  testkit.Changed(newest.Set("a", "r20", bson.D{testkit.E("text", "z")})),
			do:   func(l []int) []int { return l },
		},
		{
			name: "move 10",
			run:  testkit.Changed(newest.Set("a", "r10", bson.D{testkit.E("at", 50)})),
			do:   func(l []int) []int { return append(removeTime(l, 10), 50) },
		},
	}
	for _, a := range ops {
		for _, b := range ops {
			if a.name == b.name {
				continue
			}
			t.Run(a.name+" | "+b.name, func(t *testing.T) {
				modeltest.Interleave(t, modeltest.InterleaveCase{
					Sample: 1, Match: mongotest.Writes, Seed: beginWith(10, 20, 30, 40), A: a.run, B: b.run,
					Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
						gone := errors.Is(errors.Join(errA, errB), model.ErrNotFound) // a change came after the removal
						if err := errors.Join(errA, errB); err != nil && !gone {
							t.Error(err)
						}
						testkit.WantNothingFound(t, db, newest.Checks())
						list, err := pages.Elements("a").All(context.Background(), db)
						var got []int
						for _, r := range list {
							got = append(got, r.At)
						}
						want := b.do(a.do([]int{10, 20, 30, 40}))
						if removed := strings.Contains(a.name+b.name, "remove 10"); removed {
							want = removeTime(want, 50)
						}
						slices.Sort(got)
						if slices.Sort(want); err != nil || !slices.Equal(got, want) {
							t.Errorf("%v, %v; want %v", got, err, want)
						}
					},
				})
			})
		}
	}
}

func removeTime(list []int, n int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(x int) bool { return x == n })
}
