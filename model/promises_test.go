package model_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
)

// What the comments promise of indexes, beside TestEmbeddedCostsAndIndexes: documents are read and written by _id.
func TestByIDIndexed(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		var all []any
		for i := range 2000 {
			all = append(all, verLot{ID: fmt.Sprint("l", i), Qty: 5, Version: 1})
		}
		if err := verStore(t.Context(), db, all...); err != nil {
			t.Fatal(err)
		}
		lot := verLot{ID: "l7", Qty: 6, Version: 1}
		guard, less := d("qty", d("$gte", 3)), d("$inc", d("qty", int32(-3)))
		for _, c := range []struct {
			reason string
			query  any
		}{
			{"ByID", verLots.ByID("l7")}, {"a page by _id", verLots.Find(nil).Sorted(d("_id", 1)).Limited(5).After("l7")},
			{"Modify by _id", verLots.Modify(d("_id", "l7"), less)},
			{"Replace", verLots.Replace(lot)}, {"Update", verLots.Update("l7", less)}, {"Delete", verLots.Delete("l7")},
			{"Versioned.Replace", verTokens.Replace(lot, oid(1))}, {"Versioned.Update", verTokens.Update("l7", 1, less, oid(1))},
			{"Versioned.Delete", verTokens.Delete("l7", 1)}, {"Versioned.Guarded", verTokens.Guarded("l7", guard, less, oid(1))},
			{"Versioned.Take", verTokens.Take("l7", "qty", 1, oid(1))},
		} {
			t.Run(c.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, c.query, model.IDIndex) })
		}
	})
}

// What the comments promise of commands and documents, that no other test measures: also of writes that match nothing.
func TestPromisedCosts(t *testing.T) {
	type cost struct{ commands, written, returned int }
	people := []any{
		embPerson{ID: "a", Tasks: []embTask{{ID: "x", Due: 1, Steps: []embStep{{No: 1}}}, {ID: "y", Due: 2}}, Home: &embHome{City: "Rome"}},
		embPerson{ID: "b", Tasks: embList("z3 w4")}, embPerson{ID: "c"},
	}
	lots := []any{verLot{ID: "l", Qty: 5, Version: 3}, d("_id", "n", "qty", int32(1), "version", nil)}
	lot := func(version int64) verLot { return verLot{ID: "l", Qty: 6, Version: version} }
	inc := d("$inc", d("due", 1))
	read := func(q interface {
		Command() bson.D
	}) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			switch q := q.(type) {
			case model.Find[embPerson]:
				_, err := q.All(ctx, db)
				return err
			case model.Aggregate[model.ElementOf[string, embTask]]:
				_, err := q.All(ctx, db)
				return err
			case model.Aggregate[bson.Raw]:
				_, err := q.All(ctx, db)
				return err
			}
			return fmt.Errorf("a %T", q)
		}
	}
	write := func(s model.Step, want error) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			p := model.NewPlan(s)
			p.Options.AllowPartial = true
			if _, err := p.Run(ctx, db); !errors.Is(err, want) {
				return fmt.Errorf("%w: want %w", err, want)
			}
			return nil
		}
	}
	verMend := verPlain.Checks()[0]
	cases := []struct {
		reason string
		want   cost
		run    func(ctx context.Context, db *mongo.Database) error
	}{
		{"Insert, stored before", cost{2, 0, 1}, write(embPeople.Insert(embPerson{ID: "c"}), nil)},
		{"Replace", cost{1, 1, 0}, write(embPeople.Replace(embPerson{ID: "c"}), nil)},
		{"Replace of none", cost{1, 0, 0}, write(embPeople.Replace(embPerson{ID: "q"}), model.ErrStale)},
		{"Update", cost{1, 1, 0}, write(embPeople.Update("c", d("$set", d("home.city", "x"))), nil)},
		{"Update of none", cost{1, 0, 0}, write(embPeople.Update("q", d("$set", d("home.city", "x"))), model.ErrStale)},
		{"Delete", cost{1, 1, 0}, write(embPeople.Delete("c"), nil)},
		{"Delete of none", cost{1, 0, 0}, write(embPeople.Delete("q"), nil)},
		{"Modify", cost{1, 1, 0}, func(ctx context.Context, db *mongo.Database) error {
			_, err := embPeople.Modify(d("_id", "c"), d("$set", d("home.city", "x"))).Run(ctx, db)
			return err
		}},
		{"Count", cost{1, 0, 1}, func(ctx context.Context, db *mongo.Database) error {
			_, err := embPeople.Find(nil).Count(ctx, db)
			return err
		}},
		{"Find", cost{1, 0, 3}, read(embPeople.Find(nil))},
		{"a page", cost{1, 0, 1}, read(embPeople.Find(nil).Sorted(d("_id", 1)).Limited(1).After("a"))},
		{"Find in batches of two", cost{2, 0, 3}, func(ctx context.Context, db *mongo.Database) error {
			f := embPeople.Find(nil)
			f.Options.BatchSize = 2
			_, err := f.All(ctx, db)
			return err
		}},
		{"Add of a key that is there", cost{3, 0, 1}, write(embTasks.Add("a", embTask{ID: "x"}), model.ErrElementExists)},
		{"Add to a full array", cost{4, 0, 1}, write(embTasks.Add("a", embTask{ID: "q"}, embTask{ID: "r"}), model.ErrArrayFull)},
		{"Add to nobody", cost{4, 0, 0}, write(embTasks.Add("q", embTask{ID: "q"}), model.ErrStale)},
		{"Replace of an element", cost{1, 1, 0}, write(embTasks.Replace("a", embTask{ID: "x"}), nil)},
		{"Update of an element", cost{1, 1, 0}, write(embTasks.Update("a", "x", inc), nil)},
		{"Update of no element", cost{2, 0, 1}, write(embTasks.Update("a", "q", inc), model.ErrElementMissing)},
		{"Update of nobody's element", cost{2, 0, 0}, write(embTasks.Update("q", "x", inc), model.ErrStale)},
		{"Clear", cost{1, 1, 0}, write(embTasks.Clear("a"), nil)},
		{"Move", cost{2, 2, 0}, func(ctx context.Context, db *mongo.Database) error {
			p := embTasks.Move("b", "a", embList("z3")[0])
			p.Options.AllowPartial = true
			_, err := p.Run(ctx, db)
			return err
		}},
		{"a nested Update", cost{1, 1, 0}, write(embSteps.Update("a", "x", 1, d("$set", d("text", "t"))), nil)},
		{"a nested Update of none", cost{2, 0, 1}, write(embSteps.Update("a", "x", 9, d("$set", d("text", "t"))), model.ErrElementMissing)},
		{"one Create", cost{1, 1, 0}, write(embHomes.Create("b", embHome{City: "x"}), nil)},
		{"one Create over another", cost{3, 0, 1}, write(embHomes.Create("a", embHome{City: "x"}), model.ErrElementExists)},
		{"one Update", cost{1, 1, 0}, write(embHomes.Update("a", d("$set", d("zip", "1"))), nil)},
		{"one Update of none", cost{2, 0, 1}, write(embHomes.Update("b", d("$set", d("zip", "1"))), model.ErrElementMissing)},
		{"one Unset", cost{1, 1, 0}, write(embHomes.Unset("a"), nil)},
		{"Holding", cost{1, 0, 1}, read(embTasks.Holding("x"))},
		{"Having", cost{1, 0, 1}, read(embTasks.Having(d("due", 1)))},
		{"With", cost{1, 0, 1}, read(embTasks.With("a", "x"))},
		{"Element", cost{1, 0, 1}, read(embTasks.Element("a", "x"))},
		{"ElementsOf", cost{1, 0, 2}, read(embTasks.ElementsOf("a", nil, nil))},
		{"Checks", cost{4, 0, 0}, func(ctx context.Context, db *mongo.Database) (err error) {
			for _, c := range embTasks.Checks() {
				_, e := c.All(ctx, db)
				err = errors.Join(err, e)
			}
			return err
		}},
		{"Versioned.Replace", cost{1, 1, 0}, write(verTokens.Replace(lot(3), oid(1)), nil)},
		{"Versioned.Replace in another version", cost{3, 0, 1}, write(verTokens.Replace(lot(2), oid(1)), model.ErrVersion)},
		{"Versioned.Update of none", cost{3, 0, 0}, write(verTokens.Update("q", 3, d("$set", d("qty", 1)), oid(1)), model.ErrStale)},
		{"Versioned.Delete", cost{1, 1, 0}, write(verTokens.Delete("l", 3), nil)},
		{"Versioned.Delete in another version", cost{2, 0, 1}, write(verTokens.Delete("l", 2), model.ErrVersion)},
		{"Versioned.Take", cost{1, 1, 0}, write(verTokens.Take("l", "qty", 5, oid(1)), nil)},
		{"Versioned.Take of too many", cost{3, 0, 1}, write(verTokens.Take("l", "qty", 6, oid(1)), model.ErrGuard)},
		{"Versioned.ChangeBy", cost{2, 1, 1}, func(ctx context.Context, db *mongo.Database) error {
			_, _, err := verTaken(verTokens, true, oid(1)).Run(ctx, db)
			return err
		}},
		{"Versioned.Checks", cost{1, 0, 1}, read(verPlain.Checks()[0].Find())},
		{"Versioned.Checks mend", cost{1, 1, 0}, write(verMend.Mend([]model.Finding{finding(verMend, d("_id", "n"))}).Steps[0], nil)},
	}
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range cases {
			t.Run(c.reason, func(t *testing.T) {
				if err := errors.Join(embStore(t.Context(), db, people...), verStore(t.Context(), db, lots...)); err != nil {
					t.Fatal(err)
				}
				modeltest.WantCost(t, m, model.Cost{Commands: c.want.commands, Written: c.want.written, Returned: c.want.returned},
					func() error { return c.run(t.Context(), db) })
			})
		}
		set := model.Indexes(embTasks, uniMain)
		t.Run("Diff and Ensure, a command for each collection", func(t *testing.T) {
			modeltest.WantCost(t, m, model.Cost{Commands: 2}, func() error { return set.Ensure(t.Context(), db) })
			m.Reset()
			if _, err := set.Diff(t.Context(), db); err != nil || m.Cost().Commands != 2 {
				t.Errorf("%v, %v", m.Cost(), err)
			}
		})
	}, modeltest.WithMonitor(m))
}
