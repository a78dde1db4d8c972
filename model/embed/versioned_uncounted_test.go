package embed_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
)

// A store counts no change of an uncounted path, and Update counts each one: TestVersionedStoreUncounted has
// replacements.
func TestVersionedUncounted(t *testing.T) {
	beside := embed.NewVersioned(verLots, embed.VersionedSpec{Uncounted: []string{"qty"}})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := verStore(t.Context(), db, verLot{ID: "l", Qty: 1, Version: 1}); err != nil {
			t.Fatal(err)
		}
		more := beside.Update("l", 1, bson.D{{Key: "$inc", Value: bson.D{{Key: "qty", Value: 1}}}}, verNone)
		testkit.MustRun(t, db, model.NewPlan(more), model.NewPlan(beside.Update("l", 2, nil, verNone)))
		if got := verShow(t, db); got != "qty 2 version 3" {
			t.Errorf("stored %s", got)
		}
	})
	for path, problem := range map[string]string{
		"version": "the technique writes", "ops": "the technique writes", "colour": "colour",
	} {
		testkit.WantPanic(t, path, problem, func() {
			embed.NewVersioned(verLots, embed.VersionedSpec{Tokens: "ops", Uncounted: []string{path}})
		})
	}
}
