package model_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func TestMergePlans(t *testing.T) {
	byPipeline := updateOne(d("_id", 1), nil)
	byPipeline.Model.(*mongo.UpdateOneModel).Update = mongo.Pipeline{d("$set", d("p", 1))}
	for _, c := range []struct {
		reason        string
		plans         []model.Plan
		want          string
		transactional bool
		refused       bool
	}{
		{"nothing", nil, "", false, false},
		{
			reason: "one document becomes one write, which needs no transaction",
			plans:  []model.Plan{model.NewPlan(up("$set", d("a", 1))), model.NewPlan(up("$inc", d("b", 1)))},

			want:          "db.parts.updateOne({_id: 1}, {$set: {a: 1}, $inc: {b: 1}})",
			transactional: false, refused: false,
		},
		{"what they share is at the place of the first",
			[]model.Plan{
				model.NewPlan(updateOne(d("_id", 2), d("$set", d("a", 2))), up("$set", d("a", 1))),
				model.NewPlan(up("$set", d("b", 1)), updateOne(d("_id", 3), d("$set", d("a", 3)))),
			},
			"db.parts.updateOne({_id: 2}, {$set: {a: 2}})\ndb.parts.updateOne({_id: 1}, {$set: {a: 1, b: 1}})\ndb.parts.updateOne({_id: 3}, {$set: {a: 3}})", false, false},
		{
			reason: "an update by a pipeline stays a step",
			plans: []model.Plan{
				model.NewPlan(up("$set", d("a", 1))), model.NewPlan(byPipeline), model.NewPlan(up("$set", d("b", 1))),
			},

			want:          "db.parts.updateOne({_id: 1}, {$set: {a: 1, b: 1}})\ndb.parts.updateOne({_id: 1}, [{$set: {p: 1}}])",
			transactional: false, refused: false,
		},
		{
			reason: "a condition that would swallow the other's update stays a step",
			plans: []model.Plan{
				model.NewPlan(up("$set", d("a", 1))),
				model.NewPlan(may(guarded(up("$set", d("b", 1)), "v", 1))),
			},

			want:          "db.parts.updateOne({_id: 1}, {$set: {a: 1}})\ndb.parts.updateOne({_id: 1, v: 1}, {$set: {b: 1}})",
			transactional: false, refused: false,
		},
		{
			reason: "a guard, and an update that it guards",
			plans: []model.Plan{
				model.NewPlan(up("$inc", d("v", 1))),
				model.NewPlan(guarded(up("$set", d("b", 1)), "v", d("$lt", 9))),
			},

			want:          "db.parts.updateOne({_id: 1, v: {$lt: 9}}, {$inc: {v: 1}, $set: {b: 1}})",
			transactional: false, refused: false,
		},
		{"what one plan writes twice stays two steps, and the other's goes with the first",
			[]model.Plan{
				model.NewPlan(up("$set", d("mark", 1)), updateOne(d("_id", 2), d("$inc", d("n", 1))), up("$unset", d("mark", ""))),
				model.NewPlan(up("$set", d("b", 1))),
			},
			"db.parts.updateOne({_id: 1}, {$set: {mark: 1, b: 1}})\ndb.parts.updateOne({_id: 2}, {$inc: {n: 1}})\ndb.parts.updateOne({_id: 1}, {$unset: {mark: ''}})", false, false},
		{
			reason: "what moves before a step of its plan",
			plans: []model.Plan{
				model.NewPlan(up("$set", d("a", 1)), updateOne(d("_id", 2), d("$set", d("a", 2)))),
				model.NewPlan(updateOne(d("_id", 2), d("$set", d("b", 2))), up("$set", d("b", 1))),
			},

			want:          "db.parts.updateOne({_id: 1}, {$set: {a: 1, b: 1}})\ndb.parts.updateOne({_id: 2}, {$set: {a: 2, b: 2}})",
			transactional: true, refused: false,
		},
		{
			reason: "equal values for one path",
			plans:  []model.Plan{model.NewPlan(up("$set", d("a", 1))), model.NewPlan(up("$set", d("a", 1)))},

			want: "db.parts.updateOne({_id: 1}, {$set: {a: 1}})", transactional: false, refused: false,
		},
		{
			reason: "one path twice",
			plans:  []model.Plan{model.NewPlan(up("$set", d("a", 1))), model.NewPlan(up("$inc", d("a", 1)))},
			want:   "", transactional: false, refused: true,
		},
	} {
		p := model.MergePlans(c.plans...)
		var conflict *model.ConflictError
		switch {
		case c.refused != errors.As(p.Err(), &conflict):
			t.Errorf("%s: %v", c.reason, p.Err())
		case c.refused:
		case p.String() != c.want || p.Transactional != c.transactional:
			t.Errorf("%s: transactional %t\n%s\nwant\n%s", c.reason, p.Transactional, p, c.want)
		}
	}
}

// Two techniques of one action are applied together, or neither is.
func TestChangeAlso(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		c := db.Collection("parts")
		if _, err := c.InsertMany(t.Context(), []any{d("_id", 1, "n", 1), d("_id", 2, "n", 5)}); err != nil {
			t.Fatal(err)
		}
		change := func(guard int) model.Change {
			return model.ChangeOf[int]{
				Read: func(context.Context, model.DB) (int, error) { return 7, nil },
				Decide: func(n int) (model.Plan, error) {
					return model.NewPlan(up("$set", d("a", n)), updateOne(d("_id", 2), d("$inc", d("n", n)))), nil
				},
				Attempts: 1,
			}.Also(guarded(updateOne(d("_id", 2), d("$set", d("b", 7))), "n", guard))
		}
		if _, err := change(12).Run(t.Context(), db); !errors.Is(err, model.ErrStale) {
			t.Errorf("a guard that doesn't hold: %v", err)
		}
		wantStored(t, c, "{_id: 1, n: 1} {_id: 2, n: 5}")
		result, err := change(5).Run(t.Context(), db) // the guard sees what was stored before
		if err != nil || len(result.Steps) != 2 {
			t.Errorf("%v, %v", result, err)
		}
		wantStored(t, c, "{_id: 1, n: 1, a: 7} {_id: 2, n: 12, b: 7}")
	})
}

func ran[S any](_ S, _ model.Result, err error) error { return err }

func ended(_ model.Result, err error) error { return err }

func wantStored(t *testing.T, c *mongo.Collection, want string) {
	t.Helper()
	cur, err := c.Find(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	var got []bson.Raw
	if err := cur.All(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	text := ""
	for i, raw := range got {
		if i > 0 {
			text += " "
		}
		text += model.Shell(raw)
	}
	if text != want {
		t.Errorf("stored %s, want %s", text, want)
	}
}
