package subset_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/denorm/subset"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What each operation costs is what its documentation says.
func TestSubsetCosts(t *testing.T) {
	testkit.Parallel(t)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		run := func(c changed) func(context.Context) error {
			return func(ctx context.Context) error { return runChange(ctx, db, c) }
		}
		for _, c := range []struct {
			reason string
			want   model.Cost
			run    func(context.Context) error
		}{
			{
				reason: "insert", want: model.Cost{Commands: 4, Written: 3, Returned: 1},
				run: run(newest.Insert(remark{ID: "r9", Thread: "a", At: 9})),
			},
			{
				reason: "a copied field", want: model.Cost{Commands: 4, Written: 3, Returned: 1},
				run: run(newest.Set("r3", bson.D{testkit.E("text", "y")})),
			},
			{
				reason: "a field that isn't copied", want: model.Cost{Commands: 1, Written: 1, Returned: 1},
				run: run(newest.Set("r3", bson.D{testkit.E("likes", 3)})),
			},
			{
				reason: "another place", want: model.Cost{Commands: 6, Written: 3, Returned: 7},
				run: run(newest.Set("r3", bson.D{testkit.E("at", 7)})),
			},
			{
				reason: "another parent", want: model.Cost{Commands: 8, Written: 4, Returned: 8},
				run: run(newest.Set("r3", bson.D{testkit.E("thread", "b")})),
			},
			{"delete", model.Cost{Commands: 6, Written: 3, Returned: 7}, run(newest.Delete("r3"))},
			{"delete one that isn't held", model.Cost{Commands: 6, Written: 3, Returned: 7}, run(newest.Delete("r0"))},
			{
				reason: "refresh what is true", want: model.Cost{Commands: 2, Returned: 6},
				run: func(ctx context.Context) error { return runChange(ctx, db, newestThree.Refresh("a")) },
			},
		} {
			t.Run(c.reason, func(t *testing.T) {
				testkit.Seed(t, db, testkit.Docs{"threads": nil, "remarks": nil})
				if err := fiveRemarks(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				modeltest.WantCost(t, monitor, c.want, func() error { return c.run(t.Context()) })
			})
		}
	}, monitor)
}

func TestSubsetIndexed(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		list, parents := make([]remark, 3000), make([]thread, 3000)
		for i := range list {
			list[i], parents[i] = remark{ID: fmt.Sprint(i), Thread: fmt.Sprint(i / 3), At: i}, thread{ID: fmt.Sprint(i)}
		}
		testkit.MustExec(t, db, remarks.InsertMany(list), threads.InsertMany(parents))
		if err := model.New("test", newestThree).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		modeltest.WantIndexed(t, db, newestThree.Children("77"), newestThree.Indexes()[0].Name)
		modeltest.WantIndexed(t, db, newestThree.Rest(&thread{ID: "77", Newest: []remark{{ID: "3", At: 3}}}),
			newestThree.Indexes()[0].Name)
		testkit.WantReadsIndexed(t, db, m,
			testkit.ReadBy("Set", newest.Set("7", bson.D{testkit.E("at", 1)}).Change(), model.IDIndex, model.IDIndex,
				newestThree.Indexes()[0].Name),
			testkit.ReadBy("Refresh", newestThree.Refresh("7"), model.IDIndex, newestThree.Indexes()[0].Name))
	}, m)
}

// A parent that is not there, a child without one, and a child that is not there.
func TestSubsetMissing(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := fiveRemarks(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		testkit.WantError(t,
			runChange(t.Context(), db, newest.Insert(remark{ID: "x", Thread: "gone"})), model.ErrNotFound)
		testkit.WantError(t,
			runChange(t.Context(), db, newest.Set("none", bson.D{testkit.E("text", "y")})), model.ErrNotFound)
		testkit.MustExec(t, db, model.NewPlan(remarks.Insert(remark{ID: "x", Thread: "gone"})))
		mustRun(t, db, newest.Set("x", bson.D{testkit.E("thread", "b")}))
		subsetDrift(t, db, newestThree)
		mustRun(t, db, newest.Insert(remark{ID: "alone"}), newest.Set("alone", bson.D{testkit.E("text", "y")}),
			newest.Set("alone", bson.D{testkit.E("thread", "b")}))
		subsetDrift(t, db, newestThree)
		mustRun(t, db, newest.Delete("alone"))
		subsetDrift(t, db, newestThree)
	})
}

func TestSubsetDeclarations(t *testing.T) {
	testkit.Parallel(t)
	by := bson.D{testkit.E("at", -1)}
	for reason, declare := range map[string]func(){
		"no order": func() { subset.New(remarks, "thread", threads, "newest", subset.Spec{Max: 3}) },
		"no bound": func() { subset.New(remarks, "thread", threads, "newest", subset.Spec{By: by}) },
		"a bad direction": func() {
			subset.New(remarks, "thread", threads, "newest",
				subset.Spec{Max: 3, By: bson.D{testkit.E("at", 0)}})
		},
		"ordered twice": func() {
			subset.New(remarks, "thread", threads, "newest",
				subset.Spec{Max: 3, By: bson.D{testkit.E("at", 1), testkit.E("at", 1)}})
		},
		"unknown reference": func() {
			subset.New(remarks, "tread", threads, "newest", subset.Spec{Max: 3, By: by})
		},
		"reference's type": func() {
			subset.New(remarks, "at", threads, "newest", subset.Spec{Max: 3, By: by})
		},
		"no array": func() {
			subset.New(remarks, "thread", threads, "title", subset.Spec{Max: 3, By: by})
		},
		"unknown field": func() {
			subset.New(remarks, "thread", threads, "newest",
				subset.Spec{Max: 3, By: by, Fields: []string{"x"}})
		},
		"copied twice": func() {
			subset.New(remarks, "thread", threads, "newest", subset.Spec{
				Max: 3, By: by, Fields: []string{"text", "text"},
			})
		},
		"other elements": func() {
			type board struct {
				ID    string `bson:"_id"`
				Posts []struct {
					N int `bson:"n"`
				} `bson:"posts,omitempty"`
			}
			boards := model.NewCollection[board, string]("boards")
			subset.New(remarks, "thread", boards, "posts", subset.Spec{Max: 3, By: by})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			defer func() {
				if d, ok := recover().(*model.DeclarationError); !ok || d.Problem == "" ||
					d.Place == "" || d.Remedy == "" {
					t.Errorf("panicked with %v, want a *model.DeclarationError", d)
				}
			}()
			declare()
		})
	}
}

func TestSubsetRefusals(t *testing.T) {
	testkit.Parallel(t)
	for reason, err := range map[string]error{
		"nobody's children": newestThree.Children("").Err,
		"no thread":         newestThree.Rest(&thread{}).Err,
		"no parent to mend": newestThree.Refresh("").Err,
		"nothing found":     newestThree.Checks()[0].Mend(testkit.EmptyFinding(newestThree.Checks()[0])).Err(),
	} {
		var bad *model.ValueError
		if !errors.As(err, &bad) || bad.Collection == "" || bad.Field == "" || bad.Reason == "" {
			t.Errorf("%s: error %v, want a *model.ValueError with collection, field and reason", reason, err)
		}
	}
}
