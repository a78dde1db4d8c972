package model_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
)

// A job that keeps a checkpoint, cut at any write, its checkpoint's too, goes on and ends in the same; no checkpoint
// stays.
func TestJobFaults(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Sample: 4,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			_, err := manyParts(5).Run(ctx, db)
			return err
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, err := renaming("new").Run(ctx, db, model.JobOptions{Checkpoint: "jobs"})
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			n, err := parts.Find(d("name", "new")).Count(context.Background(), db)
			kept, err2 := notes.Named("jobs").Find(nil).Count(context.Background(), db)
			if err != nil || err2 != nil || n != 5 || kept != 0 {
				t.Errorf("%d renamed, %v; %d checkpoints, %v", n, err, kept, err2)
			}
		},
	})
}

// Indexes of several collections, cut between two: the next Ensure makes the rest.
func TestEnsureFaults(t *testing.T) {
	set := model.New("test", twoLists()...).Indexes()
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Sample: 2,
		Run:    func(ctx context.Context, db *mongo.Database) error { return set.Ensure(ctx, db) },
		Check: func(t testing.TB, db *mongo.Database) {
			if diff, err := set.Diff(context.Background(), db); err != nil || !diff.Empty() {
				t.Errorf("%+v, %v", diff, err)
			}
		},
	})
}
