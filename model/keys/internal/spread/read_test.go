package spread_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
)

// Each document is found by a point read and by a read of its day, in order, before, while and after documents move.
func TestFound(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, docs{"events": {event{ID: "e0", Day: "d"}}})
		must(t, db, insertEvents(four, 1, 30), insertEvents(eight, 30, 40))
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
		must(t, db, testkit.Stored(docs{"events": nil}), insertEvents(four, 0, 25))
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
			switch x := makeEvent(n); {
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
				if err := run(t.Context(), db, storeOf(s).Insert(setDay(value, x))); err != nil {
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
				testkit.WantList(t, ids(t, db, eight.Find(value, nil)),
					testkit.IDsOf(list, func(x event) string { return x.ID }))
				if len(list) > 0 {
					id := list[r.IntN(len(list))].ID
					testkit.WantList(t, ids(t, db, eight.Point(value, id)), []string{id})
				}
			}
		}
	})
}
