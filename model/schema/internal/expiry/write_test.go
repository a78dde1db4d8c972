package expiry_test

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// Writes that count a version up, cut anywhere, count it once: a new time, none, and a restored document.
func TestExpiryTouchFaults(t *testing.T) {
	later := expNow.Add(expDay)
	for _, c := range []struct {
		reason    string
		hot, cold []any
		run       func(ctx context.Context, db *mongo.Database) error
		want      expOrder
	}{
		{"Until", []any{expAged("a", 1)}, nil, func(ctx context.Context, db *mongo.Database) error {
			_, err := expEachVersion.Until("a", later).Run(ctx, db)
			return err
		}, expOrder{ID: "a", Placed: &later, N: 1, V: 2}},
		{"Never", []any{expAged("a", 1)}, nil, func(ctx context.Context, db *mongo.Database) error {
			_, err := expEachVersion.Until("a", time.Time{}).Run(ctx, db)
			return err
		}, expOrder{ID: "a", N: 1, V: 2}},
		{"Restore", nil, []any{expAged("a", 31)}, func(ctx context.Context, db *mongo.Database) error {
			_, err := expEachVersion.Restore("a", later).Run(ctx, db)
			return err
		}, expOrder{ID: "a", Placed: &later, N: 31, V: 2}},
		{
			reason: "Discard, by version", hot: []any{expAged("a", 1)}, cold: []any{expAged("a", 31)},
			run: func(ctx context.Context, db *mongo.Database) error {
				pairs, err := expEachVersion.Both(expNow.Add(-40*expDay)).All(ctx, db)
				for _, p := range pairs {
					if err == nil {
						_, err = expEachVersion.Discard(p, oneOp).Run(ctx, db)
					}
				}
				return err
			},
			want: expOrder{ID: "a", Placed: expAged("a", 1).Placed, N: 1, V: 2},
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Sample: 3, Run: c.run,
				Seed: func(ctx context.Context, db *mongo.Database) error {
					for name, docs := range map[string][]any{"orders": c.hot, "cold": c.cold} {
						if len(docs) > 0 {
							expPut(t, ctx, db, name, docs...)
						}
					}
					return nil
				},
				Check: func(t testing.TB, db *mongo.Database) {
					got, err := expOrders.ByID("a").One(context.Background(), db)
					if diff := mongotest.Diff(c.want, got); diff != "" || err != nil {
						t.Errorf("%s, %v", diff, err)
					}
				},
			})
		})
	}
}
