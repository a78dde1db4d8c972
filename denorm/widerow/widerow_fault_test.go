package widerow_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/denorm/widerow"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What mends the rows of a relation: half links completed or taken out, and copied fields renewed.
func TestWideRowRepairFaults(t *testing.T) {
	testkit.Parallel(t)
	linked := func(ctx context.Context, db *mongo.Database) error {
		return errors.Join(seedWide(ctx, db),
			wideRun(ctx, db, wide.Link(fan(2).ID, song(1).ID, minute(7), testkit.Token(50))))
	}
	without := func(id string) bson.D {
		return bson.D{
			testkit.E("$pull", bson.D{testkit.E("cols", bson.D{testkit.E("id", id)})}),
			testkit.E("$inc", bson.D{testkit.E("n", -1)}),
		}
	}
	renamed := func(collection, name string, ids ...any) testkit.DBFunc {
		return func(ctx context.Context, db *mongo.Database) error {
			for _, id := range ids {
				if err := testkit.Updates(ctx, db, collection, id, bson.D{
					testkit.E("$set", bson.D{testkit.E("name", name)}),
				}); err != nil {
					return err
				}
			}
			return nil
		}
	}
	fresh := func(t testing.TB, db *mongo.Database) {
		wantWide(t, db, wide, 4)
		if found, err := testkit.FoundBy(t.Context(), db, wide.Checks()); len(found) > 0 || err != nil {
			t.Errorf("they find %v, %v", found, err)
		}
	}
	testkit.RunFaults(t, map[string]modeltest.FaultCase{
		"half links": {
			Seed: testkit.InTurn(linked, func(ctx context.Context, db *mongo.Database) error {
				later := widerow.ColumnsFrom(minute(31)) + "|f1"
				return errors.Join(testkit.Updates(ctx, db, "songsByFan", "f1#", without("s2")),
					testkit.Updates(ctx, db, "fansBySong", "s1#", without("f1"), "s3#", bson.D{
						testkit.E("$set", bson.D{testkit.E("cols.0.k", later), testkit.E("cols.0.at", minute(31))}),
					}))
			}),
			Run: wideMend,
			Check: func(t testing.TB, db *mongo.Database) {
				fresh(t, db)
				for id, want := range map[string]string{"s0": "f1@0", "s1": "f2@7 f1@10", "s2": "", "s3": "f1@30"} {
					if got := wideKeys(t, db, wide.Right.Oldest(id, "", 9)); got != want {
						t.Errorf("%s has %q, want %q", id, got, want)
					}
				}
				if got := wideKeys(t, db, wide.Left.Oldest("f1", "", 9)); got != "s0@0 s1@10 s3@30" {
					t.Errorf("f1 has %q", got)
				}
			},
		},
		"repair left": {
			Seed: testkit.InTurn(linked, renamed("fans", "New", "f1", "f2")),
			Run:  testkit.MendedByJobs(wide.Checks()[1]), Check: fresh,
		},
		"repair right": {
			Seed: testkit.InTurn(linked, renamed("songs", "New", "s0", "s1", "s3")),
			Run:  testkit.MendedByJobs(wide.Checks()[2]), Check: fresh,
		},
		"a changed name": {
			Seed: linked, Check: fresh,
			Run: testkit.Changed(songStore.Set("s1", bson.D{testkit.E("name", "New")})),
		},
	})
}
