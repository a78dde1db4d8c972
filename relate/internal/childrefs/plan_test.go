package childrefs_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func TestChildRefsPlans(t *testing.T) {
	testkit.Parallel(t)
	testkit.RunPlanCases(t, []testkit.PlanCase{
		{Reason: "a new child, listed", Before: lists("a"), Plan: uses.InsertChild("g", screw{ID: "b", Size: 3}),
			After:  testkit.Docs{"gadgets": {gadget{ID: "g", Screws: []string{"a", "b"}}}, "screws": {screw{ID: "b", Size: 3}}},
			Status: model.Applied, Again: model.Applied},
		{Reason: "a new child of elements", Before: held(holding{7, 70}), Plan: holds.InsertChild(testkit.OID(1), share{ID: 8, Name: "n"}),
			After:  testkit.Docs{"folios": {folio{testkit.OID(1), []holding{{7, 70}, {ShareID: 8}}}}, "shares": {share{8, "n"}}},
			Status: model.Applied, Again: model.Already},
		{Reason: "a new child of no parent stays unlisted", Before: testkit.Docs{"gadgets": {}, "screws": {}}, Plan: uses.InsertChild("g", screw{ID: "b"}),
			After: testkit.Docs{"gadgets": {}, "screws": {screw{ID: "b"}}}, Err: model.ErrNotFound},
		{Reason: "a child without an id", Before: testkit.Docs{"gadgets": {gadget{ID: "g"}}, "screws": {}}, Plan: uses.InsertChild("g", screw{}), Err: testkit.ErrRefused},
		{Reason: "a parent without an id: the child isn't stored", Before: testkit.Docs{"gadgets": {gadget{ID: "g"}}, "screws": {}},
			Plan: uses.InsertChild("", screw{ID: "b"}), Err: testkit.ErrRefused},
		{Reason: "a child goes, out of every list first",
			Before: testkit.Docs{"gadgets": {gadget{ID: "g", Screws: []string{"a", "b"}}, gadget{ID: "h", Screws: []string{"a"}}}, "screws": {screw{ID: "a"}, screw{ID: "b"}}},
			Plan:   uses.DeleteChild("a"),
			After:  testkit.Docs{"gadgets": {gadget{ID: "g", Screws: []string{"b"}}, bson.D{{Key: "_id", Value: "h"}, {Key: "screws", Value: bson.A{}}}}, "screws": {screw{ID: "b"}}},
			Status: model.Applied, Again: model.Applied},
		{Reason: "a child that isn't there", Before: lists("b"), Plan: uses.DeleteChild("a"), Status: model.Applied, Again: model.Applied},
		{Reason: "an empty id", Before: lists("b"), Plan: uses.DeleteChild(""), Err: testkit.ErrRefused},
	})
}

// Another child under the id is the server's error, and the parent doesn't list it.
func TestChildRefsInsertChildTaken(t *testing.T) {
	testkit.Parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		before := testkit.Docs{"gadgets": {gadget{ID: "g"}}, "screws": {screw{ID: "b", Size: 1}}}
		testkit.SeedAlone(t, db, before)
		_, err := uses.InsertChild("g", screw{ID: "b", Size: 2}).Run(t.Context(), db)
		if !mongo.IsDuplicateKeyError(err) {
			t.Fatalf("error %v, want the server's duplicate key", err)
		}
		testkit.WantDocsInAnyOrder(t, db, before)
	})
}

// No step is sent after one that finds the state changed.
func TestChildRefsNothingAfterStale(t *testing.T) {
	testkit.Parallel(t)
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(t, db, testkit.Docs{"gadgets": {gadget{ID: "h"}}, "screws": {}})
		m.Reset()
		plan := model.Concat(uses.InsertChild("g", screw{ID: "b"}), uses.InsertChild("h", screw{ID: "c"}))
		result, err := plan.Run(t.Context(), db)
		var step *model.StepError
		if !errors.As(err, &step) || step.Step != 1 || !errors.Is(err, model.ErrNotFound) {
			t.Fatalf("error %v, want a *StepError of the second step with ErrNotFound", err)
		}
		if n := len(m.Commands()); n != 2 {
			t.Errorf("sent %d commands, want 2: %v", n, m.Commands())
		}
		want := []model.Status{model.Applied, model.NotSent, model.NotSent, model.NotSent}
		testkit.WantList(t, testkit.IDsOf(result.Steps, func(s model.StepResult) model.Status { return s.Status }), want)
		testkit.WantDocsInAnyOrder(t, db, testkit.Docs{"gadgets": {gadget{ID: "h"}}, "screws": {screw{ID: "b"}}})
	}, modeltest.WithMonitor(m))
}

// Every write and plan, cut anywhere and run again, ends right.
func TestChildRefsFaults(t *testing.T) {
	testkit.Parallel(t)
	gh := testkit.Docs{
		"gadgets": {gadget{ID: "g", Screws: []string{"a", "b"}}, gadget{ID: "h", Screws: []string{"c", "a"}}, gadget{ID: "i", Screws: []string{"a", "d"}}},
		"screws":  {screw{ID: "a"}, screw{ID: "b"}, screw{ID: "c"}},
	}
	with := func(name string, list ...any) testkit.Docs {
		out := testkit.Docs{"gadgets": gh["gadgets"], "screws": gh["screws"]}
		out[name] = list
		return out
	}
	onG := func(ids ...string) testkit.Docs {
		return with("gadgets", gadget{ID: "g", Screws: ids}, gh["gadgets"][1], gh["gadgets"][2])
	}
	gone := with("gadgets", gadget{ID: "g", Screws: []string{"b"}}, gadget{ID: "h", Screws: []string{"c"}}, gadget{ID: "i", Screws: []string{"d"}})
	inserted := onG("a", "b", "x")
	inserted["screws"] = append(append([]any{}, gh["screws"]...), screw{ID: "x", Size: 2})
	deleted := testkit.Docs{"gadgets": gone["gadgets"], "screws": {screw{ID: "b"}, screw{ID: "c"}}}
	f1 := held(holding{7, 70}, holding{8, 80})
	testkit.RunFaults(t, map[string]modeltest.FaultCase{
		"Add":                  testkit.FaultsOf(gh, uses.Add("g", "x", "y"), onG("a", "b", "x", "y")),
		"InsertAt":             testkit.FaultsOf(gh, uses.InsertAt("g", 1, "x"), onG("a", "x", "b")),
		"Remove":               testkit.FaultsOf(gh, uses.Remove("g", "a"), onG("b")),
		"RemoveEverywhere":     testkit.FaultsOf(gh, uses.RemoveEverywhere("a"), gone),
		"Reorder":              testkit.FaultsOf(gh, uses.Reorder("g", []string{"a", "b"}, []string{"b", "a"}), onG("b", "a")),
		"InsertChild":          testkit.FaultsOf(gh, uses.InsertChild("g", screw{ID: "x", Size: 2}), inserted),
		"DeleteChild":          testkit.FaultsOf(gh, uses.DeleteChild("a"), deleted),
		"Add to elements":      testkit.FaultsOf(f1, holds.Add(testkit.OID(1), 9), held(holding{7, 70}, holding{8, 80}, holding{ShareID: 9})),
		"AddElement":           testkit.FaultsOf(f1, holds.AddElement(testkit.OID(1), holding{9, 90}), held(holding{7, 70}, holding{8, 80}, holding{9, 90})),
		"Remove from elements": testkit.FaultsOf(f1, holds.Remove(testkit.OID(1), 7), held(holding{8, 80})),
		"InsertChild of elements": testkit.FaultsOf(f1, holds.InsertChild(testkit.OID(1), share{ID: 9}), testkit.Docs{
			"folios": held(holding{7, 70}, holding{8, 80}, holding{ShareID: 9})["folios"], "shares": {share{ID: 9}},
		}),
	})
}
