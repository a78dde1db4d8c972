package rollup_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/rollup"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What each operation costs is what its documentation says.
func TestRollupPrices(t *testing.T) {
	testkit.Parallel(t)
	waiting := func(ctx context.Context, db *mongo.Database) error {
		return errors.Join(testkit.CreateIndexes(ctx, db, rolled), insertHits(ctx, db, rolled, five...))
	}
	from, to := night.Add(-30*time.Minute), night.Add(24*time.Hour-30*time.Minute)
	testkit.WantPrices(t, waiting,
		testkit.Does("Insert", 1, 1, 0, func(ctx context.Context, db *mongo.Database) error {
			return insertHits(ctx, db, rolled, hitOf("6", "a", 0, 1))
		}),
		testkit.Does("Insert once more", 2, 0, 1, func(ctx context.Context, db *mongo.Database) error {
			return insertHits(ctx, db, rolled, hitOf("6", "a", 0, 1))
		}),
		testkit.Does("Roll", 8, 22, 12, rolledUp), // 6 events twice, 10 bins
		testkit.Does("Roll of nothing", 2, 0, 0, rolledUp),
		testkit.Reads("Bins", 2, rolled.Bins("a", denorm.Hourly, from, to)),
		testkit.Reads("Total", 1, rolled.Total("a", from, to)),
		testkit.Does("Expire", 1, 5, 0, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, model.NewPlan(rolled.Expire(to)))
		}),
	)
}

// A declaration that can't be panics, and bad input is refused before anything is sent.
func TestRollupRefuses(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*rollup.Spec){
		"Bins is empty":         func(s *rollup.Spec) { s.Bins = nil },
		"Bins has the Period 0": func(s *rollup.Spec) { s.Bins = []denorm.Period{denorm.NoPeriod} },
		"names the day twice": func(s *rollup.Spec) {
			s.Bins = []denorm.Period{denorm.Daily, denorm.Daily}
		},
		"Keep is -1":                         func(s *rollup.Spec) { s.Keep = -1 },
		"For is -1ns":                        func(s *rollup.Spec) { s.For = -1 },
		`Time "site" is of type string`:      func(s *rollup.Spec) { s.Time = "site" },
		`Mark "ms" is of type int64`:         func(s *rollup.Spec) { s.Mark = "ms" },
		`Sums "site" is of type string`:      func(s *rollup.Spec) { s.Sums = []string{"site"} },
		`By "at" overlaps "at"`:              func(s *rollup.Spec) { s.By = []string{"at"} },
		"the groups of the bins are of type": func(s *rollup.Spec) { s.By = nil },
		`have no field "site"`:               func(s *rollup.Spec) { s.By = []string{"site", "ms"} },
		`path "nowhere"`:                     func(s *rollup.Spec) { s.Maxs = []string{"nowhere"} },
		`By "ms" is of type int64`: func(s *rollup.Spec) {
			s.By, s.Sums, s.Mins, s.Maxs = []string{"ms"}, nil, nil, nil
		},
	} {
		spec := rollupSpec(nil)
		change(&spec)
		if got := testkit.PanicOf(func() {
			rollup.New(hits, totals, spec)
		}); !strings.Contains(fmt.Sprint(got), want) {
			t.Errorf("panics with %v, want %q", got, want)
		}
	}
	if got := testkit.PanicOf(func() {
		rollup.New(hits, totals.Named("hits"), rollupSpec(nil))
	}); !strings.Contains(fmt.Sprint(got), "the events' own collection") {
		t.Errorf("panics with %v", got)
	}
	marked := hitOf("1", "a", 0, 1)
	marked.Mark = &rollup.Mark{}
	timeless := hitOf("1", "a", 0, 1)
	timeless.At = time.Time{}
	far := timeless
	far.At = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	monitor := mongotest.NewMonitor()
	db := mongotest.NewClient(t, monitor).Database("hits")
	for _, h := range []hit{marked, timeless, far, hitOf("1", "", 0, 1), hitOf("", "a", 0, 1)} {
		testkit.WantError(t, insertHits(t.Context(), db, rolled, h), testkit.ErrRefused)
	}
	if sent := monitor.Commands(); len(sent) > 0 {
		t.Errorf("sent %v", sent)
	}
	testkit.WantError(t, model.NewPlan(rolled.Expire(time.Time{})).Err(), testkit.ErrRefused)
	half := night.Add(time.Minute)
	for _, err := range []error{
		rolled.Bins("", denorm.Hourly, night, night).Err,
		rolled.Bins("a", denorm.NoPeriod, time.Time{}, time.Time{}).Err,
		rolled.Bins("a", denorm.Daily, night, night).Err, rolled.Bins("a", denorm.Daily, far.At, time.Time{}).Err,
		rolled.Total("a", half, half.Add(time.Hour)).Err, rolled.Total("a", night, night).Err,
		rolled.Rebuild(time.Time{}, night).Err, rolled.Rebuild(half, half.Add(time.Hour)).Err,
	} {
		testkit.WantError(t, err, testkit.ErrRefused)
	}
}

// Events that no bin can count, stored by other code, are left, and the others counted.
func TestRollupLeavesWhatDoesNotFit(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		mark := testkit.E("mark", bson.D{testkit.E("batch", bson.ObjectID{})})
		testkit.Seed(t, db, testkit.Docs{"totals": nil, "hits": {
			bson.D{testkit.E("_id", "0"), testkit.E("site", "a"), testkit.E("at", "noon"), mark},
			bson.D{testkit.E("_id", "00"), testkit.E("site", nil), testkit.E("at", night), mark},
			bson.D{
				testkit.E("_id", "01"), testkit.E("site", "a"), testkit.E("at", night), testkit.E("ms", math.NaN()),
				mark,
			},
		}})
		if err := insertHits(ctx, db, rolled, five...); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			var left *model.LeftError
			if err := roll(ctx, db, rolled, 2); !errors.As(err, &left) || left.Left != 3 {
				t.Fatalf("error %v", err)
			}
		}
		testkit.WantNothingFound(t, db, rolled.Checks()[1:])
		if _, err := db.Collection("hits").
			DeleteMany(ctx, bson.D{testkit.E("mark", bson.D{testkit.E("$exists", true)})}); err != nil {
			t.Fatal(err)
		}
		wantBins(t, db, rolled, dutchTime, five...)
	})
}

// Checks find bins that are wrong, missing or too many, and events that wait; mending makes them right. Events that are
// not rolled up yet are no difference. Bins of a time that events are not kept for are passed over.
func TestRollupChecks(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		testkit.Seed(t, db, testkit.Docs{"totals": nil, "hits": nil})
		past := bson.D{
			testkit.E("_id", "past"), testkit.E("site", "c"), testkit.E("at", night), testkit.E("ms", int64(3)),
		}
		if err := errors.Join(insertHits(ctx, db, rolled, five...), rolledUp(ctx, db),
			testkit.Store(ctx, db, testkit.Docs{"hits": {past}}),
			insertHits(ctx, db, rolled, hitOf("6", "a", 0, 8)),
			spoil(ctx, db, "a#hour#2026-10-25T00:00:00Z", bson.D{
				testkit.E("$set", bson.D{testkit.E("values.ms.max", int64(99))}),
			}),
			spoil(ctx, db, "b#day#2026-10-24T22:00:00Z", bson.D{
				testkit.E("$set", bson.D{testkit.E("n", int64(7))}),
			})); err != nil {
			t.Fatal(err)
		}
		checks := rolled.Checks()
		var said []string
		for _, f := range testkit.AllFound(t, db, checks) {
			said = append(said, fmt.Sprint(f.ID, " ", f.Problem))
		}
		want := []string{
			`"6" isn't rolled up`,
			`"a#hour#2026-10-25T00:00:00Z" stores {n: Long('1'), values: {ms: {n: Long('1'), sum: Long('10'), ` +
				`min: Long('10'), max: Long('99')}}}`,
			`"c#hour#2026-10-25T00:00:00Z" is missing, but should count 1 events`,
			`"b#day#2026-10-24T22:00:00Z" stores {n: Long('7')`,
		}
		text := strings.Join(said, "\n")
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("found\n%s\nwant %s", text, w)
			}
		}
		if _, err := testkit.MendAll(ctx, db, checks); err != nil {
			t.Fatal(err)
		}
		ms := int64(3)
		wantBins(t, db, rolled, dutchTime,
			append(five[:5:5], hitOf("6", "a", 0, 8), hit{ID: "past", Site: "c", At: night, Ms: &ms})...)

		spec := rollupSpec(dutchTime)
		spec.For = time.Since(night)/2 + time.Hour // night is long ago, or still to come
		if spec.For > 0 {
			old := rollup.New(hits, totals, spec)
			if err := spoil(ctx, db, "a#hour#2026-10-25T00:00:00Z",
				bson.D{testkit.E("$inc", bson.D{testkit.E("n", int64(1))})}); err != nil {
				t.Fatal(err)
			}
			testkit.WantNothingFound(t, db, old.Checks()[1:2])
		}
	})
}

// Where the events were deleted, bins stay, and late events are added to them.
func TestRollupExpire(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		testkit.Seed(t, db, testkit.Docs{"totals": nil, "hits": nil})
		late := hitOf("6", "a", 0, 8)
		if err := errors.Join(insertHits(ctx, db, rolled, five...), rolledUp(ctx, db),
			insertHits(ctx, db, rolled, late),
			testkit.Exec(ctx, db, model.NewPlan(rolled.Expire(night.AddDate(0, 0, 2)))),
			rolledUp(ctx, db)); err != nil {
			t.Fatal(err)
		}
		if got, want := storedBins(t, db, dutchTime),
			plainBins(append(five[:5:5], late), dutchTime); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the bins are %v, want %v", got, want)
		}
		left, err := hits.Find(nil).All(ctx, db)
		if err != nil || len(left) != 2 {
			t.Errorf("left are %v, %v", left, err)
		}
	})
}

// In transactions, and in some after a run that was cut, each event counts once.
func TestRollupInTransactions(t *testing.T) {
	testkit.Parallel(t)
	f := mongotest.NewFaults()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		within, err := model.WithTransactions(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 10 {
			ctx := t.Context()
			testkit.Seed(t, db, testkit.Docs{"totals": nil, "hits": nil})
			if err := insertHits(ctx, within, rolled, five...); err != nil {
				t.Fatal(err)
			}
			f.From(mongotest.All, n+1, mongotest.Fail(8000))
			_ = roll(ctx, db, rolled, 3)
			f.Reset()
			for range 2 {
				if err := roll(ctx, within, rolled, 3); err != nil {
					t.Fatal(err)
				}
				wantBins(t, db, rolled, dutchTime, five...)
			}
		}
	}, f)
}

// Each tenant has its own bins, if its field leads the group.
func TestRollupTenants(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	testkit.Parallel(t)
	type owned struct {
		ID     string       `bson:"_id"`
		Tenant string       `bson:"tenant"`
		Site   string       `bson:"site"`
		At     time.Time    `bson:"at"`
		Mark   *rollup.Mark `bson:"mark,omitempty"`
	}
	type group struct {
		Tenant string `bson:"tenant"`
		Site   string `bson:"site"`
	}
	x := rollup.New(model.NewCollection[owned, string]("hits"),
		model.NewCollection[rollup.Doc[group, int64], string]("totals"), rollup.Spec{
			Time: "at", By: []string{"tenant", "site"},
			Bins: []denorm.Period{denorm.Hourly, denorm.Daily}, Mark: "mark",
		})
	events := model.NewStore(model.New("owned", x), model.NewCollection[owned, string]("hits"))
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		for i := range 6 {
			tenant := []string{"a", "b"}[i%2]
			scoped := model.Scope{
				Tenant: bson.D{testkit.E("tenant", tenant)}, Delete: bson.D{testkit.E("deletedAt", 7)},
			}.On(db)
			if _, _, err := events.Insert(owned{ID: fmt.Sprint(i), Tenant: tenant, Site: "s", At: night}).
				Run(ctx, scoped); err != nil {
				t.Fatal(err)
			}
			if i%4 > 1 {
				continue
			}
			if _, err := x.Roll().Run(ctx, scoped, model.JobOptions{}); err != nil {
				t.Fatal(err)
			}
			if waiting, err := db.Collection("hits").
				CountDocuments(ctx, bson.D{
					testkit.E("tenant", tenant), testkit.E("mark", bson.D{testkit.E("$exists", true)}),
				}); err != nil || waiting != 0 {
				t.Errorf("%d wait, %v", waiting, err)
			}
			bins, err := x.Bins(group{tenant, "s"}, denorm.Daily, time.Time{}, time.Time{}).All(ctx, scoped)
			if err != nil || len(bins) != 1 || bins[0].N != int64(i/2+1) {
				t.Errorf("the bins of %s are %v, %v", tenant, bins, err)
			}
			for _, c := range x.Checks() {
				if found, err := c.All(ctx, scoped); err != nil || len(found) > 0 {
					t.Errorf("found %v, %v", found, err)
				}
			}
		}
	})
}
