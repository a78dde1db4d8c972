package subsetpages_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
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

// Random operations on some threads, beside lists in memory.
func TestLockstep(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(3, 8))
		steps := 300
		if testkit.Few() {
			steps = 60
		}
		want := map[string][]remark{"a": nil, "b": nil}
		testkit.Seed(t, db, testkit.Docs{"threads": {thread{ID: "a"}, thread{ID: "b"}}, "pages": nil})
		for range steps {
			id, x := []string{"a", "b"}[r.IntN(2)], remarkAt(r.IntN(12))
			list, i := want[id], slices.IndexFunc(want[id], func(o remark) bool { return o.ID == x.ID })
			var c model.Change
			switch n := r.IntN(8); {
			case n < 4:
				if c = newest.Append(id, x); i < 0 {
					want[id] = append(list, x)
				}
			case n < 6 && i >= 0:
				x = list[i]
				x.At, x.Likes = x.At+r.IntN(2)*r.IntN(20), r.IntN(5)
				c, list[i] = newest.Set(id, x.ID, bson.D{testkit.E("at", x.At), testkit.E("likes", x.Likes)}), x
			case n < 7:
				if c = newest.Remove(id, x.ID); i >= 0 {
					want[id] = slices.Delete(list, i, i+1)
				}
			default:
				c = newest.Refresh(id)
			}
			if err := testkit.Changed(c)(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			sorted := slices.Clone(want[id])
			slices.SortFunc(sorted, func(a, b remark) int { return cmp.Or(b.At-a.At, cmp.Compare(b.ID, a.ID)) })
			doc, err := threads.ByID(id).One(t.Context(), db)
			if err != nil || !slices.Equal(doc.Newest, sorted[:min(2, len(sorted))]) {
				t.Fatalf("%s holds %v, %v; all are %v", id, doc.Newest, err, want[id])
			}
			all, err := pages.Elements(id).All(t.Context(), db)
			if err != nil || !slices.Equal(all, want[id]) {
				t.Fatalf("the pages of %s hold %v, %v; want %v", id, all, err, want[id])
			}
		}
		testkit.WantNothingFound(t, db, newest.Checks())
	})
}

func TestCosts(t *testing.T) {
	testkit.Parallel(t)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			reason string
			want   model.Cost
			run    dbFunc
		}{
			{"append", model.Cost{Commands: 4, Written: 2, Returned: 2}, appendAll(9)},
			{
				reason: "set in a page", want: model.Cost{Commands: 3, Written: 1, Returned: 2},
				run: testkit.Changed(newest.Set("a", "r1", bson.D{testkit.E("text", "y")})),
			},
			{
				reason: "set in both", want: model.Cost{Commands: 5, Written: 2, Returned: 3},
				run: testkit.Changed(newest.Set("a", "r4", bson.D{testkit.E("text", "y")})),
			},
			{
				reason: "set its place", want: model.Cost{Commands: 5, Written: 2, Returned: 3},
				run: testkit.Changed(newest.Set("a", "r4", bson.D{testkit.E("at", 0)})),
			},
			{
				reason: "remove from a page", want: model.Cost{Commands: 3, Written: 1, Returned: 2},
				run: testkit.Changed(newest.Remove("a", "r1")),
			},
			{
				reason: "remove from both", want: model.Cost{Commands: 6, Written: 2, Returned: 4},
				run: testkit.Changed(newest.Remove("a", "r4")),
			},
			{"refresh what is true", model.Cost{Commands: 1, Returned: 1}, testkit.Changed(newest.Refresh("a"))},
			{"delete", model.Cost{Commands: 4, Written: 4, Returned: 1}, deleteThread},
			{"rest", model.Cost{Commands: 1, Returned: 1}, func(ctx context.Context, db *mongo.Database) error {
				_, err := newest.Rest(&thread{ID: "a", Newest: []remark{remarkAt(4), remarkAt(3)}}, "", 1).All(ctx, db)
				return err
			}},
		} {
			t.Run(c.reason, func(t *testing.T) {
				begin(t, db, 1, 2, 3, 4)
				modeltest.WantCost(t, monitor, c.want, func() error { return c.run(t.Context(), db) })
			})
		}
		many := make([]page, 3000)
		for i := range many {
			many[i] = page{
				ID: fmt.Sprintf("t%04d#0000000000", i), Key: fmt.Sprintf("t%04d", i), N: 1,
				Items: []remark{remarkAt(i)},
			}
		}
		testkit.MustExec(t, db, model.NewCollection[page, string]("pages").InsertMany(many))
		if err := testkit.CreateIndexes(t.Context(), db, newest); err != nil {
			t.Fatal(err)
		}
		modeltest.WantIndexed(t, db, newest.Rest(&thread{ID: "t0100"}, "", 1), model.IDIndex)
	}, monitor)
}

func TestDeclarations(t *testing.T) {
	testkit.Parallel(t)
	declare := func(path string, b *bucket.Bucket[string, remark], spec subsetpages.Spec) func() {
		return func() { subsetpages.New(threads, path, b, spec) }
	}
	by := bson.D{testkit.E("at", -1)}
	noKey := bucket.New(model.NewCollection[page, string]("pages"), bucket.Spec{Max: 3})
	same := bucket.New(model.NewCollection[page, string]("posts"), bucket.Spec{Max: 3, ElementKey: "id"})
	testkit.WantDeclarationErrors(t,
		testkit.Wrong("the bucket of the pages is nil", declare("newest", nil, subsetpages.Spec{Max: 2, By: by}),
			"the bucket of the pages is nil", "threads", "bucket.New"),
		testkit.Wrong("no bound", declare("newest", pages, subsetpages.Spec{By: by}), "Max is 0",
			"threads.newest", "1 to 100,000"),
		testkit.Wrong("no order", declare("newest", pages, subsetpages.Spec{Max: 2}), "By is empty",
			"threads.newest", "order"),
		testkit.Wrong("no array", declare("title", pages, subsetpages.Spec{Max: 2, By: by}),
			"not an array", "threads", "slice"),
		testkit.Wrong("no key", declare("newest", noKey, subsetpages.Spec{Max: 2, By: by}), "no ElementKey",
			"threads.newest", "identifies"),
		testkit.Wrong("parents and pages are in the same collection", func() {
			subsetpages.New(threads.Named("posts"), "newest", same, subsetpages.Spec{Max: 2, By: by})
		}, "parents and pages are in the same collection", "posts.newest", "own"),
		testkit.Wrong("twice", declare("newest", pages, subsetpages.Spec{Max: 2, By: append(by, by...)}), "twice",
			"threads.newest", "once"),
		testkit.Wrong("no direction",
			declare("newest", pages, subsetpages.Spec{Max: 2, By: bson.D{testkit.E("at", 2)}}),
			"sorts at by 2", "threads.newest", "1 or -1"),
		testkit.Wrong("no field",
			declare("newest", pages, subsetpages.Spec{Max: 2, By: bson.D{testkit.E("time", 1)}}),
			`"time"`, "pages", "bson tags"),
	)
}

// With transactions the same operations do the same.
func TestTransactions(t *testing.T) {
	testkit.Parallel(t)
	db := mongotest.NewClient(t).Database("forum")
	begin(t, db, 1, 2, 3, 4)
	tx, err := model.WithTransactions(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []model.Change{
		newest.Append("a", remarkAt(5)), newest.Append("a", remarkAt(5)), newest.Remove("a", "r4"),
		newest.Set("a", "r5", bson.D{testkit.E("text", "y")}),
		newest.Set("a", "r1", bson.D{testkit.E("at", 7)}),
	} {
		if _, err := c.Run(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
	}
	wantTimes(t, db, []int{7, 5}, []int{7, 2, 3, 5})
}
