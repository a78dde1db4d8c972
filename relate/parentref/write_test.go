package parentref_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// of is one entry of a server; "" is none.
func storeEntry(server string) testkit.Docs {
	return testkit.Docs{"entries": {entry{1, server, timeAt(1)}}}
}

func TestParentRefWrites(t *testing.T) {
	testkit.Parallel(t)
	some := func(servers ...string) testkit.Docs {
		var list []any
		for i, s := range servers {
			list = append(list, entry{i + 1, s, timeAt(i)})
		}
		return testkit.Docs{"entries": list}
	}
	testkit.RunPlanCases(t, []testkit.PlanCase{
		{Reason: "every child of one parent, and no other", Before: some("a", "b", "a", ""), Plan: model.NewPlan(
			writes.MoveAll("a", "z"),
		),
			After: some("z", "b", "z", ""), Status: model.Applied, Again: model.Applied},
		{
			Reason: "of a parent without children", Before: some("b"), Plan: model.NewPlan(writes.MoveAll("a", "z")),
			Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "all from no id", Before: some("a"), Plan: model.NewPlan(writes.MoveAll("", "z")),
			Err: testkit.ErrRefused,
		},
		{
			Reason: "all to no id", Before: some("a"), Plan: model.NewPlan(writes.MoveAll("a", "")),
			Err: testkit.ErrRefused,
		},
	})
}

// Every write, cut and run again, ends right.
func TestParentRefFaults(t *testing.T) {
	testkit.Parallel(t)
	three := func(a, b, c string) testkit.Docs {
		return testkit.Docs{"entries": {entry{1, a, timeAt(1)}, entry{2, b, timeAt(2)}, entry{3, c, timeAt(3)}}}
	}
	before := three("a", "a", "")
	testkit.RunFaults(t, map[string]modeltest.FaultCase{
		"MoveAll": testkit.FaultsOf(before, writes.MoveAll("a", "b"), three("b", "b", "")),
	})
}

// Two clients move one child at once by a store, from the parent that they read: one is told, and the child is where
// the
// other put it.
func TestParentRefMoveMeetsMove(t *testing.T) {
	testkit.Parallel(t)
	store := model.NewStore(model.New("log", writes), entries)
	move := func(to string) testkit.DBFunc {
		return testkit.Changed(
			store.SetOne(
				bson.D{{Key: "_id", Value: 1}, {Key: "server", Value: "a"}}, bson.D{{Key: "server", Value: to}},
			),
		)
	}
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Seed: testkit.Stored(storeEntry("a")), A: move("b"), B: move("c"),
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			want := storeEntry("b")
			if errA != nil {
				want = storeEntry("c")
			}
			if (errA == nil) == (errB == nil) || !errors.Is(errors.Join(errA, errB), model.ErrNotFound) {
				t.Errorf("errors %v and %v, want one ErrNotFound", errA, errB)
			}
			testkit.WantDocsInAnyOrder(t, db, want)
		},
	})
}
