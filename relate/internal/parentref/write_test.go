package parentref_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// of is one entry of a server; "" is none.
func of(server string) testkit.Docs { return testkit.Docs{"entries": {entry{1, server, at(1)}}} }

func TestParentRefWrites(t *testing.T) {
	testkit.Parallel(t)
	null := testkit.Docs{"entries": {bson.D{{Key: "_id", Value: 1}, {Key: "server", Value: nil}, {Key: "at", Value: at(1)}}}}
	some := func(servers ...string) testkit.Docs {
		var list []any
		for i, s := range servers {
			list = append(list, entry{i + 1, s, at(i)})
		}
		return testkit.Docs{"entries": list}
	}
	testkit.RunPlanCases(t, []testkit.PlanCase{
		{Reason: "moved", Before: of("a"), Plan: model.NewPlan(writes.Move(1, "a", "b")), After: of("b"), Status: model.Applied, Again: model.Already},
		{Reason: "to where it is", Before: of("a"), Plan: model.NewPlan(writes.Move(1, "a", "a")), Status: model.Applied, Again: model.Applied},
		{Reason: "somebody else moved it to a third", Before: of("c"), Plan: model.NewPlan(writes.Move(1, "a", "b")), Err: model.ErrStale},
		{Reason: "somebody else moved it to the same", Before: of("b"), Plan: model.NewPlan(writes.Move(1, "a", "b")), Status: model.Already, Again: model.Already},
		{Reason: "it has none to be moved from", Before: of(""), Plan: model.NewPlan(writes.Move(1, "a", "b")), Err: model.ErrStale},
		{Reason: "it is gone", Before: testkit.Docs{"entries": {}}, Plan: model.NewPlan(writes.Move(1, "a", "b")), Err: model.ErrNotFound},
		{Reason: "from no id", Before: of("a"), Plan: model.NewPlan(writes.Move(1, "", "b")), Err: testkit.ErrRefused},
		{Reason: "to no id", Before: of("a"), Plan: model.NewPlan(writes.Move(1, "a", "")), Err: testkit.ErrRefused},

		{Reason: "detached", Before: of("a"), Plan: model.NewPlan(writes.Detach(1, "a")), After: of(""), Status: model.Applied, Again: model.Already},
		{Reason: "moved before it could be detached", Before: of("c"), Plan: model.NewPlan(writes.Detach(1, "a")), Err: model.ErrStale},
		{Reason: "gone before it could be detached", Before: testkit.Docs{"entries": {}}, Plan: model.NewPlan(writes.Detach(1, "a")), Err: model.ErrNotFound},
		{Reason: "detached from no id", Before: of("a"), Plan: model.NewPlan(writes.Detach(1, "")), Err: testkit.ErrRefused},

		{Reason: "attached", Before: of(""), Plan: model.NewPlan(writes.Attach(1, "a")), After: of("a"), Status: model.Applied, Again: model.Already},
		{Reason: "attached where null is stored", Before: null, Plan: model.NewPlan(writes.Attach(1, "a")), After: of("a"), Status: model.Applied, Again: model.Already},
		{Reason: "attached elsewhere before", Before: of("c"), Plan: model.NewPlan(writes.Attach(1, "a")), Err: model.ErrStale},
		{Reason: "gone before it could be attached", Before: testkit.Docs{"entries": {}}, Plan: model.NewPlan(writes.Attach(1, "a")), Err: model.ErrNotFound},
		{Reason: "attached to no id", Before: of(""), Plan: model.NewPlan(writes.Attach(1, "")), Err: testkit.ErrRefused},

		{Reason: "every child of one parent, and no other", Before: some("a", "b", "a", ""), Plan: model.NewPlan(writes.MoveAll("a", "z")),
			After: some("z", "b", "z", ""), Status: model.Applied, Again: model.Applied},
		{Reason: "of a parent without children", Before: some("b"), Plan: model.NewPlan(writes.MoveAll("a", "z")), Status: model.Applied, Again: model.Applied},
		{Reason: "all from no id", Before: some("a"), Plan: model.NewPlan(writes.MoveAll("", "z")), Err: testkit.ErrRefused},
		{Reason: "all to no id", Before: some("a"), Plan: model.NewPlan(writes.MoveAll("a", "")), Err: testkit.ErrRefused},
	})
}

// Every write, cut and run again, ends right.
func TestParentRefFaults(t *testing.T) {
	testkit.Parallel(t)
	three := func(a, b, c string) testkit.Docs {
		return testkit.Docs{"entries": {entry{1, a, at(1)}, entry{2, b, at(2)}, entry{3, c, at(3)}}}
	}
	before := three("a", "a", "")
	testkit.RunFaults(t, map[string]modeltest.FaultCase{
		"Move":    testkit.FaultsOf(before, writes.Move(1, "a", "b"), three("b", "a", "")),
		"Detach":  testkit.FaultsOf(before, writes.Detach(1, "a"), three("", "a", "")),
		"Attach":  testkit.FaultsOf(before, writes.Attach(3, "a"), three("a", "a", "a")),
		"MoveAll": testkit.FaultsOf(before, writes.MoveAll("a", "b"), three("b", "b", "")),
		"a child from one parent to another, and the rest after it": testkit.FaultsOf(before,
			model.NewPlan(writes.Move(1, "a", "b"), writes.Attach(3, "b"), writes.MoveAll("a", "c")), three("b", "c", "b")),
	})
}

// Two that move one child at once: one is told, and the child is where the other put it.
func TestParentRefMoveMeetsMove(t *testing.T) {
	testkit.Parallel(t)
	move := func(to string) testkit.DBFunc { return testkit.Doing(writes.Move(1, "a", to)) }
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Seed: testkit.Stored(of("a")), A: move("b"), B: move("c"),
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			want := of("b")
			if errA != nil {
				want = of("c")
			}
			if (errA == nil) == (errB == nil) || !errors.Is(errors.Join(errA, errB), model.ErrStale) {
				t.Errorf("errors %v and %v, want one ErrStale", errA, errB)
			}
			testkit.WantDocsInAnyOrder(t, db, want)
		},
	})
}

// A move that read and decides again after a race moves what is there then.
func TestParentRefMoveInChange(t *testing.T) {
	testkit.Parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(t, db, of("a"))
		reads := 0
		change := model.Change[entry]{
			Read: func(ctx context.Context, db model.DB) (entry, error) {
				e, err := entries.ByID(1).One(ctx, db)
				if reads++; reads == 1 && err == nil {
					_, err = writes.Move(1, "a", "c").Run(ctx, db) // somebody else, in between
				}
				return e, err
			},
			Decide: func(e entry) (model.Plan, error) {
				return model.NewPlan(writes.Move(e.ID, e.Server, "b")), nil
			},
		}
		if _, _, err := change.Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		testkit.WantDocsInAnyOrder(t, db, of("b"))
		if reads != 2 {
			t.Errorf("read %d times, want twice", reads)
		}
	})
}

// An entry is moved by whoever found it where he read it: it ends where one of the two put it.
func TestParentRefInterleaved(t *testing.T) {
	testkit.Parallel(t)
	where := map[string]string{"Move to b": "b", "Move to c": "c", "Detach": "", "Attach to b": "b", "MoveAll to b": "b", "MoveAll from b": "c"}
	testkit.MeetAll(t, []testkit.Operation{
		testkit.Planned("Move to b", writes.Move(1, "a", "b")),
		testkit.Planned("Move to c", writes.Move(1, "a", "c")),
		testkit.Planned("Detach", writes.Detach(1, "a")),
		testkit.Planned("Attach to b", writes.Attach(1, "b")),
		testkit.Planned("MoveAll to b", writes.MoveAll("a", "b")),
		testkit.Planned("MoveAll from b", writes.MoveAll("b", "c")),
	}, testkit.Stored(of("a")), func(t testing.TB, db *mongo.Database, pair string) {
		e, err := entries.ByID(1).One(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		a, b, _ := strings.Cut(pair, " | ")
		if e.Server != "a" && e.Server != where[a] && e.Server != where[b] {
			t.Errorf("it ended with %q", e.Server)
		}
		if e.Server == "a" && strings.Contains(pair, "Move to") {
			t.Error("it was moved by nobody")
		}
	})
}
