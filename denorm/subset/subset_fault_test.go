package subset_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// So can a repair of subsets, and a rebuild.
func TestSubsetRepairFaults(t *testing.T) {
	testkit.Parallel(t)
	spoiled := testkit.InTurn(fiveRemarks, func(ctx context.Context, db *mongo.Database) error {
		return testkit.Exec(ctx, db, model.NewPlan(remarks.Delete("r3"), remarks.Delete("r4")),
			model.NewPlan(remarks.Insert(remark{ID: "new", Thread: "b", At: 1})))
	})
	right := func(t testing.TB, db *mongo.Database) {
		subsetDrift(t, db, newestThree)
		want := []any{
			thread{
				ID:     "a",
				Newest: []remark{{ID: "r2", At: 2, Text: "x"}, {ID: "r1", At: 1, Text: "x"}, {ID: "r0", Text: "x"}},
			},
			thread{ID: "b", Newest: []remark{{ID: "new", At: 1}}},
		}
		testkit.WantDocs(t, db, testkit.Docs{"threads": want})
	}
	testkit.RunFaults(t, map[string]modeltest.FaultCase{
		"repair":  {Seed: spoiled, Run: testkit.MendedByJobs(newestThree.Checks()...), Check: right},
		"rebuild": {Seed: spoiled, Run: testkit.InBatchesOf(1, newestThree.Checks()[0].Job()), Check: right},
	})
}
