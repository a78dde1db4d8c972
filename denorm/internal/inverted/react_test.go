package inverted_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A store keeps the entries of all paths in a transaction, and names the methods to call without.
func TestInvertedStore(t *testing.T) {
	parallel(t)
	m := model.New("members", membersBy)
	stored := model.NewStore(m, members)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		ann := member{ID: "a", City: "Rome", Tags: []string{"x", "y"}}
		_, _, err := stored.Insert(ann).Run(ctx, db)
		if !errors.Is(err, model.ErrTransactional) || !strings.Contains(err.Error(), "Inverted.Insert") {
			t.Error(err)
		}
		modeltest.NeedTransactions(t, db)
		tx, err := model.WithTransactions(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
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
			for f, err := range m.Audit().Each(ctx, db) {
				t.Errorf("the audit finds %s (%v)", f, err)
			}
		}
		for _, c := range []struct {
			change  model.Change[model.Stored[member]]
			entries int
		}{
			{stored.Insert(ann), 3},
			{stored.Set("a", bson.D{e("tags", []string{"y", "z", "v"}), e("city", nil)}), 3},
			{stored.Delete("a"), 0},
		} {
			if _, _, err := c.change.Run(ctx, tx); err != nil {
				t.Fatal(err)
			}
			entries(c.entries)
		}
	})
}
