package outlier_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Whole lives of a book pass between any two commands of an append. If the book is there at the end, it has each buyer
// that was acknowledged since it was inserted, and the checks find nothing.
func TestOutlierLives(t *testing.T) {
	tenancy.Differs(t, "an _id that is marked as deleted can't be inserted again")
	runs := map[string]func(ctx context.Context, db model.DB) error{
		"insert": func(ctx context.Context, db model.DB) error {
			return testkit.Exec(ctx, db, model.NewPlan(titles.Insert(titled{ID: "a"})))
		},
		"delete": func(ctx context.Context, db model.DB) error {
			p := purchases.Delete("a")
			if _, plain := db.(*mongo.Database); !plain {
				_, err := p.RunTx(ctx, db)
				return err
			}
			return testkit.Exec(ctx, db, p)
		},
	}
	for _, id := range []string{"p", "q", "r", "x"} {
		runs["append "+id] = func(ctx context.Context, db model.DB) error {
			_, err := purchases.Append("a", customer{ID: id}).Run(ctx, db)
			return err
		}
	}
	plain := func(name string) testkit.Operation {
		return testkit.Operation{
			Name: name,
			Run:  func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error { return runs[name](ctx, db) },
		}
	}
	inTx := func(name string) testkit.Operation {
		return testkit.InTx(name, func(ctx context.Context, db model.DB, _ bson.ObjectID) error {
			return runs[name](ctx, db)
		})
	}
	life := func(names ...string) (out testkit.Life) {
		for _, name := range names {
			out = append(out, plain(name))
		}
		return out
	}
	lives := []testkit.Life{
		life("delete"), life("delete", "insert"), life("delete", "insert", "append p"),
		life("delete", "insert", "append p", "append q", "append r"),
	}
	for _, stored := range []string{"u", "u v", "u v w", "u v w 1 2"} {
		seed := testkit.InTurn(testkit.Stored(testkit.Docs{"books": {titled{ID: "a"}}, "buyers": nil}),
			func(ctx context.Context, db *mongo.Database) error {
				return outlierAppend(ctx, db, purchases, "a", stored)
			})
		check := func(t testing.TB, db *mongo.Database, lived testkit.Lived) { wantLived(t, db, lived.Names) }
		refused := []error{model.ErrNotFound, model.ErrStale}
		t.Run(stored, func(t *testing.T) {
			testkit.LiveBetween(t, plain("append x"), lives, modeltest.InterleaveCase{Seed: seed}, refused, check)
			testkit.LiveBetween(t, inTx("append x"), lives,
				modeltest.InterleaveCase{Seed: seed, Transactions: true}, refused, check)
		})
	}
}

// wantLived tests that the checks find nothing, and that the buyers of a list of appends are there.
func wantLived(t testing.TB, db *mongo.Database, appends []string) {
	t.Helper()
	ctx := context.Background()
	for _, check := range purchases.Checks() {
		if found, err := check.All(ctx, db); err != nil || len(found) > 0 {
			t.Errorf("the check %q finds %v, %v", check.Name, found, err)
		}
	}
	list, err := purchases.Elements("a").All(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, b := range list {
		ids = append(ids, b.ID)
	}
	for _, name := range appends {
		if id, is := strings.CutPrefix(name, "append "); is && !slices.Contains(ids, id) {
			t.Errorf("%s is lost: %v", id, ids)
		}
	}
}
