package embed_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
)

// Between any two commands of an operation, the lot is deleted and inserted again with 50 pieces more, and changed as
// often as before. The operation sees one of the two lots: it never stores the pieces of the first lot in the second,
// and doesn't delete the second lot by a version of the first.
func TestVersionedLives(t *testing.T) {
	tenancy.Differs(t, "an _id that is marked as deleted can't be inserted again")
	for name, v := range map[string]*embed.Versioned[verLot, string]{
		"without tokens": verPlain, "with tokens": verTokens,
	} {
		t.Run(name, func(t *testing.T) {
			ops := verOperations(v)
			life := func(names ...string) (out testkit.Life) {
				for _, name := range names {
					out = append(out, testkit.Operation{
						Name: name,
						Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
							return ops[name](ctx, db, op)
						},
					})
				}
				return out
			}
			seed := func(ctx context.Context, db *mongo.Database) error {
				if _, _, err := storeOf(v).Insert(verLot{ID: "l", Qty: 5}).Run(ctx, db); err != nil {
					return err
				}
				return ops["add"](ctx, db, oid(2))
			}
			lives := []testkit.Life{
				life("delete", "insert"), life("delete", "insert", "add"), life("delete", "insert", "add", "add"),
			}
			if !testkit.EveryPair {
				lives = lives[1:2]
			}
			for _, name := range []string{"edit", "replace", "update", "delete as read"} {
				c := modeltest.InterleaveCase{Seed: seed}
				check := func(t testing.TB, db *mongo.Database, lived testkit.Lived) { verLived(t, db, name, lived) }
				refused := []error{model.ErrNotFound, model.ErrStale}
				testkit.LiveBetween(t, life(name)[0], lives, c, refused, check)
				c.Transactions = true
				testkit.LiveBetween(t, testkit.InTx(name, ops[name]), lives, c, refused, check)
			}
		})
	}
}

// verOperations are operations on the lot l, by their names.
func verOperations(
	v *embed.Versioned[verLot, string],
) map[string]func(ctx context.Context, db model.DB, op bson.ObjectID) error {
	token := func(op bson.ObjectID) bson.ObjectID {
		if v == verPlain {
			return verNone
		}
		return op
	}
	store := storeOf(v)
	update := func(more int32) func(context.Context, model.DB, bson.ObjectID) error {
		return func(ctx context.Context, db model.DB, op bson.ObjectID) error {
			lot, err := verLots.ByID("l").One(ctx, db)
			if err == nil {
				_, err = v.Update("l", lot.Version, d("$set", d("qty", lot.Qty+more)), token(op)).Run(ctx, db)
			}
			return err
		}
	}
	change :=
		func(decide func(lot verLot) model.ChangeOf[model.Stored[verLot]]) func(context.Context, model.DB, bson.ObjectID) error {
			return func(ctx context.Context, db model.DB, op bson.ObjectID) error {
				lot, err := verLots.ByID("l").One(ctx, db)
				if err == nil {
					_, _, err = decide(lot).Run(model.WithToken(ctx, op), db)
				}
				return err
			}
		}
	return map[string]func(context.Context, model.DB, bson.ObjectID) error{
		"edit": func(ctx context.Context, db model.DB, op bson.ObjectID) error {
			_, err := verTaken(ctx, db, store, token(op))
			return err
		},
		"replace": change(func(lot verLot) model.ChangeOf[model.Stored[verLot]] {
			lot.Qty--
			return store.Replace(lot)
		}),
		"update": update(-1), "add": update(1),
		"delete as read": change(func(lot verLot) model.ChangeOf[model.Stored[verLot]] {
			return store.Where(d("version", lot.Version), embed.ErrVersion).Delete("l")
		}),
		"delete": func(ctx context.Context, db model.DB, _ bson.ObjectID) error {
			_, err := verLots.Delete("l").Run(ctx, db)
			return err
		},
		"insert": func(ctx context.Context, db model.DB, op bson.ObjectID) error {
			_, _, err := store.Insert(verLot{ID: "l", Qty: 50}).Run(model.WithToken(ctx, op), db)
			return err
		},
	}
}

// verLived compares the lot with what the operations that returned nil did.
func verLived(t testing.TB, db *mongo.Database, name string, lived testkit.Lived) {
	t.Helper()
	lot, err := verLots.ByID("l").All(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	qty := int32(50)
	for _, name := range lived.Names {
		if name == "add" {
			qty++
		}
	}
	switch {
	case len(lot) == 0 && name == "delete as read" && lived.Op:
	case len(lot) == 1 && lot[0].Qty == qty:
	case len(lot) == 1 && lot[0].Qty == qty-1 && lived.Op:
	default:
		t.Errorf("the lots are %+v after %v", lot, lived)
	}
}
