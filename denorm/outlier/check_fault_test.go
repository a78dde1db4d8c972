package outlier_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Every write is served by _id.
func TestOutlierWritesIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		byID := func(reason string, plans ...model.Plan) {
			t.Helper()
			testkit.WantStepsIndexed(t, db, reason, model.IDIndex, plans...)
		}
		if err := errors.Join(testkit.Store(ctx, db, testkit.Docs{
			"books": {titled{ID: "a"}, titled{ID: "b", Buyers: outlierBuyers("1 2 3")}, titled{ID: "c"}},
		}), outlierAppend(ctx, db, purchases, "a", "1 2 3"),
			outlierAppend(ctx, db, purchases, "c", "1 2 3")); err != nil {
			t.Fatal(err)
		}
		byID("Outlier", testkit.PlanOf(t, db, purchases.Append("a", customer{ID: "x"})),
			testkit.PlanOf(t, db, purchases.Remove("a", "1")),
			testkit.PlanOf(t, db, purchases.Remove("a", "3")), purchases.Delete("a"))
		raw, err := (&model.Find[bson.Raw]{
			Query: model.Query{Collection: "books", Filter: bson.D{testkit.E("_id", "b")}},
		}).All(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		split, err := purchases.Split().Stages[0].Plan(raw)
		if err != nil {
			t.Fatal(err)
		}
		byID("Outlier.Split", split)
		if err := errors.Join(testkit.Updates(ctx, db, "books", "a", bson.D{
			testkit.E("$unset", bson.D{testkit.E("extras", "")}),
		}),
			outlierPush(ctx, db, "c", "7 8 9")); err != nil {
			t.Fatal(err)
		}
		byID("Outlier.Checks", testkit.Mended(t, db, purchases.Checks()[:1])...)
		byID("Outlier.Settle", outlierCrowd(t, db, purchases))
		testkit.MustExec(t, db, model.NewPlan(titles.Delete("c")))
		byID("Outlier.Checks of orphans", testkit.Mended(t, db, purchases.Checks()[2:])...)
	})
}

// What each operation costs that no other test measures.
func TestOutlierPrices(t *testing.T) {
	testkit.Parallel(t)
	crowd := func(ctx context.Context, db *mongo.Database) error {
		err := testkit.Store(ctx, db, testkit.Docs{"books": {titled{ID: "a"}, titled{ID: "b"}, titled{ID: "c"}}})
		for _, id := range []string{"a", "b", "c"} {
			err = errors.Join(err, outlierAppend(ctx, db, purchases, id, "1 2 3 4 5 6"))
		}
		return errors.Join(err, outlierPush(ctx, db, "b", "7 8 9 10"),
			testkit.Updates(ctx, db, "books", "c", bson.D{testkit.E("$unset", bson.D{testkit.E("extras", "")})}))
	}
	testkit.WantPrices(t, crowd,
		testkit.Reads("Holding", 1, purchases.Holding("a", "5")),
		testkit.Reads("Holding in the array", 1, purchases.Holding("a", "1")),
		testkit.Reads("Overflow", 2, customerPages.Oldest("a")),
		testkit.Reads("Outliers", 2, withFlag()), testkit.Reads("Checks", 1, purchases.Checks()[0].Find()),
		testkit.Reads("Checks of arrays", 1, purchases.Checks()[1].Find()),
		testkit.Mending(1, 1, purchases.Checks()[0]),
		// The batch, two new overflow documents, the owner, and two to find the end.
		testkit.Does("Settle", 6, 3, 1, testkit.InBatchesOf(10, purchases.Settle())),
		testkit.Does("a deletion", 1, 1, 0, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, model.NewPlan(titles.Delete("a")))
		}),
		testkit.Reads("Checks of orphans", 2, purchases.Checks()[2].Find()),
		testkit.Mending(1, 2, purchases.Checks()[2]),
	)
}

// A repair of outliers sets flags and deletes what a Split has left; overflow of nobody is deleted page by page.
func TestOutlierRepairFaults(t *testing.T) {
	testkit.Parallel(t)
	testkit.RunFaults(t, map[string]modeltest.FaultCase{
		"repair": {
			Seed: func(ctx context.Context, db *mongo.Database) error {
				split := titles.Insert(titled{ID: "left", Buyers: outlierBuyers("1 2 3 4 5 6 7")})
				err := errors.Join(testkit.Exec(ctx, db, model.NewPlan(split)), outlierSplitCut(ctx, db))
				for _, id := range []string{"a", "b"} {
					err = errors.Join(err, testkit.Exec(ctx, db, model.NewPlan(titles.Insert(titled{ID: id}))),
						outlierAppend(ctx, db, purchases, id, "1 2 3 4"),
						testkit.Updates(ctx, db, "books", id, bson.D{
							testkit.E("$unset", bson.D{testkit.E("extras", "")}),
						}))
				}
				return errors.Join(err,
					testkit.Updates(ctx, db, "books", "left", bson.D{
						testkit.E("$pull", bson.D{testkit.E("buyers", bson.D{testkit.E("id", "1")})}),
					}))
			},
			Run: testkit.InTurn(outlierMend, func(ctx context.Context, db *mongo.Database) error {
				return outlierSplit(ctx, db, purchases)
			}),
			Check: func(t testing.TB, db *mongo.Database) {
				wantOutlier(t, db, purchases, "left", "2 3 4 5 6 7")
				wantOutlier(t, db, purchases, "a", "1 2 3 4")
				wantOutlier(t, db, purchases, "b", "1 2 3 4")
			},
		},
		"orphans": {
			Seed: func(ctx context.Context, db *mongo.Database) error {
				err := testkit.Exec(ctx, db, titles.InsertMany([]titled{{ID: "a"}, {ID: "b"}}))
				return errors.Join(err, outlierAppend(ctx, db, purchases, "a", "1 2 3 4 5 6"),
					outlierAppend(ctx, db, purchases, "b", "1 2 3"),
					testkit.Exec(ctx, db, model.NewPlan(titles.Delete("a"))))
			},
			Run: testkit.CheckJob(purchases.Checks()[2]),
			Check: func(t testing.TB, db *mongo.Database) {
				wantOutlier(t, db, purchases, "b", "1 2 3")
				if n, err := moreCustomers.Find(nil).Count(t.Context(), db); n != 1 || err != nil {
					t.Errorf("%d pages, %v", n, err)
				}
			},
		},
	})
}

// outlierSplitCut runs what a Split plans but for its last write of each owner.
func outlierSplitCut(ctx context.Context, db *mongo.Database) error {
	raw, err := (&model.Find[bson.Raw]{Query: model.Query{Collection: "books"}}).All(ctx, db)
	if err != nil {
		return err
	}
	plan, err := purchases.Split().Stages[0].Plan(raw)
	if err != nil {
		return err
	}
	plan.Steps = slices.DeleteFunc(plan.Steps, func(s model.Step) bool { return s.(model.Write).Collection == "books" })
	return testkit.Exec(ctx, db, plan)
}
