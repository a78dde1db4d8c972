package migrate_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/migrate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Under a scope without a tenant, which adds fields to new documents and sets one in each write, a migration ends: what
// is copied is as it
// was, so that it is recognized.
func TestMigrationStamped(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	at := 0
	request := func(db *mongo.Database) model.DB {
		at++
		return model.Scope{Insert: bson.D{{Key: "by", Value: "ann"}}, Set: bson.D{{Key: "changed", Value: at}}}.On(db)
	}
	lists := stored{"p": {`{"_id":"a","list":[{"id":2,"t":"x"},{"id":1}],"changed":0}`, `{"_id":"b","list":[]}`}}
	children := stored{
		"p": {`{"_id":"a"}`, `{"_id":"b"}`},
		"c": {`{"_id":1,"post":"a","at":1,"t":"x","changed":0}`, `{"_id":2,"post":"a","at":0}`},
	}
	for _, c := range []struct {
		name   string
		m      *migrate.Migration
		before stored
	}{
		{
			"extract by parent", newExtract(migrate.ExtractSpec[string, int]{Key: "id", Parent: "post", Order: "at"}),
			lists,
		},
		{"extract by refs", newExtract(migrate.ExtractSpec[string, int]{Key: "id", Refs: "ids"}), lists},
		{"absorb by parent", newAbsorb(migrate.AbsorbSpec{Parent: "post", Order: "at", Key: "id"}), children},
		{"absorb by refs", newAbsorb(migrate.AbsorbSpec{Refs: "ids", Key: "id"}), stored{
			"p": {`{"_id":"a","ids":[2,1]}`}, "c": {`{"_id":1,"t":"x","changed":0}`, `{"_id":2}`},
		}},
		{"invert to references", newInvert(migrate.InvertSpec{}), stored{
			"p": {`{"_id":"a","list":[2,1]}`}, "c": {`{"_id":1,"of":{"x":1}}`, `{"_id":2}`},
		}},
		{"invert to lists", newInvert(migrate.InvertSpec{ToLists: true}), stored{
			"p": {`{"_id":"a"}`}, "c": {`{"_id":1,"of":{"parent":"a"}}`, `{"_id":2,"of":{"parent":"a"}}`},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				if err := c.before.insert(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				for i, job := range []model.Job{c.m.Copy(), c.m.Copy(), c.m.Drop(), c.m.Drop()} {
					if p, err := job.Run(t.Context(), request(db), model.JobOptions{}); err != nil || i == 1 &&
						p.Modified != 0 {
						t.Errorf("%d: %s: %v, %v", i, job.Name, p, err)
					}
					if n, err := db.Collection("c").CountDocuments(
						t.Context(), bson.D{{Key: "by", Value: bson.D{{Key: "$exists", Value: true}}}},
					); err != nil || n != 0 {
						t.Errorf("%d: %d documents aren't as they were copied, %v", i, n, err)
					}
					for found, err := range c.m.Verify().Find().Each(t.Context(), request(db)) {
						if i < 2 {
							t.Errorf("%d: %v, %v", i, found, err)
						}
					}
				}
			})
		})
	}
}
