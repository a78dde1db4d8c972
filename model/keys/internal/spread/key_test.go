package spread_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// Without By a document stays in its part when parts are added, and moves from a part that is gone.
func TestChosen(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, docs{"events": nil})
		r := rand.New(rand.NewPCG(1, 2))
		for n := range 20 {
			key, err := chosen.KeyAt("d", r.Uint64())
			if err == nil {
				err = run(t.Context(), db, storeOf(chosen).Insert(setDay(key, makeEvent(n))))
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

func TestCosts(t *testing.T) {
	testkit.Parallel(t)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		list := make([]event, 3000)
		for i := range list {
			list[i] = makeEvent(i)
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
			{"insert", model.Cost{Commands: 1, Written: 1}, func() error {
				return insertEvents(four, 9000, 9001)(t.Context(), db)
			}},
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
	}, monitor)
}
