package expiry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
)

func TestExpiryRestore(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		expPut(t, ctx, db, "cold", expAged("a", 31), expAged("b", 31), bson.D{
			{Key: "_id", Value: "c"}, {Key: "placed", Value: expNow}, {Key: "n", Value: 2},
			{Key: "archivedEarlier", Value: bson.A{bson.D{{Key: "n", Value: 1}}}},
		})
		restore := func(x *schema.Expiry[expOrder, string], id string, until time.Time, steps int) {
			t.Helper()
			if result, err := x.Restore(id, until).Run(ctx, db); err != nil || len(result.Steps) != steps {
				t.Errorf("%s: %v, %v", id, result.Steps, err)
			}
		}
		restore(expEach, "a", expNow.Add(expDay), 1)
		restore(expEach, "a", expNow.Add(2*expDay), 0) // it is there
		restore(expEach, "b", time.Time{}, 1)
		restore(expArchived, "c", time.Time{}, 1)
		if _, err := expEach.Restore("z", time.Time{}).Run(ctx, db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("of none: %v", err)
		}
		expWant(t, db, []string{"a", "b", "c"}, []string{"a", "b", "c"})
		live, err := expEach.Live(expNow).All(ctx, db)
		if err != nil || len(live) != 2 || !live[0].Placed.Equal(expNow.Add(expDay)) ||
			live[1].Placed != nil || live[1].N != 31 {
			t.Errorf("%+v, %v", live, err)
		}
		c, err := db.Collection("orders").FindOne(ctx, bson.D{{Key: "_id", Value: "c"}}).Raw()
		if err != nil || c.Lookup("archivedEarlier").Type != 0 {
			t.Errorf("c came back as %s, %v", c, err)
		}
		pairs, err := expEach.Both(expNow).All(ctx, db)
		if err != nil || len(pairs) != 3 || pairs[0].Expired || pairs[1].Expired || !pairs[2].Expired {
			t.Fatalf("%v, %v", pairs, err)
		}
		if err := expEach.Discard(pairs[2], bson.NewObjectID()).Err(); err == nil {
			t.Error("an expired one is discarded")
		}
		if _, err := expEach.Discard(pairs[0], bson.NewObjectID()).Run(ctx, db); err != nil {
			t.Error(err)
		}
		expWant(t, db, []string{"a", "b", "c"}, []string{"b", "c"})
		if _, err := db.Collection("orders").DeleteOne(ctx, bson.D{{Key: "_id", Value: "b"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := expEach.Discard(pairs[1], bson.NewObjectID()).Run(ctx, db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("the copy of what is gone: %v", err)
		}
		expWant(t, db, []string{"a", "c"}, []string{"b", "c"})
	})
	for reason, err := range map[string]error{
		"a moment beside After":      expArchived.Restore("a", expNow).Err,
		"no id":                      expEach.Restore("", expNow).Err,
		"restore without an archive": expDeleted.Restore("a", time.Time{}).Err,
		"archive without one":        expDeleted.Archive(expNow).Err,
		"both without one":           expDeleted.Both(expNow).Err,
		"archived without one":       expDeleted.Archived("a").Err,
		"until beside After":         expArchived.Until("a", expNow).Err,
		"never beside After":         expArchived.Until("a", time.Time{}).Err,
		"discard without one":        expDeleted.Discard(schema.ExpiryPair{}, bson.NewObjectID()).Err(),
		"discard without a token":    expEach.Discard(schema.ExpiryPair{}, bson.ObjectID{}).Err(),
		"discard of nothing":         expEach.Discard(schema.ExpiryPair{}, bson.NewObjectID()).Err(),
	} {
		testkit.WantValueError(t, reason, err)
	}
}

// A copy is discarded beside an archive that is under way: the document is somewhere in all orders.
func TestExpiryDiscardInterleaved(t *testing.T) {
	at := expNow.Add(31 * expDay) // A runs when the document has expired, B saw it alive
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Sample: 4,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			expPut(t, ctx, db, "orders", expAged("a", 1))
			expPut(t, ctx, db, "cold", expAged("a", 1))
			return nil
		},
		A: func(ctx context.Context, db *mongo.Database) error {
			_, err := expArchived.Archive(at).Run(ctx, db, model.JobOptions{})
			return err
		},
		B: func(ctx context.Context, db *mongo.Database) error {
			pairs, err := expArchived.Both(expNow).All(ctx, db)
			if err != nil || len(pairs) == 0 {
				return err
			}
			_, err = expArchived.Discard(pairs[0], bson.NewObjectID()).Run(ctx, db)
			if errors.Is(err, model.ErrNotFound) {
				return nil
			}
			return err
		},
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			if err := errors.Join(errA, errB); err != nil {
				t.Error(err)
			}
			if !expSomewhere(t, db, "a") {
				t.Error("it is lost")
			}
		},
	})
}

func TestExpiryDiscardFaults(t *testing.T) {
	op := bson.NewObjectID()
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Sample: 4,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			expPut(t, ctx, db, "orders", expAged("a", 1))
			expPut(t, ctx, db, "cold", expAged("a", 31))
			return nil
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			pairs, err := expArchived.Both(expNow).All(ctx, db)
			for _, p := range pairs {
				if err == nil {
					_, err = expArchived.Discard(p, op).Run(ctx, db)
				}
			}
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) { expWant(t, db, []string{"a"}, nil) },
	})
}
