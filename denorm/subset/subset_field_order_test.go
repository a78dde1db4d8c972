package subset_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/denorm/subset"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The check finds nothing where a change added fields, one or several, in whatever order they were given: the stored
// copy has its fields in the order in which the check compares them.
func TestSubsetSetKeepsFieldOrder(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Feature{Name: "new fields in the order of their names", Probe: addsByName})
		testkit.MustExec(t, db, model.NewPlan(threads.Insert(thread{ID: "t"})))
		_, _, notes := byTwo()
		mustRun(t, db, notes.Insert(remark{ID: "a", Thread: "t", At: 1}),
			notes.Insert(remark{ID: "b", Thread: "t", At: 2}))
		for _, x := range []*subset.Subset[thread, string, remark, string]{newestThree, wholeTwo} {
			for _, id := range []string{"a", "b"} {
				testkit.MustExec(t, db,
					model.NewPlan(remarks.Update(id, bson.D{
						testkit.E("$unset", bson.D{testkit.E("text", ""), testkit.E("likes", "")}),
					})))
			}
			if err := testkit.MendedNow(x.Checks()...)(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			for _, id := range []string{"a", "b"} {
				if err := runChange(t.Context(), db,
					notes.Set(id, bson.D{testkit.E("text", "x"), testkit.E("likes", 1)})); err != nil {
					t.Fatal(err)
				}
				if found, err := testkit.FoundBy(t.Context(), db, x.Checks()); err != nil || len(found) > 0 {
					t.Errorf("after a change of %s: %v, %v", id, found, err)
				}
			}
		}
	})
}

// addsByName reports whether $set adds new fields in the order of their names, as MongoDB does since 5.0.
func addsByName(ctx context.Context, db *mongo.Database) error {
	c := db.Collection("needorder")
	_, errInsert := c.InsertOne(ctx, bson.D{testkit.E("_id", 1)})
	_, errSet := c.UpdateByID(ctx, 1, bson.D{testkit.E("$set", bson.D{testkit.E("b", 1), testkit.E("a", 1)})})
	var got bson.D
	err := errors.Join(errInsert, errSet, c.FindOne(ctx, bson.D{testkit.E("_id", 1)}).Decode(&got), c.Drop(ctx))
	if err == nil && got[1].Key != "a" {
		err = fmt.Errorf("got %v", got)
	}
	return err
}

// A copy with the fields in another order isn't equal for a query: it is found, mended once, and then right.
func TestSubsetFindsFieldOrder(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.MustExec(t, db, model.NewPlan(threads.Insert(thread{ID: "t"})))
		mustRun(t, db, newest.Insert(remark{ID: "a", Thread: "t", At: 1, Text: "x"}))
		turned := bson.D{
			testkit.E("$set", bson.D{
				testkit.E("newest", bson.A{bson.D{testkit.E("at", 1), testkit.E("text", "x"), testkit.E("_id", "a")}}),
			}),
		}
		testkit.MustExec(t, db, model.NewPlan(threads.Update("t", turned)))
		found, err := testkit.FoundBy(t.Context(), db, newestThree.Checks())
		if err != nil || len(found) != 1 {
			t.Fatalf("found %v, %v", found, err)
		}
		job := newestThree.Checks()[0].Job()
		for _, want := range []int64{1, 0} {
			if p, err := job.Run(t.Context(), db, model.JobOptions{}); err != nil || p.Modified != want {
				t.Errorf("mended %d, %v, want %d", p.Modified, err, want)
			}
		}
		if found, err := testkit.FoundBy(t.Context(), db, newestThree.Checks()); err != nil || len(found) > 0 {
			t.Errorf("then found %v, %v", found, err)
		}
	})
}
