package indextable_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A repair of an index table that finds every kind of drift.
func TestIndexTableRepairFaults(t *testing.T) {
	parallel(t)
	ann, bob := member{ID: "a", Name: "Ann", City: "Rome", Email: "a@x", Tags: []string{"x"}}, member{ID: "b", Name: "Bob", City: "Oslo", Email: "b@x", Tags: []string{"x", "y"}}
	spoiled := func(x *denorm.IndexTable[member, string], entries string) dbFunc {
		return func(ctx context.Context, db *mongo.Database) error {
			lost := x.Insert(member{ID: "z", City: "Lost", Email: "z@x"}, token(3))
			lost.Steps = lost.Steps[:1]
			err := exec(ctx, db, x.Insert(bob, token(1)), lost, model.NewPlan(members.Insert(ann)))
			return errors.Join(err, updates(ctx, db, "members", "b", bson.D{e("$set", bson.D{e("name", "Bo")})}))
		}
	}
	runFaults(t, map[string]modeltest.FaultCase{
		"repair": {Seed: spoiled(byCity, "cities"), Run: mendedByJobs(byCity.Checks()...), Check: func(t testing.TB, db *mongo.Database) {
			wantDrifts(t, db, byCity)
			wantDocs(t, db, docs{"cities": {entry("Oslo", "b", named("Bo", ""), true, 1), entry("Rome", "a", named("Ann", ""), true)}})
		}},
		"unique repair": {Seed: spoiled(byEmail, "emails"), Run: mendedByJobs(byEmail.Checks()...), Check: func(t testing.TB, db *mongo.Database) { wantDrifts(t, db, byEmail) }},
	})
}
