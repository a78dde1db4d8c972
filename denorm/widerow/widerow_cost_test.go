package widerow_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What each operation costs that no other test measures is what its value says, and what its documentation says.
func TestWideRowPrices(t *testing.T) {
	testkit.Parallel(t)
	half := bson.D{
		testkit.E("$pull", bson.D{testkit.E("cols", bson.D{testkit.E("id", "s2")})}),
		testkit.E("$inc", bson.D{testkit.E("n", -1)}),
	}
	linked := func(ctx context.Context, db *mongo.Database) error {
		return errors.Join(seedWide(ctx, db),
			testkit.Updates(ctx, db, "songs", "s1", bson.D{testkit.E("$set", bson.D{testkit.E("name", "new")})}),
			testkit.Updates(ctx, db, "fansBySong", "s0#", bson.D{
				testkit.E("$set", bson.D{testkit.E("cols.0.doc.name", "old")}),
			}))
	}
	testkit.WantPrices(t, linked,
		testkit.Reads("Linked", 1, wide.Linked("f1", "s1")), testkit.Reads("Left().Count", 1, wide.Left.Count("f1")),
		testkit.Reads("Right().Count", 1, wide.Right.Count("s1")),
		testkit.Reads("Left().Oldest", 2, wide.Left.Oldest("f1", "", 2)),
		testkit.Reads("Right().Newest", 1, wide.Right.Newest("s1", "", 2)),
		testkit.Reads("Checks, columns", 0, wide.Checks()[5].Find()),
		testkit.Reads("Checks, right", 1, wide.Checks()[2].Find()), testkit.Mending(1, 1, wide.Checks()[2]),
		testkit.Reads("Checks, missing", 0, wide.Checks()[4].Find()),
		testkit.Reads("Checks, left", 1, wide.Checks()[1].Find()), testkit.Mending(1, 1, wide.Checks()[1]),
		testkit.Does("half a link", 1, 1, 0, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Updates(ctx, db, "songsByFan", "f1#", half)
		}),
		testkit.Reads("Checks, links", 1, wide.Checks()[0].Find()),
		testkit.Does("mend links", 4, 1, 2, testkit.MendedByJobs(wide.Checks()[0])),
	)
}

// Each write finds its documents by _id, or by the index of the columns' ids.
func TestWideRowWritesIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, renamed := t.Context(), bson.D{testkit.E("$set", bson.D{testkit.E("name", "new")})}
		testkit.MustSeed(t, db, seedWide)
		err := errors.Join(testkit.Updates(ctx, db, "songs", "s1", renamed),
			testkit.Updates(ctx, db, "fans", "f1", renamed),
			testkit.CreateIndexes(ctx, db, wide))
		if err != nil {
			t.Fatal(err)
		}
		testkit.WantStepsIndexed(t, db, "WideRow", model.IDIndex,
			testkit.PlanOf(t, db, wide.Link(fan(1).ID, song(7).ID, minute(15), testkit.Token(1))),
			testkit.PlanOf(t, db, wide.Unlink("f1", "s1")))
		for _, c := range []struct {
			reason string
			plan   model.Plan
		}{
			{"Checks, left", testkit.Mended(t, db, wide.Checks()[1:2])[0]},
			{"Checks, right", testkit.Mended(t, db, wide.Checks()[2:3])[0]},
		} {
			testkit.WantStepsIndexed(t, db, "WideRow."+c.reason, "cols.id_1_row_1", c.plan)
		}
	})
}
