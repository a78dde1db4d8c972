package subset_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What each operation costs that no other test measures is what its value says, and what its documentation says.
func TestSubsetPrices(t *testing.T) {
	testkit.Parallel(t)
	testkit.WantPrices(t, testkit.InTurn(fiveRemarks, func(ctx context.Context, db *mongo.Database) error {
		return testkit.Exec(ctx, db, model.NewPlan(remarks.Delete("r4")))
	}),
		testkit.Reads("Children", 4, newestThree.Children("a")),
		testkit.Reads("Rest", 1,
			newestThree.Rest(&thread{
				ID:     "a",
				Newest: []remark{{ID: "r3", At: 3}, {ID: "r2", At: 2}, {ID: "r1", At: 1}},
			})),
		testkit.Reads("Checks", 1, newestThree.Checks()[0].Find()), testkit.Mending(1, 1, newestThree.Checks()[0]),
		testkit.Does("a deletion", 1, 1, 0, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, model.NewPlan(remarks.Delete("r3")))
		}),
		testkit.Does("Refresh", 3, 1, 4, testkit.Changed(newestThree.Refresh("a"))),
		testkit.Does("another deletion", 1, 1, 0, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, model.NewPlan(remarks.Delete("r2")))
		}),
		testkit.Does("the check's job", 5, 1, 3, testkit.InBatchesOf(500, newestThree.Checks()[0].Job())),
	)
}

// Each write finds its documents by _id.
func TestSubsetWritesIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		byID := func(reason string, plans ...model.Plan) {
			t.Helper()
			testkit.WantStepsIndexed(t, db, reason, model.IDIndex, plans...)
		}
		if err := fiveRemarks(ctx, db); err != nil {
			t.Fatal(err)
		}
		byID("Subset", testkit.PlanOf(t, db, newest.Insert(remark{ID: "new", Thread: "a", At: 7}).Change()),
			testkit.PlanOf(t, db, newest.Set("r3", bson.D{testkit.E("text", "y")}).Change()),
			testkit.PlanOf(t, db, newest.Set("r3", bson.D{testkit.E("at", 0)}).Change()),
			testkit.PlanOf(t, db, newest.Delete("r3").Change()))
		testkit.MustExec(t, db, model.NewPlan(remarks.Delete("r3")))
		byID("Subset.Checks",
			append(testkit.Mended(t, db, newestThree.Checks()), testkit.PlanOf(t, db, newestThree.Refresh("a")))...)
	})
}
