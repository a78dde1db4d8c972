package outlier_test

import (
	"context"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Whole lives of a book pass between any two commands of an append or a removal. If the book is there at the end, it has each buyer that
// was acknowledged, once the checks' job has run: it may give a new book the flag of the old one's overflow.
func TestOutlierLives(t *testing.T) {
	tenancy.Differs(t, "an _id that is marked as deleted can't be inserted again")
	insert := operation{Name: "insert", Run: func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error {
		return exec(ctx, db, model.NewPlan(books.Insert(book{ID: "a"})))
	}}
	remove := operation{Name: "delete", Run: func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error {
		return exec(ctx, db, buyersOf.Delete("a"))
	}}
	appendTo := func(buyers string) operation {
		return operation{Name: "append " + buyers, Run: func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error {
			return outlierAppend(ctx, db, buyersOf, "a", buyers)
		}}
	}
	lives := []testkit.Life{{remove, insert}, {remove, insert, appendTo("p")}, {remove, insert, appendTo("p q r")}}
	for _, stored := range []string{"u", "u v", "u v w"} {
		seed := inTurn(testkit.Stored(docs{"books": {book{ID: "a"}}, "buyers": nil}),
			func(ctx context.Context, db *mongo.Database) error {
				return outlierAppend(ctx, db, buyersOf, "a", stored)
			})
		testkit.LiveBetween(t, appendTo("x"), lives, modeltest.InterleaveCase{Seed: seed}, []error{model.ErrNotFound, model.ErrStale},
			func(t testing.TB, db *mongo.Database, lived testkit.Lived) {
				job := testkit.InTurn(testkit.MendedNow(buyersOf.Checks()...), testkit.MendedNow(buyersOf.Checks()...))
				if err := job(context.Background(), db); err != nil {
					t.Fatal(err)
				}
				list, err := buyersOf.Elements("a").All(context.Background(), db)
				if err != nil {
					t.Fatal(err)
				}
				var ids []string
				for _, b := range list {
					ids = append(ids, b.ID)
				}
				for _, name := range lived.Names {
					for _, id := range map[string][]string{"append p": {"p"}, "append p q r": {"p", "q", "r"}}[name] {
						if !slices.Contains(ids, id) {
							t.Errorf("%s is lost: %v", id, ids)
						}
					}
				}
			})
	}
}
