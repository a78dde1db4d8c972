package slots_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/denorm/slots"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What each operation costs is what its documentation says.
func TestSlotsCosts(t *testing.T) {
	testkit.Parallel(t)
	short := func(ctx context.Context, db *mongo.Database) error {
		if err := run(places.Take("s", 90, token(50)))(ctx, db); !errors.Is(err, model.ErrFull) {
			return fmt.Errorf("gave %v", err)
		}
		return nil
	}
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			reason string
			run    operation
			want   model.Cost
		}{
			{"Add", run(places.Add("s", 1, tokenOf(0, 4, 5))), model.Cost{Commands: 1, Written: 1}},
			{"Add of a new key", run(places.Add("new", 1, token(50))), model.Cost{Commands: 5, Written: 5}},
			{"Add again", run(places.Add("s", 9, tokenOf(0, 4, 0))), model.Cost{Commands: 3, Returned: 8}},
			{
				reason: "Add with another number", run: run(pair.Add("s", 1, token(50))),
				want: model.Cost{Commands: 3, Written: 1, Returned: 4},
			},
			{"Take", run(places.Take("s", 1, tokenOf(0, 4, 5))), model.Cost{Commands: 1, Written: 1}},
			{
				reason: "Take of one slot for another", run: run(places.Take("s", 1, tokenOf(1, 4, 5))),
				want: model.Cost{Commands: 5, Written: 3, Returned: 4},
			},
			{
				reason: "Take of two slots for another", run: run(places.Take("s", 15, tokenOf(1, 4, 5))),
				want: model.Cost{Commands: 7, Written: 6, Returned: 4},
			},
			{"Take of too much", short, model.Cost{Commands: 3, Returned: 8}},
			{"Resize to twice", run(places.Resize("s", 8)), model.Cost{Commands: 5, Written: 16, Returned: 20}},
			{"Resize to half", run(places.Resize("s", 2)), model.Cost{Commands: 7, Written: 8, Returned: 16}},
			{"Resize to the same", run(places.Resize("s", 4)), model.Cost{Commands: 1, Returned: 4}},
			{"Total", func(ctx context.Context, db *mongo.Database) error {
				_, err := places.Totals("s").One(ctx, db)
				return err
			}, model.Cost{Commands: 1, Returned: 1}},
			{"Totals", func(ctx context.Context, db *mongo.Database) error {
				_, err := places.Totals().All(ctx, db)
				return err
			}, model.Cost{Commands: 1, Returned: 1}},
			{"a check", func(ctx context.Context, db *mongo.Database) error {
				_, err := places.Checks()[1].All(ctx, db)
				return err
			}, model.Cost{Commands: 1, Returned: 4}},
		} {
			t.Run(c.reason, func(t *testing.T) {
				testkit.Seed(t, db, testkit.Docs{"numbers": nil})
				must(t, db, places.Add("s", 9, tokenOf(0, 4, 0)), places.Add("s", 8, tokenOf(2, 4, 0)))
				modeltest.WantCost(t, m, c.want, func() error { return c.run(t.Context(), db) })
			})
		}
	}, m)
}

// Slots are found by _id, among thousands.
func TestSlotsIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list []any
		for i := range 3000 {
			list = append(list, slotDoc{ID: fmt.Sprintf("k%d#0000", i), Key: fmt.Sprint("k", i), Of: 1})
		}
		testkit.Seed(t, db, testkit.Docs{"numbers": list})
		modeltest.WantIndexed(t, db, lone.Totals("k77"), model.IDIndex)
		p, err := lone.Add("k77", 1, token(1)).Decide(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range p.Steps {
			modeltest.WantIndexed(t, db, step, model.IDIndex)
		}
	})
}

// Operations take part in a transaction, and go with it.
func TestSlotsInTransaction(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		must(t, db, places.Add("s", 9, tokenOf(0, 4, 0)))
		errUndone := errors.New("undone")
		for _, want := range []error{errUndone, nil} {
			err := model.InTx(t.Context(), db, func(ctx context.Context) error {
				return errors.Join(inTurn(places.Take("s", 2, tokenOf(0, 4, 1)), places.Take("s", 3, tokenOf(1, 4, 1)),
					places.Add("s", 1, token(40)))(ctx, db), want)
			})
			if !errors.Is(err, want) {
				t.Fatal(err)
			}
			if want != nil {
				wantFree(t, db, places, "s", 9)
			}
		}
		wantFree(t, db, places, "s", 5)
		on, err := model.WithTransactions(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []model.Change{
			places.Take("s", 3, tokenOf(2, 4, 2)), places.Take("s", 3, tokenOf(2, 4, 2)),
			places.Add("new", 3, token(4)),
			places.Resize("s", 8), places.Resize("s", 2),
		} {
			if _, err := c.Run(t.Context(), on); err != nil {
				t.Fatal(err)
			}
		}
		wantFree(t, db, places, "s", 2)
		wantFree(t, db, places, "new", 3)
	})
}

type ticket int64

// Keys may be numbers and ObjectIDs as well.
func TestSlotsKeyTypes(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		eachKey(t, db, []ticket{-12, -1, 0, 1, 12, 1 << 40})
		eachKey(t, db, []bson.ObjectID{{11: 1}, {11: 2}})
	})
}

func eachKey[K comparable](t *testing.T, db *mongo.Database, keys []K) {
	s := slots.New(model.NewCollection[slots.Doc[K], string]("keyed"), slots.Spec{Slots: 2})
	testkit.Seed(t, db, testkit.Docs{"keyed": nil})
	for i, key := range keys {
		must(t, db, s.Add(key, int64(i+1), token(i)), s.Add(key, int64(i+1), token(i)))
	}
	all, err := s.Totals().All(t.Context(), db)
	if err != nil || len(all) != len(keys) {
		t.Fatal(all, err)
	}
	for i, total := range all {
		if total.Key != keys[i] || total.Sum != int64(i+1) {
			t.Errorf("%+v", total)
		}
	}
}
