package inverted_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A rebuild of several tables can be cut anywhere and run again.
func TestInvertedRebuildFaults(t *testing.T) {
	testkit.Parallel(t)
	ann, bob := member{ID: "a", Name: "Ann", City: "Rome", Tags: []string{"x"}}, member{
		ID: "b", Name: "Bob", City: "Oslo", Tags: []string{"x", "y"},
	}
	testkit.RunFaults(t, map[string]modeltest.FaultCase{
		"rebuild of inverted indexes": {
			Seed: func(ctx context.Context, db *mongo.Database) error {
				return testkit.Exec(ctx, db, members.InsertMany([]member{ann, bob}))
			},
			Run: testkit.InBatchesOf(1, membersBy.Rebuild()), Check: wantInverted,
		},
	})
}
