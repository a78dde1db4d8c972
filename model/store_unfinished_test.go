package model_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Without transactions, an insert that counts is cut at each of its writes. The retry, with
// the same token, counts once.
func TestStoreUnfinishedCut(t *testing.T) {
	token := bson.NewObjectID()
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			_, _, err := writerStore.Insert(writer{ID: "ann", Name: "Ann"}).Run(ctx, db)
			return err
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, _, err := noteStore.Insert(note{ID: "n", Writer: "ann", Text: "x"}).Run(model.WithToken(ctx, token), db)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			w, err := writers.ByID("ann").One(context.Background(), db)
			if err != nil || w.Notes != 1 {
				t.Errorf("%+v, %v", w, err)
			}
			var n bson.M
			if err := db.Collection("diaryNotes").FindOne(context.Background(), bson.D{}).Decode(&n); err == nil && n["_m"] == nil {
				t.Errorf("no token: %v", n)
			}
		},
	})
}
