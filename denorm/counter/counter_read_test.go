package counter_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What each action costs, without transactions and in them. In a transaction the commit is one command more.
func TestCounterCosts(t *testing.T) {
	testkit.Parallel(t)
	ran := func(c change) func(context.Context, model.DB) error {
		return func(ctx context.Context, db model.DB) error { return run(ctx, db, c) }
	}
	recount := func(l ledger) func(context.Context, model.DB) error {
		return func(ctx context.Context, db model.DB) error {
			_, _, err := l.Recount("a").Run(ctx, db)
			return err
		}
	}
	cost := func(commands, written, returned int) model.Cost {
		return model.Cost{Commands: commands, Written: written, Returned: returned}
	}
	other := ledgerOf(counter.Spec{Count: "weight", Sums: []counter.Field{{From: "pages", To: "volumes"}}})
	tests := []struct {
		reason    string
		run       func(context.Context, model.DB) error
		plain, tx model.Cost
	}{
		{"Insert", ran(counted.volumes.Insert(volumeOf("9", "a", 1))), cost(4, 3, 1), cost(2, 2, 0)},
		{
			reason: "Insert of what names no parent",
			run:    ran(counted.volumes.Insert(volumeOf("9", "", 1))),
			plain:  cost(1, 1, 0), tx: cost(2, 1, 0),
		},
		{"Set of a number", ran(counted.set("1", testkit.E("pages", 2))), cost(4, 3, 1), cost(3, 2, 1)},
		// the transaction runs again,
		{"Set of the greatest", ran(ranged.set("2", testkit.E("pages", 50))), cost(6, 3, 3), cost(8, 3, 4)},
		{"Set of a new greatest", ran(ranged.set("2", testkit.E("pages", 500))), cost(6, 3, 3), cost(3, 2, 1)},
		{"Set of another field", ran(counted.set("1", testkit.E("title", "T"))), cost(1, 1, 1), cost(1, 1, 1)},
		{"Move", ran(counted.set("1", testkit.E("house", "b"))), cost(5, 4, 2), cost(3, 3, 1)},
		{"Delete", ran(counted.volumes.Delete("1")), cost(4, 3, 1), cost(3, 2, 1)},
		{"Recount of what is right", recount(counted), cost(1, 0, 1), cost(2, 0, 1)},
		{"Recount", recount(other), cost(3, 1, 1), cost(4, 1, 1)},
	}
	m := mongotest.NewMonitor()
	bothWays(t, func(t *testing.T, db *mongo.Database, way model.DB) {
		for _, test := range tests {
			t.Run(test.reason, func(t *testing.T) {
				testkit.Seed(t, db, testkit.Docs{"volumes": nil, "houses": nil})
				if err := seedHouses(t.Context(), way, volumeOf("1", "a", 100), volumeOf("2", "a", 300)); err != nil {
					t.Fatal(err)
				}
				want := test.plain
				if way != model.DB(db) {
					want = test.tx
				}
				modeltest.WantCost(t, m, want, func() error { return test.run(t.Context(), way) })
			})
		}
	}, m)
}

// What finds wrong numbers costs what its value says.
func TestCounterPrices(t *testing.T) {
	testkit.Parallel(t)
	testkit.WantPrices(t, func(ctx context.Context, db *mongo.Database) error {
		return errors.Join(seedHouses(ctx, db, volumeOf("1", "a", 100)),
			testkit.Updates(ctx, db, "houses", "b", bson.D{testkit.E("$set", bson.D{testkit.E("volumes", 3)})}))
	}, testkit.Reads("Checks", 1, fully.Checks()[0].Find()), testkit.Mending(1, 1, fully.Checks()[0]))
}

// A parent's children and the next greatest are found by the counter's indexes, among thousands.
func TestCounterIndexed(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list, parents []any
		for i := range 4000 {
			list = append(list, volumeOf(fmt.Sprint(i), fmt.Sprint("h", i/4), i))
			parents = append(parents, house{ID: fmt.Sprint("h", i), Least: 4 * i, Most: 4*i + 3})
		}
		if err := testkit.Store(t.Context(), db, testkit.Docs{"volumes": list, "houses": parents}); err != nil {
			t.Fatal(err)
		}
		if err := testkit.CreateIndexes(t.Context(), db, ranged.Counter); err != nil {
			t.Fatal(err)
		}
		next := &model.Find[bson.Raw]{Query: model.Query{
			Collection: "volumes", Limit: 1, Sort: bson.D{testkit.E("pages", -1)},
			Filter: bson.D{
				testkit.E("house", "h7"), testkit.E("pages", bson.D{testkit.E("$gte", math.Inf(-1))}),
				testkit.E("kept.op.gone", bson.D{testkit.E("$ne", true)}),
				testkit.E("_id", bson.D{testkit.E("$ne", "9")}),
			},
		}}
		modeltest.WantIndexed(t, db, next, "house_1_pages_1")
		// what Check and Recount look up
		modeltest.WantIndexed(t, db, volumes.Find(bson.D{testkit.E("house", "h7")}), "house_1_pages_1")
		testkit.WantReadsIndexed(t, db, m,
			testkit.ReadBy("Set", ranged.set("31", testkit.E("pages", 1)), model.IDIndex,
				model.IDIndex, "house_1_pages_1"))
	}, m)
}

// Every write is served by _id.
func TestCounterWritesIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := errors.Join(seedHouses(t.Context(), db, volumeOf("1", "a", 100), volumeOf("2", "a", 300)),
			testkit.Updates(t.Context(), db, "houses", "a", bson.D{
				testkit.E("$set", bson.D{testkit.E("volumes", 9)}),
			})); err != nil {
			t.Fatal(err)
		}
		var plans []model.Plan
		for _, c := range []change{
			fully.volumes.Insert(volumeOf("3", "a", 1)), fully.set("2", testkit.E("pages", 1)),
			fully.set("2", testkit.E("house", "b")),
			fully.volumes.Delete("1"),
		} {
			plans = append(plans, testkit.PlanOf(t, db, c))
		}
		testkit.WantStepsIndexed(t, db, "writes", model.IDIndex,
			append(plans, testkit.Mended(t, db, fully.Checks()[:1])...)...)
	})
}

// What is decided here is what the server decides, for values of every kind.
func TestCounterWhere(t *testing.T) {
	testkit.Parallel(t)
	var values []any
	for _, n := range []float64{-1, 0, 1, 1.5, 2, math.Inf(1), math.Inf(-1), math.NaN()} {
		values = append(values, n)
	}
	dec, _ := bson.ParseDecimal128("1.5")
	values = append(values, nil, int32(1), int64(2), dec, "", "a", "b", true, false, bson.DateTime(0), bson.DateTime(5),
		testkit.Token(1), testkit.Token(2), bson.D{testkit.E("x", 1)})
	var conditions []any
	for _, v := range []any{1, 1.5, "a", true, bson.DateTime(5), testkit.Token(1)} {
		conditions = append(conditions, v)
		for _, op := range []string{"$ne", "$gt", "$gte", "$lt", "$lte"} {
			conditions = append(conditions, bson.D{testkit.E(op, v)})
		}
	}
	conditions = append(conditions, nil, bson.D{testkit.E("$ne", nil)}, bson.D{testkit.E("$exists", true)},
		bson.D{testkit.E("$exists", false)},
		bson.D{testkit.E("$in", bson.A{1, "a", nil})}, bson.D{testkit.E("$gt", 0), testkit.E("$lt", 2)})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, v := range values {
			if err := testkit.Store(t.Context(), db, testkit.Docs{
				"loose": {bson.D{testkit.E("_id", i), testkit.E("v", v)}},
			}); err != nil {
				t.Fatal(err)
			}
		}
		if err := testkit.Store(t.Context(), db, testkit.Docs{
			"loose": {bson.D{testkit.E("_id", len(values))}},
		}); err != nil {
			t.Fatal(err)
		}
		for _, condition := range conditions {
			c := counter.New(loose, "of", loose.Named("owners"),
				counter.Spec{Count: "n", Where: bson.D{testkit.E("v", condition)}})
			var matched []bson.D
			cur, err := db.Collection("loose").Find(t.Context(), bson.D{testkit.E("v", condition)})
			if err != nil {
				t.Fatal(err)
			}
			if err := cur.All(t.Context(), &matched); err != nil {
				t.Fatal(err)
			}
			holds := map[any]bool{}
			for _, d := range matched {
				holds[d[0].Value] = true
			}
			for i := range len(values) + 1 {
				doc := bson.D{testkit.E("_id", i), testkit.E("of", "x")}
				if i < len(values) {
					doc = append(doc, testkit.E("v", values[i]))
				}
				if counts := counts(t, c, doc); counts != holds[int32(i)] {
					t.Errorf("%v under %v counts: %v, on the server %v", doc, condition, counts, holds[int32(i)])
				}
			}
		}
	})
}

// counts reports whether the insert of a child in a transaction changes a number.
func counts(t *testing.T, c *counter.Counter[bson.D, any, bson.D, any], child bson.D) bool {
	answer, err := c.Reactions()[0].React(model.StoreWrite{
		Collection: "loose", After: testkit.Marshal(child), Tx: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return len(answer.Once) > 0
}

// Decimals are added up exactly, integers to their bounds, and floats to what the check allows.
func TestCounterNumbers(t *testing.T) {
	testkit.Parallel(t)
	owners := loose.Named("owners")
	c := counter.New(loose, "of", owners, counter.Spec{
		Sums: []counter.Field{{From: "v", To: "sum"}}, Mins: []counter.Field{{From: "v", To: "min"}},
		Maxs: []counter.Field{{From: "v", To: "max"}},
	})
	children := model.NewStore(model.New("numbers", c), loose)
	decimal := func(s string) bson.Decimal128 {
		d, err := bson.ParseDecimal128(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range []struct {
			reason    string
			of        []any // one after the other in one child, beside one that holds the first
			sum       any
			least     any
			mayRefuse bool
		}{
			{
				reason: "decimals",
				of:     []any{decimal("0.1"), decimal("12345678901234567890.25"), decimal("0.2")},
				sum:    decimal("0.30"), least: decimal("0.1"), mayRefuse: false,
			},
			{"decimals and integers", []any{decimal("0.5"), int64(7), int32(2)}, decimal("2.5"), decimal("0.5"), false},
			{"integers", []any{int32(5), int64(math.MaxInt64) - 5, int64(-1)}, int64(4), int64(-1), false},
			{"floats", []any{0.1, 0.7, 0.2}, nil, 0.1, false},
			{"what is no number", []any{int32(4), "x", nil}, int64(4), int64(4), false},
			{"too far apart", []any{int64(math.MaxInt64), int64(-2)}, nil, nil, true},
			{"a float and a decimal", []any{0.5, decimal("1")}, nil, nil, true},
			{"infinite", []any{0.5, math.Inf(1)}, nil, nil, true},
			{"an array", []any{0.5, bson.A{1}}, nil, nil, true},
		} {
			t.Run(test.reason, func(t *testing.T) {
				testkit.Seed(t, db, testkit.Docs{"loose": nil, "owners": {bson.D{testkit.E("_id", "o")}}})
				if !test.mayRefuse {
					testkit.MustChange(t, db,
						children.Insert(bson.D{testkit.E("_id", 1), testkit.E("of", "o"), testkit.E("v", test.of[0])}))
				}
				testkit.MustChange(t, db,
					children.Insert(bson.D{testkit.E("_id", 2), testkit.E("of", "o"), testkit.E("v", test.of[0])}))
				for _, v := range test.of[1:] {
					_, _, err := children.Set(2, bson.D{testkit.E("v", v)}).Run(t.Context(), db)
					if test.mayRefuse {
						testkit.WantError(t, err, testkit.ErrRefused)
					} else if err != nil {
						t.Fatal(err)
					}
				}
				if found, err := testkit.FoundBy(t.Context(), db, c.Checks()); err != nil || len(found) > 0 {
					t.Errorf("the check finds %v, %v", found, err)
				}
				if test.sum == nil {
					return
				}
				got, err := owners.ByID("o").One(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				held := map[string]any{}
				for _, f := range got {
					held[f.Key] = f.Value
				}
				if fmt.Sprint(held["sum"], held["min"]) != fmt.Sprint(test.sum, test.least) {
					t.Errorf("holds %v, want %v, %v", held, test.sum, test.least)
				}
			})
		}
	})
}
