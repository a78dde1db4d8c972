package relate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func TestChildRefsPlans(t *testing.T) {
	parallel(t)
	runWriteCases(t, []writeCase{
		{reason: "a new child, listed", before: lists("a"), plan: uses.InsertChild("g", screw{ID: "b", Size: 3}),
			after:  docs{"gadgets": {gadget{ID: "g", Screws: []string{"a", "b"}}}, "screws": {screw{ID: "b", Size: 3}}},
			status: model.Applied, again: model.Applied},
		{reason: "a new child of elements", before: held(holding{7, 70}), plan: holds.InsertChild(oid(1), share{ID: 8, Name: "n"}),
			after:  docs{"folios": {folio{oid(1), []holding{{7, 70}, {ShareID: 8}}}}, "shares": {share{8, "n"}}},
			status: model.Applied, again: model.Already},
		{reason: "a new child of no parent stays unlisted", before: docs{"gadgets": {}, "screws": {}}, plan: uses.InsertChild("g", screw{ID: "b"}),
			after: docs{"gadgets": {}, "screws": {screw{ID: "b"}}}, err: model.ErrStale},
		{reason: "a child without an id", before: docs{"gadgets": {gadget{ID: "g"}}, "screws": {}}, plan: uses.InsertChild("g", screw{}), err: errRefused},
		{reason: "a parent without an id: the child isn't stored", before: docs{"gadgets": {gadget{ID: "g"}}, "screws": {}},
			plan: uses.InsertChild("", screw{ID: "b"}), err: errRefused},
		{reason: "a child goes, out of every list first",
			before: docs{"gadgets": {gadget{ID: "g", Screws: []string{"a", "b"}}, gadget{ID: "h", Screws: []string{"a"}}}, "screws": {screw{ID: "a"}, screw{ID: "b"}}},
			plan:   uses.DeleteChild("a"),
			after:  docs{"gadgets": {gadget{ID: "g", Screws: []string{"b"}}, bson.D{{Key: "_id", Value: "h"}, {Key: "screws", Value: bson.A{}}}}, "screws": {screw{ID: "b"}}},
			status: model.Applied, again: model.Applied},
		{reason: "a child that isn't there", before: lists("b"), plan: uses.DeleteChild("a"), status: model.Applied, again: model.Applied},
		{reason: "an empty id", before: lists("b"), plan: uses.DeleteChild(""), err: errRefused},
	})
}

// Another child under the id is the server's error, and the parent doesn't list it.
func TestChildRefsInsertChildTaken(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		before := docs{"gadgets": {gadget{ID: "g"}}, "screws": {screw{ID: "b", Size: 1}}}
		seed(t, db, before)
		_, err := uses.InsertChild("g", screw{ID: "b", Size: 2}).Run(t.Context(), db)
		if !mongo.IsDuplicateKeyError(err) {
			t.Fatalf("error %v, want the server's duplicate key", err)
		}
		wantDocs(t, db, before)
	})
}

// No step is sent after one that finds the state changed.
func TestChildRefsNothingAfterStale(t *testing.T) {
	parallel(t)
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, docs{"gadgets": {gadget{ID: "h"}}, "screws": {}})
		m.Reset()
		plan := model.Concat(uses.InsertChild("g", screw{ID: "b"}), uses.InsertChild("h", screw{ID: "c"}))
		result, err := plan.Run(t.Context(), db)
		var step *model.StepError
		if !errors.As(err, &step) || step.Step != 1 || !errors.Is(err, model.ErrStale) {
			t.Fatalf("error %v, want a *StepError of the second step with ErrStale", err)
		}
		if n := len(m.Commands()); n != 2 {
			t.Errorf("sent %d commands, want 2: %v", n, m.Commands())
		}
		want := []model.Status{model.Applied, model.NotSent, model.NotSent, model.NotSent}
		wantIDs(t, idsOf(result.Steps, func(s model.StepResult) model.Status { return s.Status }), want)
		wantDocs(t, db, docs{"gadgets": {gadget{ID: "h"}}, "screws": {screw{ID: "b"}}})
	}, modeltest.WithMonitor(m))
}

// Every write and plan, cut anywhere and run again, ends right.
func TestChildRefsFaults(t *testing.T) {
	parallel(t)
	gh := docs{
		"gadgets": {gadget{ID: "g", Screws: []string{"a", "b"}}, gadget{ID: "h", Screws: []string{"c", "a"}}, gadget{ID: "i", Screws: []string{"a", "d"}}},
		"screws":  {screw{ID: "a"}, screw{ID: "b"}, screw{ID: "c"}},
	}
	with := func(name string, list ...any) docs {
		out := docs{"gadgets": gh["gadgets"], "screws": gh["screws"]}
		out[name] = list
		return out
	}
	onG := func(ids ...string) docs {
		return with("gadgets", gadget{ID: "g", Screws: ids}, gh["gadgets"][1], gh["gadgets"][2])
	}
	gone := with("gadgets", gadget{ID: "g", Screws: []string{"b"}}, gadget{ID: "h", Screws: []string{"c"}}, gadget{ID: "i", Screws: []string{"d"}})
	inserted := onG("a", "b", "x")
	inserted["screws"] = append(append([]any{}, gh["screws"]...), screw{ID: "x", Size: 2})
	deleted := docs{"gadgets": gone["gadgets"], "screws": {screw{ID: "b"}, screw{ID: "c"}}}
	f1 := held(holding{7, 70}, holding{8, 80})
	faults(t, []faultCase{
		{"Add", gh, one(uses.Add("g", "x", "y")), onG("a", "b", "x", "y")},
		{"InsertAt", gh, one(uses.InsertAt("g", 1, "x")), onG("a", "x", "b")},
		{"Remove", gh, one(uses.Remove("g", "a")), onG("b")},
		{"RemoveEverywhere", gh, one(uses.RemoveEverywhere("a")), gone},
		{"Reorder", gh, one(uses.Reorder("g", []string{"a", "b"}, []string{"b", "a"})), onG("b", "a")},
		{"InsertChild", gh, uses.InsertChild("g", screw{ID: "x", Size: 2}), inserted},
		{"DeleteChild", gh, uses.DeleteChild("a"), deleted},
		{"Add to elements", f1, one(holds.Add(oid(1), 9)), held(holding{7, 70}, holding{8, 80}, holding{ShareID: 9})},
		{"AddElement", f1, one(holds.AddElement(oid(1), holding{9, 90})), held(holding{7, 70}, holding{8, 80}, holding{9, 90})},
		{"Remove from elements", f1, one(holds.Remove(oid(1), 7)), held(holding{8, 80})},
		{"InsertChild of elements", f1, holds.InsertChild(oid(1), share{ID: 9}), docs{
			"folios": held(holding{7, 70}, holding{8, 80}, holding{ShareID: 9})["folios"], "shares": {share{ID: 9}},
		}},
	})
}

type faultCase struct {
	name   string
	before docs
	plan   model.Plan
	after  docs
}

func faults(t *testing.T, cases []faultCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error { return store(ctx, db, c.before) },
				Run: func(ctx context.Context, db *mongo.Database) error {
					_, err := c.plan.Run(ctx, db)
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) { wantDocs(t, db, c.after) },
			})
		})
	}
}

// A child that is deleted while a parent takes it up: whatever the order, the other parents no longer list it. A reference
// that comes in between the two writes leads nowhere, as DeleteChild says.
func TestChildRefsDeleteMeetsAdd(t *testing.T) {
	parallel(t)
	dangling := 0
	run := func(p model.Plan) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := p.Run(ctx, db)
			return err
		}
	}
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return store(ctx, db, docs{"gadgets": {gadget{ID: "g", Screws: []string{"a"}}, gadget{ID: "h"}}, "screws": {screw{ID: "a"}}})
		},
		A: run(uses.DeleteChild("a")),
		B: run(one(uses.Add("h", "a"))),
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			if errA != nil || errB != nil {
				t.Errorf("errors %v and %v", errA, errB)
			}
			wantDocs(t, db, docs{"screws": {}})
			left := all(t, db, uses.ParentsOf("a"))
			for _, g := range left {
				if g.ID != "h" {
					t.Errorf("%s still lists it", g.ID)
				}
			}
			dangling += len(left)
		},
	})
	if dangling == 0 {
		t.Error("no order left a reference that leads nowhere: the documentation of DeleteChild says that one can")
	}
}

// Two that reorder at once: one is told that the list changed.
func TestChildRefsReorderMeetsReorder(t *testing.T) {
	parallel(t)
	reorder := func(becomes ...string) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := uses.Reorder("g", []string{"a", "b", "c"}, becomes).Run(ctx, db)
			return err
		}
	}
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Seed: func(ctx context.Context, db *mongo.Database) error { return store(ctx, db, lists("a", "b", "c")) },
		A:    reorder("c", "b", "a"),
		B:    reorder("b", "c", "a"),
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			want := lists("c", "b", "a")
			if errA != nil {
				want = lists("b", "c", "a")
			}
			if (errA == nil) == (errB == nil) || !errors.Is(errors.Join(errA, errB), model.ErrStale) {
				t.Errorf("errors %v and %v, want one ErrStale", errA, errB)
			}
			wantDocs(t, db, want)
		},
	})
}
