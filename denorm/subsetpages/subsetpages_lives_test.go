package subsetpages_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Whole lives of a thread pass between any two commands of an operation. The thread that is there at the end shows the
// newest of its pages' remarks, once the checks' job has run, and holds each remark of its own life.
func TestSubsetPagesLives(t *testing.T) {
	tenancy.Differs(t, "an _id that is marked as deleted can't be inserted again")
	operation := func(name string, run dbFunc) testkit.Operation {
		return testkit.Operation{
			Name: name,
			Run:  func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error { return run(ctx, db) },
		}
	}
	insert := operation("insert", func(ctx context.Context, db *mongo.Database) error {
		return testkit.Exec(ctx, db, model.NewPlan(threads.Insert(thread{ID: "a"})))
	})
	remove := operation("delete", deleteThread)
	add := operation("append", appendAll(20, 21, 22, 23))
	lives := []testkit.Life{{remove, insert}, {remove, insert, add}, {remove, insert, remove, insert, add}}
	ops := []testkit.Operation{
		operation("append 9", appendAll(9)),
		operation("remove 2", testkit.Changed(newest.Remove("a", "r2"))),
		operation("set 2", testkit.Changed(newest.Set("a", "r2", bson.D{testkit.E("likes", 5)}))),
	}
	for _, op := range ops {
		testkit.LiveBetween(t, op, lives, modeltest.InterleaveCase{Seed: beginWith(1, 2, 3, 4)},
			[]error{model.ErrNotFound, model.ErrStale},
			func(t testing.TB, db *mongo.Database, lived testkit.Lived) {
				if err := testkit.MendedNow(newest.Checks()...)(context.Background(), db); err != nil {
					t.Fatal(err)
				}
				doc, err := threads.ByID("a").One(context.Background(), db)
				if err != nil {
					t.Fatal(err)
				}
				if n := len(lived.Names); lived.Names[n-1] == "append" &&
					(len(doc.Newest) != 2 || doc.Newest[0].At != 23 || doc.Newest[1].At != 22) {
					t.Errorf("the thread shows %+v", doc.Newest)
				}
				testkit.WantNothingFound(t, db, newest.Checks())
			})
	}
}
