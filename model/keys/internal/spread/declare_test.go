package spread_test

import (
	"context"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
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

// setDay returns an event with a day, or with a key.
func setDay(day string, x event) event {
	x.Day = day
	return x
}

func run(ctx context.Context, db *mongo.Database, c model.ChangeOf[model.Stored[event]]) error {
	_, _, err := c.Run(ctx, db)
	return err
}

func makeEvent(n int) event { return event{ID: fmt.Sprint("e", n), At: n, User: fmt.Sprint("u", n%3)} }

// insertEvents stores events of a day.
func insertEvents(s *spread, from, to int) dbFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		for n := from; n < to; n++ {
			if err := run(ctx, db, storeOf(s).Insert(setDay("d", makeEvent(n)))); err != nil {
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

func TestRefused(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, docs{"events": nil})
		other, err := four.Key("d", "e2") // another part's
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []model.ChangeOf[model.Stored[event]]{
			storeOf(four).Insert(makeEvent(1)), storeOf(four).Insert(setDay("a#b", makeEvent(1))),
			storeOf(four).Insert(setDay(other, makeEvent(1))), storeOf(byUser).Insert(event{ID: "e1", Day: "d"}),
			storeOf(chosen).Insert(makeEvent(1)), storeOf(chosen).Insert(setDay("a#b", makeEvent(1))),
			storeOf(chosen).Insert(setDay("d#004", makeEvent(1))), storeOf(chosen).Insert(setDay("#001", makeEvent(1))),
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
			four.Point("d", nil), four.Point("", "e1"), chosen.Point("d", "e1"), four.Find("", nil),
			four.Find("a#b", nil), four.Find("d", bson.D{e("dya", 1)}),
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
		testkit.Wrong("Was twice", declare("day", keys.SpreadSpec{Parts: 4, Was: []int{4}}), "4 twice",
			"events.day", "once"),
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
		testkit.Wrong("no direction", declare("day", keys.SpreadSpec{Parts: 4, Order: bson.D{e("at", 3)}}),
			"sorts at by 3", "events.day", "1 or -1"),
		testkit.Wrong("Order twice", declare("day", keys.SpreadSpec{Parts: 4, Order: append(order, order...)}),
			"twice", "events.day", "once"),
		testkit.Wrong("Order by the key", declare("day", keys.SpreadSpec{Parts: 4, Order: bson.D{e("day", 1)}}),
			`by "day"`, "events.day", "other than"),
	)
}
