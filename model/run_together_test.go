package model_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// everyKind are steps of each kind, in two collections, that are seven commands without a transaction.
func everyKind() model.Plan {
	other, upsert := model.NewCollection[part, int32]("others"), true
	return model.NewPlan(
		parts.Insert(part{3, "c", 1}), other.Insert(part{1, "o", 1}), parts.Update(1, d("$inc", d("qty", 1))),
		model.Write{
			Collection: "parts",
			Model:      &mongo.UpdateManyModel{Filter: d("qty", d("$gte", 6)), Update: d("$set", d("name", "many"))},
		},
		parts.Replace(part{2, "r", 9}),
		model.Write{
			Collection: "others",
			Model:      &mongo.UpdateOneModel{Filter: d("_id", 7), Update: d("$set", d("qty", 7)), Upsert: &upsert},
		},
		parts.Delete(3),
	)
}

// TestTogether: in a transaction a plan is one command where the server has bulkWrite, and does the same as without it.
func TestTogether(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		tx := withTransactions(t, db)
		apart := model.Apart(tx) // as an older server
		var results []model.Result
		var left [][]part
		for _, on := range []model.DB{tx, apart} {
			mustRun(t, db, updateManyPlan(t, db))
			monitor.Reset()
			got, err := everyKind().RunTx(t.Context(), on)
			if err != nil {
				t.Fatal(err)
			}
			sent := slices.DeleteFunc(sentBy(monitor), func(name string) bool { return name == "commitTransaction" })
			if want := everyKind().Cost().Commands; on == model.DB(apart) && len(sent) != want {
				t.Errorf("apart: sent %v, want %d", sent, want)
			}
			if core.SendsTogether(on) && !slices.Equal(sent, []string{"bulkWrite"}) {
				t.Errorf("together: sent %v", sent)
			}
			results, left = append(results, got), append(left, stock(t, db))
			if _, err := db.Collection("others").DeleteMany(t.Context(), d()); err != nil {
				t.Fatal(err)
			}
		}
		if diff := mongotest.Diff(results[1], results[0]); diff != "" {
			t.Errorf("results differ: %s", diff)
		}
		if !slices.Equal(left[0], left[1]) || !slices.Equal(left[0], []part{{1, "many", 6}, {2, "r", 9}}) {
			t.Errorf("left %v and %v", left[0], left[1])
		}
	}, monitor)
	if c := everyKind().CostTx(); c.Commands != 1 || c.Written != everyKind().Cost().Written {
		t.Errorf("declared %v", c)
	}
}

// TestTogetherFails: a step in the midst that fails is named as it is when it is sent by itself, and nothing is kept.
func TestTogetherFails(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		tx := withTransactions(t, db)
		one, last := parts.Update(1, d("$inc", d("qty", 1))), parts.Update(2, d("$inc", d("qty", 1)))
		for name, c := range map[string]struct {
			plan model.Plan
			err  error
			step int
		}{
			"a duplicate key": {model.NewPlan(one, parts.Insert(part{2, "other", 1}), last), errDuplicate, 1},
			"the first":       {model.NewPlan(parts.Insert(part{2, "other", 1}), one, last), errDuplicate, 0},
			"a missing one":   {model.NewPlan(one, parts.Update(9, d("$inc", d("qty", 1))), last), model.ErrNotFound, 1},
			"a stale write": {
				plan: model.NewPlan(one, expectOne(updateOne(d("_id", 2, "qty", -1), d("$inc", d("qty", 1)))), last),
				err:  model.ErrStale, step: 1,
			},
			"of the server": {model.NewPlan(one, model.Write{
				Collection: "parts", Model: &mongo.UpdateOneModel{Filter: d("_id", 2), Update: d("$inc", d("name", 1))},
			}, last), nil, 1},
		} {
			mustRun(t, db, updateManyPlan(t, db))
			before := stock(t, db)
			got, err := c.plan.RunTx(t.Context(), tx)
			var step *model.StepError
			if !errors.As(err, &step) || step.Step != c.step || step.Where == "" {
				t.Errorf("%s: %v", name, err)
			}
			if c.err != nil {
				checkErr(t, err, c.err)
			}
			if name == "a duplicate key" && model.DuplicateIndex(err) != model.IDIndex {
				t.Errorf("%s: of index %q", name, model.DuplicateIndex(err))
			}
			if left := stock(t, db); !slices.Equal(left, before) || statuses(got) != "not sent, not sent, not sent" {
				t.Errorf("%s: left %v, %s", name, left, statuses(got))
			}
		}
	})
}

// TestTogetherSpoils: a transaction isn't kept when a plan in it was stale and steps after the stale one were sent,
// even if its owner passes over the error.
func TestTogetherSpoils(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		mustRun(t, db, updateManyPlan(t, db))
		err := model.InTx(t.Context(), db, func(ctx context.Context) error {
			plan := model.NewPlan(expectOne(updateOne(d("_id", 1, "qty", 9), d("$inc", d("qty", 1)))),
				parts.Update(2, d("$inc", d("qty", 1))))
			if _, err := plan.Run(ctx, db); !errors.Is(err, model.ErrStale) {
				t.Errorf("the plan: %v", err)
			}
			return nil
		})
		left := stock(t, db)
		if together := err != nil; !slices.Equal(left, []part{{1, "a", 5}, {2, "b", 5}}) ||
			together && !errors.Is(err, model.ErrStale) {
			t.Errorf("left %v, %v", left, err)
		}
	})
}
