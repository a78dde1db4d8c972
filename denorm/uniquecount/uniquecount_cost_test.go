package uniquecount_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What each operation costs that no other test measures is what its value says, and what its documentation says.
func TestUniqueCountPrices(t *testing.T) {
	testkit.Parallel(t)
	april := uniqueDay(3)
	testkit.WantPrices(t, testkit.Stored(testkit.Docs{}),
		testkit.Writes("Visits in a plan", 1, 3,
			model.NewPlan(viewers.Visit("a", "x", noon), viewers.Visit("a", "y", noon),
				viewers.Visit("b", "x", uniqueDay(5)))),
		testkit.Does("Visit", 1, 1, 0, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, model.NewPlan(viewers.Visit("a", "z", noon)))
		}),
		testkit.Reads("Count", 1, viewers.Count("a", noon, april)),
		testkit.Reads("Counts", 1, viewers.Counts(noon, april)),
		testkit.Reads("PerPeriod", 1, viewers.PerPeriod("a", noon, april)),
		testkit.Reads("Visits", 3, viewers.Visits("a", noon, april)),
		testkit.Reads("Seen", 1, viewers.Seen("a", "x", noon)),
		testkit.Does("Rollup", 1, 0, 0, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, viewers.Rollup(monthsOf, noon, april))
		}).Differs("the scope's fields are fields of the documents that it compares or lists, or it is refused"),
		testkit.Does("Expire", 1, 3, 0, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, model.NewPlan(viewers.Expire(april)))
		}),
	)
}

// A visit finds its document by _id.
func TestUniqueCountWritesIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		// explain of an empty collection shows no index
		testkit.Seed(t, db, testkit.Docs{"clicks": {bson.D{testkit.E("_id", "other")}}})
		testkit.WantStepsIndexed(t, db, "UniqueCount", model.IDIndex, model.NewPlan(viewers.Visit("a", "x", noon)))
	})
}

// Days that go once their months are filled, whatever cuts either.
func TestUniqueCountExpireFaults(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	april := uniqueDay(4)
	testkit.RunFaults(t, map[string]modeltest.FaultCase{"rollup and expire": {
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db,
				model.NewPlan(viewers.Visit("a", "x", noon), viewers.Visit("a", "y", noon),
					viewers.Visit("a", "x", uniqueDay(1)),
					viewers.Visit("b", "x", uniqueDay(2)), viewers.Visit("a", "x", uniqueDay(5))))
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, viewers.Rollup(monthsOf, noon, april), model.NewPlan(viewers.Expire(april)))
		},
		Check: func(t testing.TB, db *mongo.Database) {
			testkit.WantDocs(t, db, testkit.Docs{"clicks": {uniqueDoc("a", "2014-04-02", "x")}})
			for group, want := range map[string]int64{"a": 2, "b": 1} {
				if got, err := monthsOf.Count(group, noon, april).One(t.Context(), db); err != nil || got.N != want {
					t.Errorf("%s: %v, %v, want %d", group, got, err, want)
				}
			}
		},
	}})
}
