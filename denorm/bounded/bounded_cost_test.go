package bounded_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What each operation costs is what its value says, and what its documentation says.
func TestBoundedCosts(t *testing.T) {
	testkit.Parallel(t)
	write := func(w model.Write) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := w.Run(ctx, db)
			return err
		}
	}
	read := func(f *model.Find[board]) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := f.All(ctx, db)
			return err
		}
	}
	keyed, known := lastKey.Push("a", elements("x1")...), lastKey.Push("b", elements("a1")...)
	tests := []struct {
		reason string
		said   model.Cost
		run    func(context.Context, *mongo.Database) error
		want   model.Cost
	}{
		{
			reason: "Push", said: last.Push("b", elements("x1", "y2")...).Cost(),
			run: write(last.Push("b", elements("x1", "y2")...)), want: model.Cost{Commands: 1, Written: 1},
		},
		{"Push with a key", keyed.Cost(), write(keyed), model.Cost{Commands: 1, Written: 1}},
		{
			reason: "Push of a known key asks", said: model.Cost{Commands: 2, Returned: 1}, run: write(known),
			want: model.Cost{Commands: 2, Returned: 1},
		},
		{
			reason: "Push with Create, of an owner that isn't there",
			said:   creating.Push("n", elements("x1")...).Cost(), run: write(creating.Push("n", elements("x1")...)),
			want: model.Cost{Commands: 1, Written: 1},
		},
		{
			reason: "Remove", said: lastKey.Remove("b", "a").Cost(), run: write(lastKey.Remove("b", "a")),
			want: model.Cost{Commands: 1, Written: 1},
		},
		{"Slice", last.Slice("e", -1).Cost(), read(last.Slice("e", -1)), model.Cost{Commands: 1, Returned: 1}},
		{"Checks", last.Checks()[0].Find().Cost(), func(ctx context.Context, db *mongo.Database) error {
			_, err := last.Checks()[0].All(ctx, db)
			return err
		}, model.Cost{Commands: 1, Returned: 2}},
	}
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range tests {
			t.Run(test.reason, func(t *testing.T) {
				for _, want := range []model.Cost{test.want, test.said} {
					testkit.Seed(t, db, testkit.Docs{"boards": many["boards"][:5]})
					modeltest.WantCost(t, m, want, func() error { return test.run(t.Context(), db) })
				}
			})
		}
	}, m)
}

// Owners are found by _id, among thousands.
func TestBoundedIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list []any
		for i := range 4000 {
			list = append(list, board{ID: fmt.Sprint("b", i), Posts: posts("a1", "b2")})
		}
		if err := testkit.Store(t.Context(), db, testkit.Docs{"boards": list}); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			reason string
			query  any
		}{
			{"Slice", last.Slice("b77", 1)},
			{"Push", last.Push("b77", elements("c3")...)},
			{"Push with a key", newKey.Push("b77", elements("c3", "d4")...)},
			{"Remove", lastKey.Remove("b77", "a")},
		} {
			t.Run(test.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, test.query, model.IDIndex) })
		}
	})
}

// What each operation costs that no other test measures is what its value says.
func TestBoundedPrices(t *testing.T) {
	testkit.Parallel(t)
	testkit.WantPrices(t, testkit.Stored(many), testkit.Mending(1, 2, last.Checks()[0]))
}

// Each write finds its document by _id.
func TestBoundedWritesIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, makeBoard("a1", "b2"))
		testkit.WantStepsIndexed(t, db, "Bounded", model.IDIndex,
			model.NewPlan(last.PushWith("b",
				bson.D{testkit.E("$set", bson.D{testkit.E("name", "x")})}, elements("b1")...),
				creating.Push("b", elements("b1")...)))
		testkit.WantStepsIndexed(t, db, "Bounded.Checks", model.IDIndex,
			testkit.Mended(t, db, newBounded(bounded.Spec{Max: 1}).Checks())...)
	})
}
