// The whole repair of all owners, as a fault matrix: it is cut at each write, and run again.

package document_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A repair of many documents that is cut leaves each as it was or mended, and goes on when it is run again.
func TestDocumentTreeRepairAllCuts(t *testing.T) {
	testkit.Parallel(t)
	for _, f := range []pathstest.DocumentForm{pathstest.KeyedRevForm, pathstest.FlatForm} {
		t.Run(f.Name, func(t *testing.T) {
			if testkit.Sample && f.Name != pathstest.KeyedRevForm.Name {
				t.Skip("server lacks: time for every row of a fault matrix")
			}
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Sample: 3,
				Seed: func(ctx context.Context, db *mongo.Database) error {
					var all []any
					for i := range 5 {
						all = append(all, pathstest.Article{ID: fmt.Sprint(i), Remarks: []pathstest.Remark{
							{ID: "a", Order: "a0"}, {ID: "b", Parent: "a", Order: "a0"},
							{ID: "c", Parent: "gone", Order: "a2"},
						}})
					}
					_, err := db.Collection(f.Name).InsertMany(ctx, all)
					return err
				},
				Run: func(ctx context.Context, db *mongo.Database) error {
					job := f.Tree.Checks()[0].Job()
					job.Stages[0].BatchSize = 3
					_, err := job.Run(ctx, db, model.JobOptions{})
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) {
					for p, err := range f.Tree.Checks()[0].Each(t.Context(), db) {
						t.Error(p, err)
					}
					for i := range 5 {
						all, err := f.ReadAll(t.Context(), db, fmt.Sprint(i))
						if got := pathstest.DocumentForest(all); got != "a(b) c" || err != nil {
							t.Errorf("%d: %s, %v", i, got, err)
						}
					}
				},
			})
		})
	}
}
