package spread_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What the tests are about: events of a day.
type event struct {
	ID   string `bson:"_id"`
	Day  string `bson:"day"`
	User string `bson:"user,omitempty"`
	At   int    `bson:"at"`
}

type (
	docs   = testkit.Docs
	spread = keys.Spread[event, string]
	dbFunc = testkit.DBFunc
)

var (
	e      = testkit.E
	events = model.NewCollection[event, string]("events")
	order  = bson.D{e("at", -1)}
	four   = keys.NewSpread(events, "day", keys.SpreadSpec{Parts: 4, By: "_id", Order: order})
	eight  = keys.NewSpread(events, "day", keys.SpreadSpec{Parts: 8, Was: []int{4, 0}, By: "_id", Order: order})
	five   = keys.NewSpread(events, "day", keys.SpreadSpec{Parts: 5, Was: []int{4}, By: "_id", Order: order})
	byUser = keys.NewSpread(events, "day", keys.SpreadSpec{Parts: 4, By: "user"})
	chosen = keys.NewSpread(events, "day", keys.SpreadSpec{Parts: 4})
	fewer  = keys.NewSpread(events, "day", keys.SpreadSpec{Parts: 2, Was: []int{4}})
)

func storeOf(s *spread) *model.Store[event, string] {
	return model.NewStore(model.New("events", s), events)
}

// on returns an event of a day, or under a key.
func on(day string, x event) event {
	x.Day = day
	return x
}

func run(ctx context.Context, db *mongo.Database, c model.ChangeOf[model.Stored[event]]) error {
	_, _, err := c.Run(ctx, db)
	return err
}

func numbered(n int) event { return event{ID: fmt.Sprint("e", n), At: n, User: fmt.Sprint("u", n%3)} }

// inserted stores events of a day.
func inserted(s *spread, from, to int) dbFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		for n := from; n < to; n++ {
			if err := run(ctx, db, storeOf(s).Insert(on("d", numbered(n)))); err != nil {
				return err
			}
		}
		return nil
	}
}

func must(t *testing.T, db *mongo.Database, list ...dbFunc) {
	t.Helper()
	for _, f := range list {
		if err := f(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
}

func ids(t testing.TB, db *mongo.Database, f *model.Find[event]) []string {
	t.Helper()
	list, err := f.All(context.Background(), db)
	if err != nil {
		t.Error(err)
	}
	return testkit.IDsOf(list, func(x event) string { return x.ID })
}

// newest are the ids of events below n, the newest first.
func newest(n int) (out []string) {
	for i := n - 1; i >= 0; i-- {
		out = append(out, fmt.Sprint("e", i))
	}
	return out
}

// Each document is found by a point read and by a read of its day, in order, before, while and after documents move.
func TestFound(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, docs{"events": {event{ID: "e0", Day: "d"}}})
		must(t, db, inserted(four, 1, 30), inserted(eight, 30, 40))
		check := func(s *spread) {
			t.Helper()
			testkit.WantList(t, ids(t, db, s.Find("d", nil)), newest(40))
			for n := range 40 {
				testkit.WantList(t, ids(t, db, s.Point("d", fmt.Sprint("e", n))), []string{fmt.Sprint("e", n)})
			}
		}
		check(eight)
		job := eight.Checks()[0].Job()
		moved := 0
		p, err := job.Run(t.Context(), db, model.JobOptions{BatchSize: 3, Progress: func(model.Progress) error {
			moved++
			check(eight)
			return nil
		}})
		if err != nil || moved < 3 || p.Modified < 5 {
			t.Errorf("%v, %v, %d batches", p, err, moved)
		}
		testkit.WantNothingFound(t, db, eight.Checks())
		check(keys.NewSpread(events, "day", keys.SpreadSpec{Parts: 8, By: "_id", Order: order})) // Was can go
		testkit.WantList(t, ids(t, db, eight.Find("d", bson.D{e("user", "u1")}).Limited(2)), []string{"e37", "e34"})
		testkit.WantList(t, ids(t, db, eight.Find("other", nil)), nil)
	})
}

// Pages go through all parts in order.
func TestPages(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		must(t, db, testkit.Stored(docs{"events": nil}), inserted(four, 0, 25))
		var got []string
		token := ""
		for {
			page, err := eight.Find("d", nil).Limited(7).Page(t.Context(), db, token)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, testkit.IDsOf(page.Docs, func(x event) string { return x.ID })...)
			if token = page.Next; token == "" {
				break
			}
			must(t, db, testkit.CheckJob(eight.Checks()[0])) // documents move between pages
		}
		testkit.WantList(t, got, newest(25))
	})
}

// Without By a document stays in its part when parts are added, and moves from a part that is gone.
func TestChosen(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, docs{"events": nil})
		r := rand.New(rand.NewPCG(1, 2))
		for n := range 20 {
			key, err := chosen.KeyAt("d", r.Uint64())
			if err == nil {
				err = run(t.Context(), db, storeOf(chosen).Insert(on(key, numbered(n))))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		more := keys.NewSpread(events, "day", keys.SpreadSpec{Parts: 9, Was: []int{4}})
		testkit.WantNothingFound(t, db, more.Checks())
		if found := testkit.AllFound(t, db, fewer.Checks()); len(found) == 0 || len(found) == 20 {
			t.Errorf("found %d", len(found))
		}
		must(t, db, testkit.CheckJob(fewer.Checks()[0]))
		testkit.WantNothingFound(t, db, fewer.Checks())
		want := newest(20)
		slices.Sort(want)
		testkit.WantList(t, ids(t, db, fewer.Find("d", nil)), want)
	})
}

func TestRefused(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, docs{"events": nil})
		other, err := four.Key("d", "e2") // another part's
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []model.ChangeOf[model.Stored[event]]{
			storeOf(four).Insert(numbered(1)), storeOf(four).Insert(on("a#b", numbered(1))),
			storeOf(four).Insert(on(other, numbered(1))), storeOf(byUser).Insert(event{ID: "e1", Day: "d"}),
			storeOf(chosen).Insert(numbered(1)), storeOf(chosen).Insert(on("a#b", numbered(1))),
			storeOf(chosen).Insert(on("d#004", numbered(1))), storeOf(chosen).Insert(on("#001", numbered(1))),
		} {
			testkit.WantError(t, run(t.Context(), db, c), testkit.ErrRefused)
		}
		if _, err := four.KeyAt("d", 1); err == nil {
			t.Error("a part is chosen beside By")
		}
		if _, err := chosen.Key("d", "e1"); err == nil {
			t.Error("a part by By is told without By")
		}
		for _, f := range []*model.Find[event]{
			four.Point("d", nil), four.Point("", "e1"), chosen.Point("d", "e1"), four.Find("", nil), four.Find("a#b", nil),
			four.Find("d", bson.D{e("dya", 1)}),
		} {
			_, err := f.All(t.Context(), db)
			testkit.WantError(t, err, testkit.ErrRefused)
		}
		testkit.WantDocs(t, db, docs{"events": {}})
		key, err := chosen.KeyAt("2014-03-28", 7)
		if key != "2014-03-28#003" || err != nil {
			t.Error(key, err)
		}
	})
}

// A store adds the part to a value, and changes it with the value and with what chooses the part.
func TestStored(t *testing.T) {
	testkit.Parallel(t)
	keyOf := func(key string, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, docs{"events": {event{ID: "old", Day: "d"}}})
		for _, c := range []struct {
			reason string
			change model.ChangeOf[model.Stored[event]]
			want   string
		}{
			{"a value", storeOf(four).Insert(on("d", numbered(1))), keyOf(four.Key("d", "e1"))},
			{"its key", storeOf(four).Insert(on(keyOf(four.Key("d", "e2")), numbered(2))), keyOf(four.Key("d", "e2"))},
			{"another value", storeOf(four).Set("e1", bson.D{e("day", "x")}), keyOf(four.Key("x", "e1"))},
			{"a value without By", storeOf(chosen).Insert(on("d", numbered(3))), keyOf(four.Key("d", "e3"))},
			{"a chosen part", storeOf(chosen).Insert(on("d#002", numbered(4))), "d#002"},
			{"another chosen part", storeOf(chosen).Set("e4", bson.D{e("day", "d#001")}), "d#001"},
			{"the other field", storeOf(byUser).Insert(on("d", event{ID: "e5", User: "u"})), keyOf(byUser.Key("d", "u"))},
			{"another value of the other field", storeOf(byUser).Set("e5", bson.D{e("user", "w")}), keyOf(byUser.Key("d", "w"))},
			{
				reason: "an old document",
				change: storeOf(eight).Edit("old", func(x *event) error { x.Day = "x"; return nil }),
				want:   keyOf(eight.Key("x", "old")),
			},
		} {
			s, _, err := c.change.Run(t.Context(), db)
			if err != nil || s.Doc.Day != c.want {
				t.Errorf("%s: %+v, %v, want %s", c.reason, s.Doc, err, c.want)
			}
		}
	})
}

// What isn't in its part is found. What can't be told is left; what changed since it was found isn't touched.
func TestCheck(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, docs{"events": {
			bson.D{e("_id", "a"), e("day", "d#999"), e("user", "u")}, bson.D{e("_id", "b"), e("day", "d"), e("user", "u")},
			bson.D{e("_id", "c"), e("day", "d#1"), e("user", "u")}, bson.D{e("_id", "d"), e("day", 5), e("user", "u")},
			bson.D{e("_id", "e"), e("day", "d#001")}, bson.D{e("_id", "f"), e("user", "u")},
			bson.D{e("_id", "g"), e("day", "#001"), e("user", "u")},
		}})
		key, err := byUser.Key("d", "u")
		if err != nil {
			t.Fatal(err)
		}
		check := byUser.Checks()[0]
		found, said := testkit.FindingsOf(t, db, check)
		want := []string{
			fmt.Sprintf("events 'a': is under 'd#999', but belongs under '%s'", key),
			fmt.Sprintf("events 'b': is under 'd', but belongs under '%s'", key), "events 'c': 'd#1' isn't a value with a part",
			"events 'd': 5 isn't a value with a part", "events 'e': has no user, which chooses its part",
			"events 'g': '#001' isn't a value with a part",
		}
		if !slices.Equal(said, want) {
			t.Errorf("%q\nwant %q", said, want)
		}
		if _, err := db.Collection("events").
			UpdateByID(t.Context(), "a", bson.D{e("$set", bson.D{e("day", "x#001")})}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			testkit.MustExec(t, db, check.Mend(found))
		}
		testkit.WantList(t, ids(t, db, events.Find(bson.D{e("day", key)})), []string{"b"})
		testkit.WantList(t, ids(t, db, events.Find(bson.D{e("day", "x#001")})), []string{"a"})
		testkit.WantRefusedFindings(t, check)
		testkit.WantDistinctChecks(t, byUser.Checks(), 1)
	})
}

// The move of documents can be cut anywhere, and others insert meanwhile.
func TestMoves(t *testing.T) {
	testkit.Parallel(t)
	right := func(n int) func(t testing.TB, db *mongo.Database) {
		return func(t testing.TB, db *mongo.Database) {
			testkit.WantList(t, ids(t, db, five.Find("d", nil)), newest(n))
			for i := range n {
				testkit.WantList(t, ids(t, db, five.Point("d", fmt.Sprint("e", i))), []string{fmt.Sprint("e", i)})
			}
		}
	}
	testkit.RunFaults(t, map[string]modeltest.FaultCase{
		"move": {
			Seed: inserted(four, 0, 6),
			Run:  testkit.InBatchesOf(2, five.Checks()[0].Job()),
			Check: func(t testing.TB, db *mongo.Database) {
				right(6)(t, db)
				testkit.WantNothingFound(t, db, five.Checks())
			},
		},
	})
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Sample: 2, Match: testkit.Interleaved, Seed: inserted(four, 0, 4),
		A: testkit.InBatchesOf(2, five.Checks()[0].Job()), B: inserted(five, 4, 6),
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			testkit.StaleOrNil(t, errA, errB)
			right(6)(t, db)
		},
	})
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Sample: 2, Match: mongotest.All, Seed: inserted(four, 0, 4),
		A: testkit.InBatchesOf(2, five.Checks()[0].Job()),
		B: func(ctx context.Context, db *mongo.Database) error {
			got, token := []string{}, ""
			for {
				page, err := five.Find("d", nil).Limited(2).Page(ctx, db, token)
				if err != nil {
					return err
				}
				got = append(got, testkit.IDsOf(page.Docs, func(x event) string { return x.ID })...)
				if token = page.Next; token == "" {
					break
				}
			}
			if !slices.Equal(got, newest(4)) {
				return fmt.Errorf("read %v", got)
			}
			return nil
		},
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			testkit.StaleOrNil(t, errA, errB)
			right(4)(t, db)
		},
	})
}

func TestCosts(t *testing.T) {
	testkit.Parallel(t)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		list := make([]event, 3000)
		for i := range list {
			list[i] = numbered(i)
			list[i].Day, _ = four.Key(fmt.Sprint("d", i%10), list[i].ID)
		}
		testkit.MustExec(t, db, events.InsertMany(list))
		modeltest.WantIndexed(t, db, four.Point("d7", "e7"), model.IDIndex)
		testkit.EnsureIndexes(t, db, four)
		for _, c := range []struct {
			reason string
			want   model.Cost
			run    func() error
		}{
			{"insert", model.Cost{Commands: 1, Written: 1}, func() error { return inserted(four, 9000, 9001)(t.Context(), db) }},
			{"point", model.Cost{Commands: 1, Returned: 1}, func() error {
				_, err := eight.Point("d7", "e7").All(t.Context(), db)
				return err
			}},
			{"a page", model.Cost{Commands: 1, Returned: 10}, func() error {
				_, err := eight.Find("d7", nil).Limited(10).All(t.Context(), db)
				return err
			}},
		} {
			modeltest.WantCost(t, monitor, c.want, c.run)
		}
		modeltest.WantIndexed(t, db, four.Find("d7", nil).Limited(10), four.Indexes()[0].Name)
		testkit.EnsureIndexes(t, db, byUser)
		modeltest.WantIndexed(t, db, byUser.Point("d7", "u1"), byUser.Indexes()[1].Name)
	}, mongotest.WithMonitor(monitor))
}

// Random inserts, moves and changes of value beside a list in memory.
func TestLockstep(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, docs{"events": nil})
		r := rand.New(rand.NewPCG(5, 6))
		want := map[string]map[string]event{"x": {}, "y": {}}
		steps := 150
		if testkit.Few() {
			steps = 30
		}
		for n := range steps {
			value, s := []string{"x", "y"}[r.IntN(2)], []*spread{four, eight}[r.IntN(2)]
			switch x := numbered(n); {
			case r.IntN(8) == 0:
				must(t, db, testkit.CheckJob(eight.Checks()[0]))
			case r.IntN(4) == 0 && len(want[value]) > 0: // to the other value
				other := map[string]string{"x": "y", "y": "x"}[value]
				id := slices.Sorted(func(yield func(string) bool) {
					for id := range want[value] {
						if !yield(id) {
							return
						}
					}
				})[0]
				if err := run(t.Context(), db, storeOf(s).Set(id, bson.D{e("day", other)})); err != nil {
					t.Fatal(err)
				}
				want[other][id] = want[value][id]
				delete(want[value], id)
			default:
				if err := run(t.Context(), db, storeOf(s).Insert(on(value, x))); err != nil {
					t.Fatal(err)
				}
				want[value][x.ID] = x
			}
			for value, held := range want {
				var list []event
				for _, x := range held {
					list = append(list, x)
				}
				slices.SortFunc(list, func(a, b event) int { return cmp.Compare(b.At, a.At) })
				testkit.WantList(t, ids(t, db, eight.Find(value, nil)), testkit.IDsOf(list, func(x event) string { return x.ID }))
				if len(list) > 0 {
					id := list[r.IntN(len(list))].ID
					testkit.WantList(t, ids(t, db, eight.Point(value, id)), []string{id})
				}
			}
		}
	})
}

func TestDeclarations(t *testing.T) {
	testkit.Parallel(t)
	type listed struct {
		ID   string   `bson:"_id"`
		Days []string `bson:"days,omitempty"`
	}
	lists := model.NewCollection[listed, string]("lists")
	declare := func(path string, spec keys.SpreadSpec) func() { return func() { keys.NewSpread(events, path, spec) } }
	testkit.WantDeclarationErrors(t,
		testkit.Wrong("no parts", declare("day", keys.SpreadSpec{}), "Parts is 0", "events.day", "1 to 1000"),
		testkit.Wrong("too many parts", declare("day", keys.SpreadSpec{Parts: 1001}), "Parts is 1001",
			"events.day", "1 to 1000"),
		testkit.Wrong("the _id", declare("_id", keys.SpreadSpec{Parts: 4}), "the _id", "events._id", "another field"),
		testkit.Wrong("no string", declare("at", keys.SpreadSpec{Parts: 4}), "is of type int", "events.at", "string"),
		testkit.Wrong("an array", func() { keys.NewSpread(lists, "days", keys.SpreadSpec{Parts: 4}) }, "in an array",
			"lists.days", "isn't in an array"),
		testkit.Wrong("Was twice", declare("day", keys.SpreadSpec{Parts: 4, Was: []int{4}}), "4 twice", "events.day", "once"),
		testkit.Wrong("Was below 0", declare("day", keys.SpreadSpec{Parts: 4, Was: []int{-1}}), "-1",
			"events.day", "1 to 1000"),
		testkit.Wrong("By itself", declare("day", keys.SpreadSpec{Parts: 4, By: "day"}),
			"the key itself", "events.day", "_id"),
		testkit.Wrong("By an array", func() {
			keys.NewSpread(model.NewCollection[struct {
				ID   string   `bson:"_id"`
				Day  string   `bson:"day"`
				Days []string `bson:"days,omitempty"`
			}, string]("x"), "day", keys.SpreadSpec{Parts: 4, By: "days"})
		}, "in an array", "x.day", "in an array"),
		testkit.Wrong("no direction", declare("day", keys.SpreadSpec{Parts: 4, Order: bson.D{e("at", 3)}}), "sorts at by 3",
			"events.day", "1 or -1"),
		testkit.Wrong("Order twice", declare("day", keys.SpreadSpec{Parts: 4, Order: append(order, order...)}),
			"twice", "events.day", "once"),
		testkit.Wrong("Order by the key", declare("day", keys.SpreadSpec{Parts: 4, Order: bson.D{e("day", 1)}}), `by "day"`,
			"events.day", "other than"),
	)
}
