package uniquecount_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/uniquecount"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type view = uniquecount.Doc[string, string]

var (
	views     = model.NewCollection[view, string]("clicks")
	viewers   = uniquecount.New(views, uniquecount.Spec{Period: denorm.Daily, For: 90 * 24 * time.Hour})
	monthsOf  = uniquecount.New(views.Named("months"), uniquecount.Spec{Period: denorm.Monthly})
	foreverOf = uniquecount.New(views.Named("forever"), uniquecount.Spec{})
	noon      = time.Date(2014, 3, 28, 12, 0, 0, 0, time.UTC)
)

func uniqueDay(n int) time.Time { return noon.AddDate(0, 0, n) }

func uniqueDoc(group, day, member string) view {
	from, err := time.Parse("2006-01-02", day)
	if err != nil {
		panic(err)
	}
	return view{ID: group + "#" + day + "#" + member, Group: group, Member: member, Period: day, From: from}
}

func TestUniqueCountVisit(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	ann := testkit.Docs{"clicks": {uniqueDoc("a", "2014-03-28", "ann")}}
	testkit.RunWriteCases(t, []testkit.WriteCase{
		{
			Reason: "somebody new", Before: testkit.Docs{"clicks": {}},
			Write: viewers.Visit("a", "ann", noon), After: ann, Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "later that day", Before: ann,
			Write:  viewers.Visit("a", "ann", noon.Add(11*time.Hour)),
			Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "the next day", Before: ann,
			Write:  viewers.Visit("a", "ann", noon.Add(12*time.Hour)),
			After:  testkit.Docs{"clicks": {ann["clicks"][0], uniqueDoc("a", "2014-03-29", "ann")}},
			Status: model.Applied, Again: model.Applied,
		},
		{Reason: "for ever", Before: testkit.Docs{"forever": {}}, Write: foreverOf.Visit("a#b%", "$x\x00", time.Time{}),
			After: testkit.Docs{
				"forever": {
					bson.D{
						testkit.E("_id", "a%23b%25#$x\x00"), testkit.E("group", "a#b%"), testkit.E("member", "$x\x00"),
					},
				},
			},
			Status: model.Applied, Again: model.Applied},
		{
			Reason: "over",
			Before: testkit.Docs{"clicks": {uniqueDoc("a", "2014-03-27", "x"), uniqueDoc("b", "2014-03-28", "x")}},
			Write:  viewers.Expire(noon),

			After:  testkit.Docs{"clicks": {uniqueDoc("b", "2014-03-28", "x")}},
			Status: model.Applied, Again: model.Applied,
		},
		{Reason: "no group", Before: ann, Write: viewers.Visit("", "ann", noon), Err: testkit.ErrRefused},
		{Reason: "no member", Before: ann, Write: viewers.Visit("a", "", noon), Err: testkit.ErrRefused},
		{Reason: "no time", Before: ann, Write: viewers.Visit("a", "ann", time.Time{}), Err: testkit.ErrRefused},
		{
			Reason: "a time too late", Before: ann,
			Write: viewers.Visit("a", "ann", noon.AddDate(8000, 0, 0)),
			Err:   testkit.ErrRefused,
		},
		{
			Reason: "nothing is over without a Period", Before: testkit.Docs{"forever": {}},
			Write: foreverOf.Expire(noon),
			Err:   testkit.ErrRefused,
		},
		{Reason: "over before no time", Before: ann, Write: viewers.Expire(time.Time{}), Err: testkit.ErrRefused},
	})
	for reason, err := range map[string]error{
		"a bad visit among good ones": viewers.VisitAll([]model.Write{
			viewers.Visit("a", "b", noon), viewers.Visit("a", "", noon),
		}).Err(), "no visit": viewers.VisitAll([]model.Write{{}}).Err(),
		"times backwards":                viewers.Count("a", noon, noon).Err,
		"no group to count":              viewers.Count("", noon, uniqueDay(1)).Err,
		"no group to list":               viewers.Visits("", noon, uniqueDay(1)).Err,
		"times without a Period":         foreverOf.Count("a", noon, time.Time{}).Err,
		"times without a Period, of all": foreverOf.Counts(noon, time.Time{}).Err,
		"no Period to count by":          foreverOf.PerPeriod("a", time.Time{}, time.Time{}).Err,
		"a time too late":                viewers.Counts(noon, noon.AddDate(8000, 0, 0)).Err,
		"nobody to look for":             viewers.Seen("a", "", noon).Err,
		"a rollup into shorter":          monthsOf.Rollup(viewers, noon, uniqueDay(1)).Err(),
		"a rollup of none":               foreverOf.Rollup(monthsOf, noon, uniqueDay(1)).Err(),
		"a rollup without times":         viewers.Rollup(monthsOf, noon, time.Time{}).Err(),
		"a rollup backwards":             viewers.Rollup(monthsOf, noon, noon).Err(),
		"a rollup of centuries":          viewers.Rollup(monthsOf, noon, noon.AddDate(100, 0, 0)).Err(),
		"a rollup into itself": viewers.Rollup(uniquecount.New(views, uniquecount.Spec{}),
			noon, uniqueDay(1)).Err(),
		"a rollup to other nights": viewers.Rollup(uniquecount.New(views.Named("x"), uniquecount.Spec{
			Period: denorm.Monthly, Location: time.FixedZone("Tokyo", 9*3600),
		}), noon, uniqueDay(1)).Err(),
	} {
		t.Run(reason, func(t *testing.T) { testkit.WantError(t, err, testkit.ErrRefused) })
	}
}

// Whatever visits there are, in whatever order: counts are those of a plain map, rolled up too, with groups and members
// that hold what keys are written with.
func TestUniqueCountProperty(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	groups := []string{"CA:San", "CA:San Francisco", "CA", "a#b", "a%23b", "a", "$g", "é", "a\x00"}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"clicks": {}, "months": {}, "forever": {}})
		r := rand.New(rand.NewPCG(1, 2))
		type key struct {
			group, member string
			day           int
		}
		seen := map[key]bool{}
		var visits []model.Step
		for range 600 {
			k := key{groups[r.IntN(len(groups))], []string{"x", "x#y", "x%", "#", "2014-03-28#z"}[r.IntN(5)], r.IntN(8)}
			seen[k] = true
			visits = append(visits,
				viewers.Visit(k.group, k.member, uniqueDay(k.day).Add(time.Duration(r.IntN(700))*time.Minute)))
		}
		testkit.MustExec(t, db, model.NewPlan(visits[:400]...), model.NewPlan(visits[300:]...))
		testkit.MustExec(t, db, viewers.Rollup(monthsOf, noon, uniqueDay(3)),
			viewers.Rollup(monthsOf, uniqueDay(2), uniqueDay(8)),
			viewers.Rollup(foreverOf, noon, uniqueDay(8)))
		count := func(group string, from, to int) int64 {
			members := map[string]bool{}
			for k := range seen {
				if k.group == group && k.day >= from && k.day < to {
					members[k.member] = true
				}
			}
			return int64(len(members))
		}
		for range 40 {
			from := r.IntN(8)
			to := from + 1 + r.IntN(8-from)
			group := groups[r.IntN(len(groups))]
			got, err := viewers.Count(group, uniqueDay(from), uniqueDay(to-1).Add(time.Hour)).One(t.Context(), db)
			if want := count(group, from, to); err != nil || got.N != want {
				t.Errorf("%q from %d to %d: %d, want %d, %v", group, from, to, got.N, want, err)
			}
			all, err := viewers.Counts(uniqueDay(from), uniqueDay(to-1).Add(time.Hour)).All(t.Context(), db)
			if err != nil ||
				!slices.IsSortedFunc(all, func(a, b denorm.Counted[string]) int {
					return slices.Compare([]byte(a.Value), []byte(b.Value))
				}) {
				t.Errorf("counts %v, %v", all, err)
			}
			for _, g := range groups {
				i := slices.IndexFunc(all, func(c denorm.Counted[string]) bool { return c.Value == g })
				if want := count(g, from, to); i < 0 && want > 0 || i >= 0 && all[i].N != want {
					t.Errorf("counts of %q: %v, want %d", g, all, want)
				}
			}
		}
		var none time.Time
		for _, g := range groups {
			total, err := viewers.Count(g, none, none).One(t.Context(), db)
			ever, err2 := foreverOf.Count(g, none, none).One(t.Context(), db)
			month, err3 := monthsOf.Count(g, noon, uniqueDay(3)).One(t.Context(), db)
			april, err4 := monthsOf.Count(g, uniqueDay(4), uniqueDay(7)).One(t.Context(), db)
			want := count(g, 0, 8)
			if err := errors.Join(err, err2, err3, err4); err != nil || total.N != want || ever.N != want ||
				month.N != count(g, 0, 4) || april.N != count(g, 4, 8) {
				t.Errorf("%q: %v %v %v %v, want %d, %v", g, total, ever, month, april, want, err)
			}
			listed, err := viewers.Visits(g, uniqueDay(2), none).All(t.Context(), db)
			n := 0
			for k := range seen {
				if k.group == g && k.day >= 2 {
					n++
				}
			}
			if err != nil || len(listed) != n {
				t.Errorf("%q: %d listed, want %d, %v", g, len(listed), n, err)
			}
			days, err := viewers.PerPeriod(g, none, none).All(t.Context(), db)
			for _, d := range days {
				at, _ := time.Parse("2006-01-02", d.Value)
				if i := int(at.Sub(noon.Add(-12*time.Hour)).Hours()) / 24; d.N != count(g, i, i+1) {
					t.Errorf("%q: %v", g, days)
				}
			}
			if err != nil {
				t.Error(err)
			}
		}
		midnight := noon.Add(-12 * time.Hour) // a time that a query ends at is not in it
		if got, err := viewers.Count("CA", midnight, midnight.AddDate(0, 0, 1)).One(t.Context(), db); err != nil ||
			got.N != count("CA", 0, 1) {
			t.Errorf("one day: %v, want %d, %v", got, count("CA", 0, 1), err)
		}
		zero, err := viewers.Count("nobody", none, none).One(t.Context(), db)
		if err != nil || zero.N != 0 {
			t.Errorf("nobody: %v, %v", zero, err)
		}
		if _, err := viewers.Seen("a", "none", noon).One(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("not seen: %v", err)
		}
	})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if zero, err := viewers.Count("a", noon, uniqueDay(1)).One(t.Context(), db); err != nil || zero.N != 0 {
			t.Errorf("of no collection: %v, %v", zero, err)
		}
	})
}

// Thirty-two that see the same few at once: each is counted once.
func TestUniqueCountConcurrent(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"clicks": {}})
		errs := make([]error, 32)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				var visits []model.Write
				for n := range 20 {
					visits = append(visits, viewers.Visit("g", fmt.Sprint((n+i)%20), noon))
				}
				for n := range 3 {
					_, err := viewers.Visit("g", fmt.Sprint("m", n), noon).Run(t.Context(), db)
					errs[i] = errors.Join(errs[i], err)
				}
				_, err := viewers.VisitAll(visits).Run(t.Context(), db)
				errs[i] = errors.Join(errs[i], err)
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if got, err := viewers.Count("g", noon, uniqueDay(1)).One(t.Context(), db); err != nil || got.N != 23 {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestUniqueCountFaults(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	visits := model.NewPlan(viewers.Visit("a", "x", noon), viewers.Visit("a", "y", noon),
		viewers.Visit("a", "x", uniqueDay(5)), viewers.Visit("a", "x", noon))
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Run: func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, visits, viewers.Rollup(monthsOf, noon, uniqueDay(8)))
		},
		Check: func(t testing.TB, db *mongo.Database) {
			testkit.WantDocs(t, db, testkit.Docs{
				"clicks": {
					uniqueDoc("a", "2014-03-28", "x"), uniqueDoc("a", "2014-03-28", "y"),
					uniqueDoc("a", "2014-04-02", "x"),
				},
				"months": {
					bson.D{
						testkit.E("_id", "a#2014-03#x"), testkit.E("group", "a"), testkit.E("member", "x"),
						testkit.E("period", "2014-03"),
						testkit.E("from", time.Date(2014, 3, 1, 0, 0, 0, 0, time.UTC)),
					},
					bson.D{
						testkit.E("_id", "a#2014-03#y"), testkit.E("group", "a"), testkit.E("member", "y"),
						testkit.E("period", "2014-03"),
						testkit.E("from", time.Date(2014, 3, 1, 0, 0, 0, 0, time.UTC)),
					},
					bson.D{
						testkit.E("_id", "a#2014-04#x"), testkit.E("group", "a"), testkit.E("member", "x"),
						testkit.E("period", "2014-04"),
						testkit.E("from", time.Date(2014, 4, 1, 0, 0, 0, 0, time.UTC)),
					},
				},
			})
		},
	})
}

// The server deletes a day when Keep is over, and not before; the months stay.
func TestUniqueCountKeep(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	twoDays := uniquecount.New(views, uniquecount.Spec{Period: denorm.Daily, For: 48 * time.Hour})
	synctest.Test(t, func(t *testing.T) {
		ctx, db := context.Background(), mongotest.NewClient(t).Database("log")
		if err := model.New("test", twoDays, monthsOf).Indexes().Ensure(ctx, db); err != nil {
			t.Fatal(err)
		}
		start := time.Now() // of the bubble
		if err := testkit.Exec(ctx, db, model.NewPlan(twoDays.Visit("g", "x", start)),
			twoDays.Rollup(monthsOf, start, start.Add(time.Hour))); err != nil {
			t.Fatal(err)
		}
		for _, want := range []int64{1, 1, 0} {
			day, err := twoDays.Count("g", start, start.Add(time.Hour)).One(ctx, db)
			month, err2 := monthsOf.Count("g", start, start.Add(time.Hour)).One(ctx, db)
			if err := errors.Join(err, err2); err != nil || day.N != want || month.N != 1 {
				t.Errorf("after %s: %d of the day, want %d, %d of the month, %v", time.Since(start),
					day.N, want, month.N, err)
			}
			time.Sleep(24*time.Hour + 2*time.Minute)
		}
	})
}

func TestUniqueCountCostsAndIndexes(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list []any
		for i := range 6000 {
			at := uniqueDay(i % 300)
			list = append(list, uniqueDoc(fmt.Sprint("g", i%40), at.Format("2006-01-02"), fmt.Sprint("m", i)))
		}
		testkit.Seed(t, db, testkit.Docs{"clicks": list})
		if err := model.New("test", viewers).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		modeltest.WantCost(t, m, viewers.Visit("g", "new", noon).Cost(), func() error {
			_, err := viewers.Visit("g", "new", noon).Run(t.Context(), db)
			return err
		})
		modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 1}, func() error {
			_, err := viewers.Count("g7", noon, uniqueDay(300)).One(t.Context(), db)
			return err
		})
		period, rollup := viewers.Indexes()[0].Name,
			viewers.Rollup(monthsOf, noon, uniqueDay(1)).Steps[0].(model.MergeInto)
		for _, test := range []struct {
			reason string
			query  any
			index  string
		}{
			{"Count", viewers.Count("g7", noon, uniqueDay(3)), model.IDIndex},
			{"PerPeriod", viewers.PerPeriod("g7", noon, uniqueDay(3)), model.IDIndex},
			{"Visits", viewers.Visits("g7", noon, uniqueDay(3)), model.IDIndex},
			{"Seen", viewers.Seen("g7", "m7", noon), model.IDIndex},
			{
				reason: "Rollup",
				query: &model.Aggregate[bson.Raw]{
					Aggregation: model.Aggregation{
						Collection: rollup.Collection,
						Pipeline:   rollup.Pipeline[:len(rollup.Pipeline)-1],
					},
				},
				index: period,
			},
			{"Counts", viewers.Counts(noon, uniqueDay(1)), period},
			{"Visit", viewers.Visit("g7", "m7", noon), model.IDIndex},
			{"Expire", viewers.Expire(uniqueDay(1)), period},
		} {
			t.Run(test.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, test.query, test.index) })
		}
	}, m)
}

func TestUniqueCountDeclarations(t *testing.T) {
	testkit.Parallel(t)
	declare := func(spec uniquecount.Spec) func() { return func() { uniquecount.New(views, spec) } }
	for reason, f := range map[string]func(){
		"no such Period":   declare(uniquecount.Spec{Period: 7}),
		"a Location alone": declare(uniquecount.Spec{Location: time.UTC}),
		"Keep alone":       declare(uniquecount.Spec{For: time.Hour}),
		"a short Keep":     declare(uniquecount.Spec{Period: denorm.Daily, For: time.Hour}),
		"a month's Keep":   declare(uniquecount.Spec{Period: denorm.Monthly, For: 24 * time.Hour}),
		"no key": func() {
			uniquecount.New(model.NewCollection[uniquecount.Doc[string, []string], string]("x"),
				uniquecount.Spec{})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			var d *model.DeclarationError
			if err := testkit.PanicOf(f); !errors.As(err, &d) || d.Remedy == "" {
				t.Errorf("panicked with %v", err)
			}
		})
	}
	if r := viewers.Relations(); r != nil || foreverOf.Indexes() != nil {
		t.Errorf("relations %v", r)
	}
}
