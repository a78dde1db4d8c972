package expiry_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/model/schema"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Under a scope that sets a field in each write, a copy keeps the document's own value. So a job that was cut, and runs
// again, finds its copies.
func TestExpiryKeepsStamps(t *testing.T) {
	var at atomic.Int64
	at.Store(100)
	for name, x := range map[string]*schema.Expiry[expOrder, string]{"whole": expArchived, "version": expVersion} {
		t.Run(name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Sample: 8,
				Seed: func(ctx context.Context, db *mongo.Database) error {
					expPut(t, ctx, db, "orders", expAged("a", 31), expAged("b", 31))
					old := expAged("b", 31)
					old.N, old.V = 5, 0
					expPut(t, ctx, db, "cold", old)
					_, err := db.Collection("orders").
						UpdateMany(ctx, bson.D{}, bson.D{{Key: "$set", Value: bson.D{{Key: "at", Value: 1}}}})
					return err
				},
				Run: func(ctx context.Context, db *mongo.Database) error {
					later := model.Scope{Set: bson.D{{Key: "at", Value: at.Add(1)}}}.On(db)
					_, err := x.Archive(expNow).Run(ctx, later, model.JobOptions{})
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) {
					expWant(t, db, nil, []string{"a", "b"})
					for id, earlier := range map[string]int{"a": 0, "b": 1} {
						d, err := db.Collection("cold").FindOne(context.Background(),
							bson.D{{Key: "_id", Value: id}}).Raw()
						if err != nil {
							t.Fatal(err)
						}
						var list []bson.RawValue
						if held, ok := d.Lookup("archivedEarlier").ArrayOK(); ok {
							list, _ = held.Values()
						}
						if d.Lookup("at").AsInt64() != 1 || len(list) != earlier {
							t.Errorf("%s is archived as %s", id, d)
						}
					}
				},
			})
		})
	}
}
