package rollup_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var (
	rebuilt = func(ctx context.Context, db *mongo.Database) error {
		_, err := rolled.Rebuild(night.Add(-30*time.Minute), night.Add(20*24*time.Hour+30*time.Minute)).
			Run(ctx, db, model.JobOptions{})
		return err
	}
	rolledUp = func(ctx context.Context, db *mongo.Database) error { return roll(ctx, db, rolled, 0) }
	rolled3  = func(ctx context.Context, db *mongo.Database) error { return roll(ctx, db, rolled, 3) }
)

// A roll-up and a rebuild that are cut anywhere, and run again, count each event once.
func TestRollupFaults(t *testing.T) {
	testkit.Parallel(t)
	waiting := func(ctx context.Context, db *mongo.Database) error { return insertHits(ctx, db, rolled, five...) }
	for name, c := range map[string]modeltest.FaultCase{
		"one batch":    {Seed: waiting, Run: rolledUp},
		"batches of 3": {Seed: waiting, Run: rolled3},
		"batches of 1": {
			Seed: waiting,
			Run:  func(ctx context.Context, db *mongo.Database) error { return roll(ctx, db, rolled, 1) },
		},
		"by the checks": {Seed: waiting, Run: rolledUp, Repair: mendedNow},
		"insert": {Run: func(ctx context.Context, db *mongo.Database) error {
			return errors.Join(insertHits(ctx, db, rolled, five...), rolledUp(ctx, db))
		}},
		"rebuild": {Run: rebuilt, Seed: func(ctx context.Context, db *mongo.Database) error {
			_, dropped := db.Collection("totals").
				DeleteOne(ctx, bson.D{testkit.E("_id", "b#hour#2026-10-25T00:00:00Z")})
			return errors.Join(waiting(ctx, db), rolledUp(ctx, db), dropped,
				spoil(ctx, db, "a#hour#2026-10-25T01:00:00Z", bson.D{
					testkit.E("$inc", bson.D{testkit.E("n", int64(4)), testkit.E("values.ms.sum", int64(1))}),
				}),
				spoil(ctx, db, "a#month#2026-10-31T23:00:00Z", bson.D{
					testkit.E("$unset", bson.D{testkit.E("values", "")}),
				}))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c.Check = func(t testing.TB, db *mongo.Database) { wantBins(t, db, rolled, dutchTime, five...) }
			modeltest.FaultMatrix(t, c)
		})
	}
}

func mendedNow(ctx context.Context, db *mongo.Database) error {
	var all error
	for _, c := range rolled.Checks() {
		c.Age = 0
		_, err := c.Job().Run(ctx, db, model.JobOptions{})
		all = errors.Join(all, err)
	}
	return all
}

// Two runners, a writer and a rebuild, in every order of their commands, count each event once.
func TestRollupInterleaved(t *testing.T) {
	testkit.Parallel(t)
	late := hitOf("6", "a", 10*time.Minute, 100)
	insert := func(ctx context.Context, db *mongo.Database) error { return insertHits(ctx, db, rolled, late) }
	// A batch was begun, and one event of it claimed.
	begun := func(ctx context.Context, db *mongo.Database) error {
		op := testkit.Token(7)
		mark := bson.D{testkit.E("batch", op), testkit.E("events", bson.A{"2", "3", "4", "5"})}
		return testkit.Updates(ctx, db, "hits", "2", bson.D{testkit.E("$set", bson.D{testkit.E("mark", mark)})}, "4",
			bson.D{testkit.E("$set", bson.D{testkit.E("mark.batch", op)})})
	}
	wrong := func(ctx context.Context, db *mongo.Database) error {
		return spoil(ctx, db, "a#hour#2026-10-25T00:00:00Z", bson.D{
			testkit.E("$inc", bson.D{testkit.E("n", int64(4))}),
		})
	}
	for name, c := range map[string]struct {
		a, b testkit.DBFunc
		seed testkit.DBFunc
		also []hit
	}{
		"roll, roll":              {a: rolledUp, b: rolledUp},
		"batches of 3, roll":      {a: rolled3, b: rolledUp},
		"batches of 3, of 3":      {a: rolled3, b: rolled3},
		"roll, insert":            {a: rolledUp, b: insert, also: []hit{late}},
		"roll, rebuild":           {a: rolledUp, b: rebuilt, seed: wrong},
		"batches of 3, rebuild":   {a: rolled3, b: rebuilt, seed: wrong},
		"roll, roll of one begun": {a: rolledUp, b: rolled3, seed: begun},
		"roll and rebuild of one": {a: rolledUp, b: rebuilt, seed: begun},
		"rebuild, insert and roll": {a: rebuilt, b: func(ctx context.Context, db *mongo.Database) error {
			return errors.Join(insert(ctx, db), rolledUp(ctx, db))
		}, also: []hit{late}, seed: wrong},
		"rebuild, rebuild": {a: rebuilt, b: rebuilt, seed: wrong},
		"roll, mend":       {a: rolledUp, b: mendedNow, seed: wrong},
	} {
		t.Run(name, func(t *testing.T) {
			every := testkit.EveryPair && !strings.Contains(name, "rebuild") && !strings.Contains(name, "mend") &&
				!strings.HasSuffix(name, "of 3") // those have too many orders
			match := mongotest.All
			if every {
				match = mongotest.Writes
			}
			modeltest.Interleave(t, modeltest.InterleaveCase{
				Sample: 2, Nested: !every, Match: match,
				Seed: func(ctx context.Context, db *mongo.Database) error {
					err := errors.Join(insertHits(ctx, db, rolled, five[0]), rolledUp(ctx, db),
						insertHits(ctx, db, rolled, five[1:]...))
					if err == nil && c.seed != nil {
						err = c.seed(ctx, db)
					}
					return err
				},
				A: c.a, B: c.b,
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					if errA != nil || errB != nil {
						t.Errorf("errors %v, %v", errA, errB)
					}
					if err := rolledUp(t.Context(), db); err != nil {
						t.Error(err)
					}
					wantBins(t, db, rolled, dutchTime, append(five[:5:5], c.also...)...)
				},
			})
		})
	}
}
