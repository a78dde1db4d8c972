package indextable_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A repair of an index table that finds every kind of drift.
func TestIndexTableRepairFaults(t *testing.T) {
	testkit.Parallel(t)
	ann, bob := member{ID: "a", Name: "Ann", City: "Rome", Email: "a@x", Tags: []string{"x"}}, member{
		ID: "b", Name: "Bob", City: "Oslo", Email: "b@x", Tags: []string{"x", "y"},
	}
	spoiled := func(s *memberStore) testkit.DBFunc {
		return func(ctx context.Context, db *mongo.Database) error {
			lost := cutAfter(1, s.Insert(member{ID: "z", City: "Lost", Email: "z@x"}))
			_, err := members.Insert(ann).Run(ctx, db)
			return errors.Join(run(ctx, db, testkit.Token(1), s.Insert(bob)), run(ctx, db, testkit.Token(3), lost), err,
				testkit.Updates(ctx, db, "members", "b", bson.D{testkit.E("$set", bson.D{testkit.E("name", "Bo")})}))
		}
	}
	testkit.RunFaults(t, map[string]modeltest.FaultCase{
		"repair": {
			Seed: spoiled(cityStore), Run: testkit.MendedByJobs(byCity.Checks()...),
			Check: func(t testing.TB, db *mongo.Database) {
				wantDrifts(t, db, byCity)
				wantEntries(t, db, "cities", "Oslo of b: {name: 'Bo', home: {}}", "Rome of a: {name: 'Ann', home: {}}")
			},
		},
		"unique repair": {
			Seed: spoiled(emailStore), Run: testkit.MendedByJobs(byEmail.Checks()...),
			Check: func(t testing.TB, db *mongo.Database) { wantDrifts(t, db, byEmail) },
		},
	})
}
