package modeltest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Stables know how many horses they have, and a horse shows its stable's name.
type (
	stable struct {
		ID      string `bson:"_id"`
		Name    string `bson:"name"`
		Version int64  `bson:"version"`
		Horses  int64  `bson:"horses"`
	}
	horse struct {
		ID     string `bson:"_id"`
		Stable string `bson:"stable"`
		Door   string `bson:"door"`
		DoorV  int64  `bson:"doorV"`
	}
)

var (
	stables = model.NewCollection[stable, string]("stables")
	horses  = model.NewCollection[horse, string]("horses")
	numbers = counter.New(horses, "stable", stables, counter.Spec{Count: "horses"})
	doors   = copies.New(stables, horses, copies.Spec{
		KeyPath: "stable", Fields: []copies.Field{{From: "name", To: "door"}}, Version: "version", VersionTo: "doorV",
	})
	ranch       = model.New("ranch", numbers, doors)
	stableStore = model.NewStore(ranch, stables)
	horseStore  = model.NewStore(ranch, horses)
)

// sell takes a horse out of its stable. The token is the same when it is tried again.
func sell(ctx context.Context, db model.DB, horse string, op bson.ObjectID) error {
	_, _, err := horseStore.Delete(horse).Run(model.WithToken(ctx, op), db)
	if errors.Is(err, model.ErrNotFound) { // it was sold before
		return nil
	}
	return err
}

// move puts a horse into another stable, with the name on its door.
func move(ctx context.Context, db model.DB, horse, to string, op bson.ObjectID) error {
	_, _, err := horseStore.Set(horse, bson.D{{Key: "stable", Value: to}}).Run(model.WithToken(ctx, op), db)
	return err
}

// rename renames a stable, and what is on its horses' doors.
func rename(ctx context.Context, db model.DB, id, name string, op bson.ObjectID) error {
	_, _, err := stableStore.Set(id, bson.D{{Key: "name", Value: name}}).Run(model.WithToken(ctx, op), db)
	return err
}

// A whole model: each operation by itself, cut, and together with each other one.
func TestVerify(t *testing.T) {
	op := func(n byte) bson.ObjectID { return bson.ObjectID{0x65, 11: n} }
	modeltest.Verify(t, ranch, modeltest.VerifyCase{
		Seed: func(ctx context.Context, db model.DB) error {
			list := []horse{{ID: "bay", Stable: "n"}, {ID: "dun", Stable: "n"}, {ID: "roan", Stable: "s"}}
			_, _, err := stableStore.InsertMany(stable{ID: "n", Name: "North"}, stable{ID: "s", Name: "South"}).Run(ctx, db)
			if err == nil {
				_, _, err = horseStore.InsertMany(list...).Run(ctx, db)
			}
			return err
		},
		Operations: []modeltest.VerifyOperation{
			{Name: "sell", Run: func(ctx context.Context, db model.DB) error { return sell(ctx, db, "bay", op(1)) }},
			{Name: "move", Run: func(ctx context.Context, db model.DB) error { return move(ctx, db, "bay", "s", op(2)) }},
			{Name: "rename", Run: func(ctx context.Context, db model.DB) error { return rename(ctx, db, "s", "Sunset", op(3)) }},
		},
		Reads: []modeltest.VerifyOperation{
			{Name: "horses of a stable", Run: func(ctx context.Context, db model.DB) error {
				_, err := horses.Find(bson.D{{Key: "stable", Value: "n"}}).All(ctx, db)
				return err
			}},
			{
				Name: "a horse that was sold", Refused: []error{model.ErrNotFound},
				Run: func(ctx context.Context, db model.DB) error {
					_, err := horses.ByID("pie").One(ctx, db)
					return err
				},
			},
		},
		Scopes: []model.Scope{{Tenant: bson.D{{Key: "ranch", Value: "ours"}}}},
		Ignore: map[string]string{
			"stables._m": "the tokens of the latest actions, in their order",
			"horses._m":  "the tokens of the latest actions, in their order",
		},
		Max: 10, // few orders, for an example
	})
}
