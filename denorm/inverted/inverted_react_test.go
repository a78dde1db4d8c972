package inverted_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A store keeps the entries of all paths, with transactions and without.
func TestInvertedStore(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		entries := func(want int) {
			t.Helper()
			n := 0
			for _, path := range []string{"city", "tags", "home.zip"} {
				found, err := (&model.Find[bson.Raw]{Query: model.Query{Collection: "by." + path}}).All(ctx, db)
				if err != nil {
					t.Fatal(err)
				}
				n += len(found)
			}
			if n != want {
				t.Errorf("%d entries, want %d", n, want)
			}
			for f, err := range model.New("members", membersBy).Audit().Each(ctx, db) {
				t.Errorf("the audit finds %s (%v)", f, err)
			}
		}
		check := func(on model.DB, id string) { // a soft deletion keeps the _id
			t.Helper()
			ann := member{ID: id, City: "Rome", Tags: []string{"x", "y"}}
			for _, c := range []struct {
				change  model.ChangeOf[model.Stored[member]]
				entries int
			}{
				{stored.Insert(ann), 3},
				{stored.Set(id, bson.D{testkit.E("tags", []string{"y", "z", "v"}), testkit.E("city", nil)}), 3},
				{stored.Delete(id), 0},
			} {
				if _, _, err := c.change.Run(ctx, on); err != nil {
					t.Fatal(err)
				}
				entries(c.entries)
			}
		}
		check(db, "a")
		mongotest.Need(t, db, mongotest.Transactions)
		tx, err := model.WithTransactions(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		check(tx, "b")
	})
}
