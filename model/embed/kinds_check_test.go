package embed_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model/modeltest"
)

// Tags that are assigned to many documents, cut between two, are assigned to the rest by the next run.
func TestKindsRetagFaults(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			_, err := db.Collection(uniMedia.Name()).InsertMany(ctx, []any{
				d("_id", "a", "author", "x"), d("_id", "b", "author", "y", "type", nil),
				d("_id", "c", "tracks", bson.A{"t"}, "type", "disc"),
			})
			return err
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, err := uniKinds.Retag(nil, "book").Run(ctx, db)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			counts, err := uniKinds.Counts().All(context.Background(), db)
			if got := len(counts); err != nil || got != 2 || counts[0].N != 2 || counts[1].N != 1 {
				t.Errorf("%v, %v", counts, err)
			}
		},
	})
}
