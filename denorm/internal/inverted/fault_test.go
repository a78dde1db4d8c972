package inverted_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A rebuild of several tables can be cut anywhere and run again.
func TestInvertedRebuildFaults(t *testing.T) {
	parallel(t)
	ann, bob := member{ID: "a", Name: "Ann", City: "Rome", Tags: []string{"x"}}, member{
		ID: "b", Name: "Bob", City: "Oslo", Tags: []string{"x", "y"},
	}
	runFaults(t, map[string]modeltest.FaultCase{
		"rebuild of inverted indexes": {
			Seed: func(ctx context.Context, db *mongo.Database) error {
				return exec(ctx, db, members.InsertMany([]member{ann, bob}))
			},
			Run: inBatchesOf(1, membersBy.Rebuild()), Check: wantInverted,
		},
	})
}
