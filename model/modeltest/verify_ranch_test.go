package modeltest_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Stables know how many horses they have, and a horse shows its stable's name.
type (
	stable struct {
		ID      string          `bson:"_id"`
		Name    string          `bson:"name"`
		Version int64           `bson:"version"`
		Horses  int64           `bson:"horses"`
		Ops     []bson.ObjectID `bson:"ops,omitempty"`
	}
	horse struct {
		ID      string                 `bson:"_id"`
		Stable  string                 `bson:"stable"`
		Door    string                 `bson:"door"`
		DoorV   int64                  `bson:"doorV"`
		Pending *denorm.CounterPending `bson:"pending,omitempty"`
	}
)

var (
	stables = model.NewCollection[stable, string]("stables")
	horses  = model.NewCollection[horse, string]("horses")
	numbers = denorm.NewCounter(horses, "stable", stables, denorm.CounterSpec{Count: "horses", Tokens: "ops", Pending: "pending"})
	doors   = denorm.NewCopy(stables, horses, denorm.CopySpec{
		KeyPath: "stable", Fields: []denorm.Field{{From: "name", To: "door"}}, Version: "version", VersionTo: "doorV",
	})
	ranch = model.New("ranch", numbers, doors)
)

// sell takes a horse out of its stable. The token is the same when it is tried again.
func sell(ctx context.Context, db model.DB, horse string, op bson.ObjectID) error {
	_, _, err := numbers.Delete(horse, op).Run(ctx, db)
	return err
}

// move puts a horse into another stable, with the name on its door.
func move(ctx context.Context, db model.DB, horse, to string, op bson.ObjectID) error {
	s, err := stables.ByID(to).One(ctx, db)
	if err != nil {
		return err
	}
	set, err := doors.Fields(&s) // with the stable's _id, by which the numbers follow
	if err != nil {
		return err
	}
	if _, _, err := numbers.Set(horse, set, op).Run(ctx, db); err != nil {
		return err
	}
	_, _, err = doors.Refresh(to, horse).Run(ctx, db) // somebody may have renamed it meanwhile
	return err
}

// rename renames a stable, and what is on its horses' doors.
func rename(ctx context.Context, db model.DB, id, name string) error {
	_, _, err := model.Change[stable]{
		Read: func(ctx context.Context, db model.DB) (stable, error) { return stables.ByID(id).One(ctx, db) },
		Decide: func(s stable) (model.Plan, error) {
			if s.Name == name { // by this operation, which may have been cut
				return doors.Propagate(&s), nil
			}
			return doors.Set(&s, bson.D{{Key: "name", Value: name}}), nil
		},
	}.Run(ctx, db)
	return err
}

// A whole model: each operation by itself, cut, and together with each other one.
func TestVerify(t *testing.T) {
	op := func(n byte) bson.ObjectID { return bson.ObjectID{0x65, 11: n} }
	modeltest.Verify(t, ranch, modeltest.VerifyCase{
		Seed: func(ctx context.Context, db model.DB) error {
			_, err := model.Concat( // what is derived is left to the checks
				stables.InsertMany([]stable{{ID: "n", Name: "North"}, {ID: "s", Name: "South"}}),
				horses.InsertMany([]horse{{ID: "bay", Stable: "n"}, {ID: "dun", Stable: "n"}, {ID: "roan", Stable: "s"}}),
			).Run(ctx, db)
			return err
		},
		Operations: []modeltest.VerifyOperation{
			{Name: "sell", Run: func(ctx context.Context, db model.DB) error { return sell(ctx, db, "bay", op(1)) }},
			{Name: "move", Run: func(ctx context.Context, db model.DB) error { return move(ctx, db, "bay", "s", op(2)) }},
			{Name: "rename", Run: func(ctx context.Context, db model.DB) error { return rename(ctx, db, "s", "Sunset") }},
		},
		Reads: []modeltest.VerifyOperation{
			{Name: "horses of a stable", Run: func(ctx context.Context, db model.DB) error {
				_, err := horses.Find(bson.D{{Key: "stable", Value: "n"}}).All(ctx, db)
				return err
			}},
			{Name: "a horse that was sold", Refused: []error{model.ErrNotFound}, Run: func(ctx context.Context, db model.DB) error {
				_, err := horses.ByID("pie").One(ctx, db)
				return err
			}},
		},
		Scopes: []model.Scope{{Tenant: bson.D{{Key: "ranch", Value: "ours"}}}},
		Ignore: map[string]string{"stables.ops": "the tokens of the latest operations, in their order"},
		Max:    10, // few orders, for an example
	})
}
