package copies_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A repair of copies, and a refresh, can be cut anywhere and run again.
func TestCopyRepairFaults(t *testing.T) {
	testkit.Parallel(t)
	cases := map[string]modeltest.FaultCase{}
	for _, f := range copyForms {
		if !testkit.EveryPair && f.c != inItems && f.c != ofListed {
			continue
		}
		at := []string{"", "items.1.", "groups.1.items.0."}[f.depth]
		oneOf := func(ctx context.Context, db *mongo.Database) error { return f.oneOf(ctx, db) }
		whole := func(name string) func(testing.TB, *mongo.Database) {
			return func(t testing.TB, db *mongo.Database) {
				sources, hs := world(t, db)
				for i := range hs {
					for _, c := range f.copies(&hs[i], sources) {
						if c.src == "s" && *c.name != name {
							t.Errorf("%s has %q, want %q", hs[i].ID, *c.name, name)
						}
					}
				}
				if found := f.wantDrift(t, db); len(found) > 0 || len(hs) != 3 {
					t.Errorf("of %d documents %v drift", len(hs), found)
				}
			}
		}
		cases[f.name+" repair"] = modeltest.FaultCase{
			Seed: testkit.InTurn(oneOf, func(ctx context.Context, db *mongo.Database) error {
				ahead := bson.D{testkit.E("name", "ahead")}
				if f.versioned {
					ahead = append(ahead, testkit.E("v", int64(99)))
				}
				for i := range ahead {
					ahead[i].Key = at + ahead[i].Key
				}
				return testkit.Updates(ctx, db, "holders", "h1",
					bson.D{testkit.E("$set", bson.D{testkit.E(at+"name", "wrong")})}, "h2",
					bson.D{testkit.E("$set", ahead)})
			}),
			Run: testkit.MendedByJobs(f.c.Checks()...), Check: whole("a"),
		}
		cases[f.name+" refresh"] = modeltest.FaultCase{
			Seed: testkit.InTurn(oneOf, func(ctx context.Context, db *mongo.Database) error {
				return testkit.Updates(ctx, db, "origins", "s", bson.D{
					testkit.E("$set", bson.D{testkit.E("name", "b"), testkit.E("v", int64(1))}),
				})
			}),
			Run: func(ctx context.Context, db *mongo.Database) error {
				_, _, err := f.c.Refresh("s").Run(ctx, db)
				return err
			},
			Check: whole("b"),
		}
	}
	testkit.RunFaults(t, cases)
}
