package model_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// marking sets a field of part 1 and marks it meanwhile; in a transaction it only sets the field.
func marking() model.Plan {
	p := model.NewPlan(parts.Update(1, d("$set", d("name", "marked"))), parts.Update(1, d("$set", d("name", "set"))))
	p.InTx = []model.Step{parts.Update(1, d("$set", d("name", "lean")))}
	return p
}

// What runs in a transaction, of whoever began it, runs its steps for one; what doesn't, the others.
func TestPlanInTx(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		run := func(want string, steps int, f func(ctx context.Context) (model.Result, error)) {
			t.Helper()
			mustRun(t, db, updateManyPlan(t, db))
			got, err := f(t.Context())
			if err != nil || len(got.Steps) != steps {
				t.Fatalf("%+v, %v: want %d steps", got, err, steps)
			}
			if p, err := parts.ByID(1).One(t.Context(), db); err != nil || p.Name != want {
				t.Errorf("stored %+v, %v: want %s", p, err, want)
			}
		}
		run("set", 2, func(ctx context.Context) (model.Result, error) { return marking().Run(ctx, db) })
		mongotest.Need(t, db, mongotest.Transactions)
		run("lean", 1, func(ctx context.Context) (model.Result, error) { return marking().RunTx(ctx, db) })
		run("lean", 1, func(ctx context.Context) (model.Result, error) { return marking().Run(ctx, withTransactions(t, db)) })
		run("lean", 1, func(ctx context.Context) (got model.Result, err error) {
			err = model.InTx(ctx, db, func(ctx context.Context) error {
				got, err = marking().Run(ctx, db)
				return err
			})
			return got, err
		})
		run("lean", 1, func(ctx context.Context) (got model.Result, err error) {
			session, err := db.Client().StartSession()
			if err != nil {
				return got, err
			}
			defer session.EndSession(ctx)
			_, err = session.WithTransaction(ctx, func(ctx context.Context) (any, error) {
				got, err = marking().Run(ctx, db)
				return nil, err
			})
			return got, err
		})
		change := model.ChangeOf[int]{
			Read:   func(context.Context, model.DB) (int, error) { return 0, nil },
			Decide: func(int) (model.Plan, error) { return marking(), nil },
		}
		for want, tx := range map[string]bool{"set": false, "lean": true} {
			change.Tx = tx
			mustRun(t, db, updateManyPlan(t, db))
			if _, _, err := change.Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if p, err := parts.ByID(1).One(t.Context(), db); err != nil || p.Name != want {
				t.Errorf("a change stored %+v, %v: want %s", p, err, want)
			}
		}
	})
}

// Plans that are joined keep both lists of steps, and a scope reaches both.
func TestPlanInTxJoined(t *testing.T) {
	other := model.NewPlan(parts.Update(1, d("$inc", d("qty", 1))), parts.Delete(2))
	const (
		steps = "db.parts.updateOne({_id: 1}, {$set: {name: 'marked'}})\ndb.parts.updateOne({_id: 1}, {$set: {name: 'set'}})\n"
		more  = "db.parts.updateOne({_id: 1}, {$inc: {qty: 1}})\ndb.parts.deleteOne({_id: 2})\n"
		lean  = "// in a transaction: db.parts.updateOne({_id: 1}, {$set: {name: 'lean'}})"
	)
	ours := model.Scope{Tenant: bson.D{{Key: "t", Value: 1}}}
	for _, c := range []struct {
		reason string
		got    model.Plan
		want   string
	}{
		{"alone", marking(), steps + lean},
		{"concat", model.Concat(marking(), other), steps + more + lean +
			"\n// in a transaction: db.parts.updateOne({_id: 1}, {$inc: {qty: 1}})\n// in a transaction: db.parts.deleteOne({_id: 2})"},
		{"merged", model.MergePlans(other, marking()),
			"db.parts.updateOne({_id: 1}, {$inc: {qty: 1}, $set: {name: 'marked'}})\ndb.parts.deleteOne({_id: 2})\ndb.parts.updateOne({_id: 1}, {$set: {name: 'set'}})\n" +
				"// in a transaction: db.parts.updateOne({_id: 1}, {$inc: {qty: 1}, $set: {name: 'lean'}})\n// in a transaction: db.parts.deleteOne({_id: 2})"},
		{
			reason: "scoped", got: ours.Plan(marking()),
			want: "db.parts.updateOne({_id: 1, t: Long('1')}, {$set: {name: 'marked'}})\ndb.parts.updateOne({_id: 1, t: Long('1')}, {$set: {name: 'set'}})\n" +
				"// in a transaction: db.parts.updateOne({_id: 1, t: Long('1')}, {$set: {name: 'lean'}})",
		},
	} {
		if c.got.String() != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.reason, c.got, c.want)
		}
	}
	if plain, tx := marking().Cost(), marking().CostTx(); plain.Written != 2 || tx.Written != 1 {
		t.Errorf("costs %v, in a transaction %v", plain, tx)
	}
}
