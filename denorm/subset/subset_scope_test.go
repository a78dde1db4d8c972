package subset_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Copies of whole children have the fields that scopes add to the children.
func TestSubsetStamped(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Feature{Name: "new fields in the order of their names", Probe: addsByName})
		testkit.MustExec(t, db, model.NewPlan(threads.Insert(thread{ID: "t"}), threads.Insert(thread{ID: "u"})))
		at := 0
		request := func(collections ...string) model.DB {
			at++
			s := model.Scope{
				Tenant: bson.D{testkit.E("team", "x")}, Insert: bson.D{testkit.E("by", "ann")},
				Set:         bson.D{testkit.E("at1", at)},
				Collections: collections,
			}
			return model.Scope{Set: bson.D{testkit.E("at2", -at)}, Collections: collections}.On(s.On(db))
		}
		want := func(reason string) {
			t.Helper()
			if found, err := testkit.FoundBy(t.Context(), db, wholeTwo.Checks()); err != nil || len(found) > 0 {
				t.Errorf("%s: %v, %v", reason, found, err)
			}
		}
		for _, scoped := range [][]string{nil, {"remarks"}} {
			if _, err := db.Collection("remarks").DeleteMany(t.Context(), bson.D{}); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Collection("threads").
				UpdateMany(t.Context(), bson.D{}, bson.D{
					testkit.E("$set", bson.D{testkit.E("team", "x")}),
					testkit.E("$unset", bson.D{testkit.E("whole", "")}),
				}); err != nil {
				t.Fatal(err)
			}
			for i, id := range []string{"a", "b", "c"} {
				if _, _, err := whole.Insert(remark{ID: id, Thread: "t", At: i}).
					Run(t.Context(), request(scoped...)); err != nil {
					t.Fatal(err)
				}
				want("insert " + id)
			}
			for _, set := range []bson.D{
				{testkit.E("text", "x")}, {testkit.E("likes", 2), testkit.E("text", "y")}, {testkit.E("at", 0)},
				{testkit.E("thread", "u")},
			} {
				if _, _, err := whole.Set("c", set).Run(t.Context(), request(scoped...)); err != nil {
					t.Fatal(err)
				}
				want(model.Shell(set))
			}
			if _, _, err := whole.Delete("b").Run(t.Context(), request(scoped...)); err != nil {
				t.Fatal(err)
			}
			want("delete")
		}
	})
}
