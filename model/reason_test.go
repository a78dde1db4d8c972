package model_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// TestReasonInstead: the steps of the reason that applies are sent instead of the plan's IfStale.
func TestReasonInstead(t *testing.T) {
	full := errors.New("full")
	docs := model.NewCollection[part, int32]("parts")
	instead := []model.Step{docs.Delete(1), docs.Delete(2)}
	for _, c := range []struct {
		name   string
		reason model.Reason
		want   error
		left   int64 // of the documents 1 and 2
	}{
		{"no reason", model.Reason{If: d("_id", 9), Err: full, Instead: instead}, model.ErrNotFound, 1},
		{"a filter", model.Reason{If: d("_id", 3), Err: full, Instead: instead}, full, 0},
		{"always", model.Reason{Err: full, Instead: instead}, full, 0},
		{"always, a missing document", model.Reason{Err: model.ErrNotFound, Instead: instead}, model.ErrNotFound, 0},
		{"nothing is taken back", model.Reason{Err: model.ErrNotFound, Instead: []model.Step{}}, model.ErrNotFound, 2},
		{"as IfStale says", model.Reason{Err: model.ErrNotFound}, model.ErrNotFound, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				mustRun(t, db, docs.InsertMany([]part{{ID: 2}, {ID: 3}}))
				stale := expectOne(updateOne(d("_id", 8), d("$set", d("qty", 4))))
				stale.Reasons = []model.Reason{c.reason}
				plan := model.NewPlan(docs.Insert(part{ID: 1}), stale)
				plan.IfStale = []model.Step{docs.Delete(1)}
				if _, err := plan.Run(t.Context(), db); !errors.Is(err, c.want) {
					t.Errorf("it returned %v, want %v", err, c.want)
				}
				if n, err := docs.Find(d("_id", d("$lt", 3))).Count(t.Context(), db); err != nil || n != c.left {
					t.Errorf("%d documents are left, %v, want %d", n, err, c.left)
				}
			})
		})
	}
}
