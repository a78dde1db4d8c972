package rollup_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/rollup"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Random events, late, repeated and out of order, batches that are cut at any command, and two runners at once keep the
// bins that a plain model says; so does a rebuild, and totals of random times are those of the events.
func TestRollupProperty(t *testing.T) {
	testkit.Parallel(t)
	for _, zone := range []*time.Location{dutchTime, lordHowe, time.UTC} {
		t.Run(zone.String(), func(t *testing.T) {
			f := mongotest.NewFaults()
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				testkit.Seed(t, db, testkit.Docs{"hits": nil, "totals": nil})
				if err := testkit.CreateIndexes(t.Context(), db, newRollup(zone)); err != nil {
					t.Fatal(err)
				}
				steps := 60
				if _, server := os.LookupEnv("MONGODB_URI"); server {
					steps = 12
				}
				rollupSteps(t, db, f, zone, steps)
			}, f)
		})
	}
}

func rollupSteps(t *testing.T, db *mongo.Database, f *mongotest.Faults, zone *time.Location, steps int) {
	x, r := newRollup(zone), rand.New(rand.NewPCG(7, 8))
	year := []time.Time{ // around the changes of the clock
		night, time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC), time.Date(2026, 4, 4, 14, 0, 0, 0, time.UTC),
		time.Date(2026, 10, 3, 15, 0, 0, 0, time.UTC),
	}
	var list []hit
	for step := range steps {
		for range r.IntN(12) {
			h := hit{
				ID: fmt.Sprintf("%04d", r.IntN(10_000)), Site: []string{"a", "b#", "c%"}[r.IntN(3)],
				At: year[r.IntN(4)].Add(time.Duration(r.Int64N(int64(50 * time.Hour)))).Truncate(time.Millisecond),
			}
			if r.IntN(4) > 0 {
				ms := r.Int64N(1<<50) - 1<<49
				h.Ms = &ms
			}
			if len(list) > 0 && r.IntN(4) == 0 {
				h = list[r.IntN(len(list))] // once more
			}
			err := insertHits(t.Context(), db, x, h)
			if i := indexOf(list, h.ID); i < 0 {
				list = append(list, h)
			} else if same := h.Site == list[i].Site && h.At.Equal(list[i].At) &&
				h.Ms == list[i].Ms; same != (err == nil) ||
				err != nil && !errors.Is(err, model.ErrTaken) {
				t.Fatalf("another event of one _id: %v", err)
			}
		}
		size := 1 + r.IntN(6)
		if r.IntN(2) == 0 { // this run is cut
			f.From(mongotest.All, 1+r.IntN(12), mongotest.Fail(8000))
			_ = roll(t.Context(), db, x, size)
			f.Reset()
		}
		if r.IntN(3) > 0 {
			continue
		}
		var wait sync.WaitGroup
		for range 1 + r.IntN(2) {
			wait.Go(func() {
				if err := roll(t.Context(), db, x, size); err != nil {
					t.Error(err)
				}
			})
		}
		if wait.Wait(); t.Failed() {
			t.FailNow()
		}
		if step%3 == 0 {
			rebuildAll(t, db, x)
		}
		wantBins(t, db, x, zone, list...)
		wantTotals(t, db, x, zone, r, list)
		if t.Failed() {
			t.FailNow()
		}
	}
}

func indexOf(list []hit, id string) int {
	for i, h := range list {
		if h.ID == id {
			return i
		}
	}
	return -1
}

// rebuildAll spoils bins, and rebuilds all.
func rebuildAll(t *testing.T, db *mongo.Database, x *rollupOf) {
	t.Helper()
	ctx := t.Context()
	if err := errors.Join(
		testkit.Updates(ctx, db, "totals", bson.D{testkit.E("$gt", "b")}, bson.D{
			testkit.E("$inc", bson.D{testkit.E("n", int64(1))}),
		}),
	); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Collection("totals").DeleteOne(ctx, bson.D{testkit.E("unit", "hour")}); err != nil {
		t.Fatal(err)
	}
	from, to := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := x.Rebuild(from, to).Run(ctx, db, model.JobOptions{}); err != nil {
		t.Fatal(err)
	}
}

// wantTotals compares totals of random times with the events.
func wantTotals(t *testing.T, db *mongo.Database, x *rollupOf, zone *time.Location, r *rand.Rand, list []hit) {
	t.Helper()
	for range 5 {
		from := time.Date(2026, time.Month(1+r.IntN(12)), 1+r.IntN(28), r.IntN(24), 0, 0, 0, zone)
		to := from.Add(time.Duration(1+r.IntN(24*200)) * time.Hour)
		if to = to.In(zone); to.Minute() != 0 {
			to = to.Add(30 * time.Minute)
		}
		var want naive
		for _, h := range list {
			if h.Site != "a" || h.At.Before(from) || !h.At.Before(to) {
				continue
			}
			want.N++
			if h.Ms != nil {
				if want.Values == 0 {
					want.Min, want.Max = *h.Ms, *h.Ms
				}
				want.Values, want.Sum, want.Min, want.Max = want.Values+1, want.Sum+*h.Ms,
					min(want.Min, *h.Ms), max(want.Max, *h.Ms)
			}
		}
		got, err := x.Total("a", from, to).One(t.Context(), db)
		if errors.Is(err, model.ErrNotFound) {
			err = nil
		}
		if v := got.Values["ms"]; err != nil || (naive{got.N, v.N, v.Sum, v.Min, v.Max}) != want {
			t.Errorf("%s to %s: %+v, %v, want %+v", from, to, got, err, want)
		}
	}
}

// Floats and decimals are added up as they are stored, under two paths of a group and under none.
func TestRollupNumbers(t *testing.T) {
	testkit.Parallel(t)
	type sale struct {
		ID    string `bson:"_id"`
		Where struct {
			Country string        `bson:"country"`
			Shop    bson.ObjectID `bson:"shop"`
		} `bson:"where"`
		At     bson.DateTime   `bson:"at"`
		Price  bson.Decimal128 `bson:"price"`
		Pieces int32           `bson:"pieces"`
		Rate   float64         `bson:"rate"`
		Mark   *rollup.Mark    `bson:"mark,omitempty"`
		Mark2  *rollup.Mark    `bson:"mark2,omitempty"`
	}
	type group struct {
		Country string        `bson:"where/country"`
		Shop    bson.ObjectID `bson:"where/shop"`
	}
	sales := model.NewCollection[sale, string]("sales")
	exact := rollup.New(sales,
		model.NewCollection[rollup.Doc[group, bson.Decimal128], string]("byShop"), rollup.Spec{
			Time: "at", By: []string{"where.country", "where.shop"}, Sums: []string{"price", "pieces"},
			Mins: []string{"price"}, Bins: []denorm.Period{denorm.Daily}, Mark: "mark",
		})
	rates := rollup.New(sales,
		model.NewCollection[rollup.Doc[struct{}, float64], string]("rates"), rollup.Spec{
			Time: "at", Sums: []string{"rate", "pieces"}, Maxs: []string{"rate"},
			Bins: []denorm.Period{denorm.Daily, denorm.Monthly}, Mark: "mark2",
		})
	saleStore := model.NewStore(model.New("sales", exact), sales)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		testkit.Seed(t, db, testkit.Docs{"sales": nil})
		for i := range 10 {
			s := sale{
				ID:     fmt.Sprint(i),
				At:     bson.NewDateTimeFromTime(night.AddDate(0, 0, i)),
				Pieces: int32(i), Rate: 0.1,
			}
			s.Where.Country, s.Where.Shop = "nl", testkit.Token(1)
			s.Price, _ = bson.ParseDecimal128(fmt.Sprintf("0.%d", i))
			if i%2 > 0 {
				s.At = bson.NewDateTimeFromTime(night)
			}
			if _, _, err := saleStore.Insert(s).Run(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := exact.Roll().Run(ctx, db, model.JobOptions{BatchSize: 4}); err != nil {
			t.Fatal(err)
		}
		list, err := exact.Bins(group{"nl", testkit.Token(1)}, denorm.Daily, night.Add(-time.Hour),
			night.Add(24*time.Hour)).All(ctx, db)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		if v := list[0].Values; list[0].N != 6 || v["price"].Sum.String() != "2.5" ||
			v["price"].Min.String() != "0.0" ||
			v["pieces"].Sum.String() != "25" {
			t.Errorf("the bin is %v", list[0])
		}
		if _, err := db.Collection("sales").
			UpdateMany(ctx, bson.D{}, bson.D{
				testkit.E("$set", bson.D{testkit.E("mark2", bson.D{testkit.E("batch", bson.ObjectID{})})}),
			}); err != nil {
			t.Fatal(err)
		}
		if _, err := rates.Roll().Run(ctx, db, model.JobOptions{BatchSize: 3}); err != nil {
			t.Fatal(err)
		}
		total, err := rates.Total(struct{}{}, night.Add(-30*time.Minute).AddDate(0, 0, -24),
			night.Add(-30*time.Minute).AddDate(0, 0, 60)).One(ctx, db)
		if v := total.Values["rate"]; err != nil || total.N != 10 || v.Sum < 0.999999 ||
			v.Sum > 1.000001 || v.Max != 0.1 ||
			total.Values["pieces"].Sum != 45 {
			t.Errorf("the total is %v, %v", total, err)
		}
		testkit.WantNothingFound(t, db, append(exact.Checks(), rates.Checks()...))
	})
}
