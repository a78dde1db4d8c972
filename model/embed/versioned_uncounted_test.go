package embed_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
)

// Beside writers that don't count the version up, a whole document would undo what they wrote: it is refused. Changes of fields aren't.
func TestVersionedUncounted(t *testing.T) {
	beside := embed.NewVersioned(verLots, embed.VersionedSpec{Uncounted: []string{"qty"}})
	same := func(lot verLot) (verLot, error) { return lot, nil }
	if err := beside.Replace(verLot{ID: "l", Version: 1}, verNone).Err; !errors.As(err, new(*model.ValueError)) {
		t.Errorf("Replace: %v", err)
	}
	if err := beside.Change("l", verNone, same).Err; !errors.As(err, new(*model.ValueError)) {
		t.Errorf("Change: %v", err)
	}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := verStore(t.Context(), db, verLot{ID: "l", Qty: 1, Version: 1}); err != nil {
			t.Fatal(err)
		}
		touched := beside.ChangeBy("l", verNone, func(verLot) (bson.D, error) { return bson.D{{Key: "$inc", Value: bson.D{{Key: "qty", Value: 1}}}}, nil })
		testkit.MustChange(t, db, touched)
		testkit.MustRun(t, db, model.NewPlan(beside.Update("l", 2, nil, verNone)))
		if got := verShow(t, db); got != "qty 2 version 3" {
			t.Errorf("stored %s", got)
		}
	})
	for path, problem := range map[string]string{"version": "the technique writes", "ops": "the technique writes", "colour": "colour"} {
		testkit.WantPanic(t, path, problem, func() {
			embed.NewVersioned(verLots, embed.VersionedSpec{Tokens: "ops", Uncounted: []string{path}})
		})
	}
}
