package embed_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// What the comments promise of indexes, beside TestEmbeddedCostsAndIndexes: a versioned document is written by _id.
func TestVersionedIndexed(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var all []any
		for i := range 2000 {
			all = append(all, verLot{ID: fmt.Sprint("l", i), Qty: 5, Version: 1})
		}
		if err := verStore(t.Context(), db, all...); err != nil {
			t.Fatal(err)
		}
		guard, less := d("qty", d("$gte", 3)), d("$inc", d("qty", int32(-3)))
		for _, c := range []struct {
			reason string
			query  any
		}{
			{"Versioned.Update", verTokens.Update("l7", 1, less, oid(1))},
			{"Versioned.Guarded", verTokens.Guarded("l7", guard, less, oid(1))},
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
		embPerson{
			ID:    "a",
			Tasks: []embTask{{ID: "x", Due: 1, Steps: []embStep{{No: 1}}}, {ID: "y", Due: 2}},
			Home:  &embHome{City: "Rome"},
		},
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
			case *model.Find[embPerson]:
				_, err := q.All(ctx, db)
				return err
			case *model.Aggregate[embed.ElementOf[string, embTask]]:
				_, err := q.All(ctx, db)
				return err
			case *model.Aggregate[bson.Raw]:
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
	change := func(c model.ChangeOf[model.Stored[verLot]], want error) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			if _, _, err := c.Run(ctx, db); !errors.Is(err, want) {
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
		{"Add of a key that is there", cost{3, 0, 1}, write(embTasks.Add("a", embTask{ID: "x"}), model.ErrTaken)},
		{"Add to a full array", cost{4, 0, 1}, write(embTasks.Add("a", embTask{ID: "q"}, embTask{ID: "r"}), model.ErrFull)},
		{"Add to nobody", cost{5, 0, 0}, write(embTasks.Add("q", embTask{ID: "q"}), model.ErrNotFound)},
		{"Replace of an element", cost{1, 1, 0}, write(embTasks.Replace("a", embTask{ID: "x"}), nil)},
		{"Update of an element", cost{1, 1, 0}, write(embTasks.Update("a", "x", inc), nil)},
		{"Update of no element", cost{2, 0, 1}, write(embTasks.Update("a", "q", inc), model.ErrNotFound)},
		{"Update of nobody's element", cost{2, 0, 0}, write(embTasks.Update("q", "x", inc), model.ErrNotFound)},
		{"Move", cost{2, 2, 0}, func(ctx context.Context, db *mongo.Database) error {
			p := embTasks.Move("b", "a", embList("z3")[0])
			p.Options.AllowPartial = true
			_, err := p.Run(ctx, db)
			return err
		}},
		{"a nested Update", cost{1, 1, 0}, write(embSteps.Update("a", "x", 1, d("$set", d("text", "t"))), nil)},
		{
			reason: "a nested Update of none", want: cost{2, 0, 1},
			run: write(embSteps.Update("a", "x", 9, d("$set", d("text", "t"))), model.ErrNotFound),
		},
		{"one Create", cost{1, 1, 0}, write(embHomes.Create("b", embHome{City: "x"}), nil)},
		{"one Create over another", cost{3, 0, 1}, write(embHomes.Create("a", embHome{City: "x"}), model.ErrTaken)},
		{"one Update", cost{1, 1, 0}, write(embHomes.Update("a", d("$set", d("zip", "1"))), nil)},
		{"one Update of none", cost{2, 0, 1}, write(embHomes.Update("b", d("$set", d("zip", "1"))), model.ErrNotFound)},
		{"Having the key", cost{1, 0, 1}, read(embTasks.Having(d("id", "x")))},
		{"Having", cost{1, 0, 1}, read(embTasks.Having(d("due", 1)))},
		{"Element", cost{1, 0, 1}, read(embTasks.Element("a", "x"))},
		{"Elements of one", cost{1, 0, 2}, read(embTasks.Elements(nil, nil, "a"))},
		{"Checks", cost{4, 0, 0}, func(ctx context.Context, db *mongo.Database) (err error) {
			for _, c := range embTasks.Checks() {
				_, e := c.All(ctx, db)
				err = errors.Join(err, e)
			}
			return err
		}},
		{"a store's Replace", cost{2, 1, 1}, change(verPlainStore.Replace(lot(3)), nil)},
		{"a store's Replace in another version", cost{1, 0, 1}, change(verPlainStore.Replace(lot(2)), embed.ErrVersion)},
		{
			reason: "Versioned.Update in another version", want: cost{3, 0, 1},
			run: write(verTokens.Update("l", 2, d("$set", d("qty", 1)), oid(1)), embed.ErrVersion),
		},
		{
			reason: "Versioned.Update of none", want: cost{3, 0, 0},
			run: write(verTokens.Update("q", 3, d("$set", d("qty", 1)), oid(1)), model.ErrNotFound),
		},
		{
			reason: "a store's Delete in a version", want: cost{1, 1, 1},
			run: change(verPlainStore.Where(d("version", 3), embed.ErrVersion).Delete("l"), nil),
		},
		{
			reason: "a store's Delete in another version", want: cost{2, 0, 1},
			run: change(verPlainStore.Where(d("version", 2), embed.ErrVersion).Delete("l"), embed.ErrVersion),
		},
		{"Versioned.Take", cost{1, 1, 0}, write(verTokens.Take("l", "qty", 5, oid(1)), nil)},
		{"Versioned.Take of too many", cost{3, 0, 1}, write(verTokens.Take("l", "qty", 6, oid(1)), model.ErrGuard)},
		{"a store's Edit", cost{2, 1, 1}, func(ctx context.Context, db *mongo.Database) error {
			_, err := verTaken(ctx, db, verTokenStore, oid(1))
			return err
		}},
		{"Versioned.Checks", cost{1, 0, 1}, read(verPlain.Checks()[0].Find())},
		{
			reason: "Versioned.Checks mend", want: cost{1, 1, 0},
			run: write(verMend.Mend([]model.Finding{finding(verMend, d("_id", "n"))}).Steps[0], nil),
		},
	}
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range cases {
			t.Run(c.reason, func(t *testing.T) {
				if err := errors.Join(embStore(t.Context(), db, people...), verStore(t.Context(), db, lots...)); err != nil {
					t.Fatal(err)
				}
				modeltest.WantCost(t, m, model.Cost{Commands: c.want.commands, Written: c.want.written, Returned: c.want.returned},
					func() error { return c.run(t.Context(), db) })
			})
		}
	}, mongotest.WithMonitor(m))
}
