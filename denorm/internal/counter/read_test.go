package counter_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What each operation costs is what its documentation says.
func TestCounterCosts(t *testing.T) {
	parallel(t)
	run := func(c model.Change[any]) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error { return counterRun(ctx, db, c) }
	}
	tests := []struct {
		reason string
		run    func(context.Context, *mongo.Database) error
		want   model.Cost
	}{
		{"Insert", run(counted.Insert(volumeOf("9", "a", 1), token(1))), model.Cost{Commands: 4, Written: 3, Returned: 1}},
		{"Insert of what was inserted", run(counted.Insert(volumeOf("1", "a", 100), token(100))), model.Cost{Commands: 2, Returned: 1}},
		{"Insert of what names no parent", run(counted.Insert(volumeOf("9", "", 1), token(1))), model.Cost{Commands: 1, Written: 1}},
		{"Set of a number", run(counted.Set("1", bson.D{e("pages", 2)}, token(1))), model.Cost{Commands: 5, Written: 3, Returned: 2}},
		{"Set of the greatest", run(ranged.Set("2", bson.D{e("pages", 50)}, token(1))), model.Cost{Commands: 6, Written: 3, Returned: 3}},
		{"Set of another field", run(counted.Set("1", bson.D{e("title", "T")}, token(1))), model.Cost{Commands: 5, Written: 3, Returned: 2}},
		{"Move", run(counted.Move("1", "b", token(1))), model.Cost{Commands: 5, Written: 4, Returned: 3}},
		{"Delete", run(counted.Delete("1", token(1))), model.Cost{Commands: 5, Written: 3, Returned: 2}},
		{"Delete of what isn't there", run(counted.Delete("9", token(1))), model.Cost{Commands: 1}},
		{"Settle of nothing", run(counted.Settle("1")), model.Cost{Commands: 1, Returned: 1}},
		{"Recount of what is right", func(ctx context.Context, db *mongo.Database) error {
			_, _, err := counted.Recount("a").Run(ctx, db)
			return err
		}, model.Cost{Commands: 1, Returned: 1}},
		{"Recount", func(ctx context.Context, db *mongo.Database) error {
			_, _, err := counterOf(denorm.CounterSpec{Count: "least"}).Recount("a").Run(ctx, db)
			return err
		}, model.Cost{Commands: 2, Written: 1, Returned: 1}},
		{"Check", func(ctx context.Context, db *mongo.Database) error {
			_, err := counted.Checks()[0].All(ctx, db)
			return err
		}, counted.Checks()[0].Find().Cost()},
		{"the check's job", mendedByJobs(counterOf(denorm.CounterSpec{Count: "least"}).Checks()[:1]...), model.Cost{Commands: 5, Written: 1, Returned: 3}},
		{"Insert, with Partial", run(loosen.Insert(volumeOf("9", "a", 1), token(1))), model.Cost{Commands: 3, Written: 2, Returned: 1}},
		{"Set, with Partial", run(loosen.Set("1", bson.D{e("pages", 110)}, token(1))), model.Cost{Commands: 3, Written: 2, Returned: 1}},
	}
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range tests {
			t.Run(test.reason, func(t *testing.T) {
				seed(t, db, docs{"volumes": nil, "houses": nil})
				if err := seedHouses(t.Context(), db, volumeOf("1", "a", 100), volumeOf("2", "a", 300)); err != nil {
					t.Fatal(err)
				}
				modeltest.WantCost(t, m, test.want, func() error { return test.run(t.Context(), db) })
			})
		}
	}, modeltest.WithMonitor(m))
}

// A parent's children, the next greatest and what is under way are found by the counter's indexes, among thousands.
func TestCounterIndexed(t *testing.T) {
	parallel(t)
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list, parents []any
		for i := range 4000 {
			v := volumeOf(fmt.Sprint(i), fmt.Sprint("h", i/4), i)
			if i == 77 {
				v.Pending = &denorm.CounterPending{Op: token(1), Parents: []bson.RawValue{{Type: bson.TypeNull}}}
			}
			list, parents = append(list, v), append(parents, house{ID: fmt.Sprint("h", i), Least: 4 * i, Most: 4*i + 3})
		}
		if err := store(t.Context(), db, docs{"volumes": list, "houses": parents}); err != nil {
			t.Fatal(err)
		}
		if err := createIndexes(t.Context(), db, ranged); err != nil {
			t.Fatal(err)
		}
		next := &model.Find[bson.Raw]{Query: model.Query{
			Collection: "volumes", Limit: 1, Sort: bson.D{e("pages", -1)},
			Filter: bson.D{e("house", "h7"), e("pages", bson.D{e("$gte", math.Inf(-1))}), e("pending.gone", bson.D{e("$ne", true)}), e("_id", bson.D{e("$ne", "9")})},
		}}
		modeltest.WantIndexed(t, db, next, "house_1_pages_1")
		modeltest.WantIndexed(t, db, &model.Find[bson.Raw]{Query: model.Query{Collection: "volumes", Filter: bson.D{e("pending.parents", "h7")}}}, "pending.parents_1")
		modeltest.WantIndexed(t, db, ranged.Pending(future), "pending.op_1")
		modeltest.WantIndexed(t, db, volumes.Find(bson.D{e("house", "h7")}), "house_1_pages_1") // what Check and Recount look up
		wantReadsIndexed(t, db, m,
			testkit.ReadBy("Insert", ranged.Insert(volumeOf("new", "h7", 1), token(1)), model.IDIndex),
			testkit.ReadBy("Set", ranged.Set("31", bson.D{e("pages", 1)}, token(1)), model.IDIndex, model.IDIndex, "house_1_pages_1"),
			testkit.ReadBy("Settle", ranged.Settle("7"), model.IDIndex))
		if f := ranged.Pending(time.Unix(0, 0)); f.Index != "pending.op_1" {
			t.Errorf("Pending says %q", f.Index)
		}
	}, modeltest.WithMonitor(m))
}

// Every write is served by _id.
func TestCounterWritesIndexed(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		byID := func(reason string, plans ...model.Plan) {
			t.Helper()
			testkit.WantStepsIndexed(t, db, reason, model.IDIndex, plans...)
		}
		if err := seedHouses(ctx, db, volumeOf("1", "a", 100), volumeOf("2", "a", 300)); err != nil {
			t.Fatal(err)
		}
		byID("Insert, Set, Move, Delete",
			testkit.PlanOf(t, db, fully.Insert(volumeOf("3", "a", 1), token(1))),
			testkit.PlanOf(t, db, fully.Set("2", bson.D{e("pages", 1)}, token(1))), testkit.PlanOf(t, db, fully.Move("2", "b", token(1))),
			testkit.PlanOf(t, db, fully.Delete("1", token(1))), testkit.PlanOf(t, db, loosen.Delete("1", token(1))))
		if err := errors.Join(updates(ctx, db, "houses", "a", bson.D{e("$set", bson.D{e("volumes", 9)})}), counterCut(ctx, db, fully.Move("2", "b", token(1)), 1)); err != nil {
			t.Fatal(err)
		}
		byID("Settle", testkit.PlanOf(t, db, fully.Settle("2")))
		byID("Checks", mended(t, db, fully.Checks()[:1])...)
	})
}

// What finds and finishes operations that were cut costs what its value says.
func TestCounterPrices(t *testing.T) {
	parallel(t)
	testkit.WantPrices(t, func(ctx context.Context, db *mongo.Database) error {
		return errors.Join(seedHouses(ctx, db, volumeOf("1", "a", 100)), counterCut(ctx, db, fully.Insert(volumeOf("2", "a", 5), token(1)), 1),
			updates(ctx, db, "houses", "b", bson.D{e("$set", bson.D{e("volumes", 3)})}))
	},
		testkit.Reads("Pending", 1, fully.Pending(future)), testkit.Does("Settle", 4, 2, 2, testkit.Changed(fully.Settle("2"))),
		testkit.Reads("Checks", 1, fully.Checks()[0].Find()), testkit.Mending(1, 1, fully.Checks()[0]))
}

// What is decided here is what the server decides, for values of every kind.
func TestCounterWhere(t *testing.T) {
	parallel(t)
	var values []any
	for _, n := range []float64{-1, 0, 1, 1.5, 2, math.Inf(1), math.Inf(-1), math.NaN()} {
		values = append(values, n)
	}
	dec, _ := bson.ParseDecimal128("1.5")
	values = append(values, nil, int32(1), int64(2), dec, "", "a", "b", true, false, bson.DateTime(0), bson.DateTime(5), token(1), token(2), bson.D{e("x", 1)})
	var conditions []any
	for _, v := range []any{1, 1.5, "a", true, bson.DateTime(5), token(1)} {
		conditions = append(conditions, v)
		for _, op := range []string{"$ne", "$gt", "$gte", "$lt", "$lte"} {
			conditions = append(conditions, bson.D{e(op, v)})
		}
	}
	conditions = append(conditions, nil, bson.D{e("$ne", nil)}, bson.D{e("$exists", true)}, bson.D{e("$exists", false)},
		bson.D{e("$in", bson.A{1, "a", nil})}, bson.D{e("$gt", 0), e("$lt", 2)})
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, v := range values {
			if err := store(t.Context(), db, docs{"loose": {bson.D{e("_id", i), e("v", v)}}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := store(t.Context(), db, docs{"loose": {bson.D{e("_id", len(values))}}}); err != nil {
			t.Fatal(err)
		}
		for _, condition := range conditions {
			c := denorm.NewCounter(loose, "of", loose.Named("owners"), denorm.CounterSpec{
				Count: "n", Where: bson.D{e("v", condition)}, Tokens: "ops", Pending: "pending"})
			var matched []bson.D
			cur, err := db.Collection("loose").Find(t.Context(), bson.D{e("v", condition)})
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
				doc := bson.D{e("_id", i), e("of", "x")}
				if i < len(values) {
					doc = append(doc, e("v", values[i]))
				}
				p, err := c.Insert(doc, token(1)).Decide(nil)
				if err != nil {
					t.Fatal(err)
				}
				if counts := strings.Contains(p.String(), "$inc"); counts != holds[int32(i)] {
					t.Errorf("%v under %v counts: %v, on the server %v", doc, condition, counts, holds[int32(i)])
				}
			}
		}
	})
}

// Decimals are added up exactly, integers to their bounds, and floats to what the check allows.
func TestCounterNumbers(t *testing.T) {
	parallel(t)
	owners := loose.Named("owners")
	c := denorm.NewCounter(loose, "of", owners, denorm.CounterSpec{
		Sums: []denorm.Field{{From: "v", To: "sum"}}, Mins: []denorm.Field{{From: "v", To: "min"}}, Maxs: []denorm.Field{{From: "v", To: "max"}},
		Tokens: "ops", Pending: "pending",
	})
	decimal := func(s string) bson.Decimal128 {
		d, err := bson.ParseDecimal128(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range []struct {
			reason    string
			of        []any // one after the other in one child, beside one that holds the first
			sum       any
			least     any
			mayRefuse bool
		}{
			{"decimals", []any{decimal("0.1"), decimal("12345678901234567890.25"), decimal("0.2")}, decimal("0.30"), decimal("0.1"), false},
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
				seed(t, db, docs{"loose": nil, "owners": {bson.D{e("_id", "o")}}})
				if !test.mayRefuse {
					mustCountLoose(t, db, c.Insert(bson.D{e("_id", 1), e("of", "o"), e("v", test.of[0])}, token(1)))
				}
				mustCountLoose(t, db, c.Insert(bson.D{e("_id", 2), e("of", "o"), e("v", test.of[0])}, token(2)))
				for i, v := range test.of[1:] {
					err := counterRun(t.Context(), db, c.Set(2, bson.D{e("v", v)}, token(3+i)))
					if test.mayRefuse {
						wantError(t, err, errRefused)
					} else if err != nil {
						t.Fatal(err)
					}
				}
				if found, err := foundBy(t.Context(), db, c.Checks()); err != nil || len(found) > 0 {
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

func mustCountLoose(t *testing.T, db *mongo.Database, c model.Change[any]) {
	t.Helper()
	if err := counterRun(t.Context(), db, c); err != nil {
		t.Fatal(err)
	}
}
