package childrefs_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// No step is sent after one that finds the state changed.
func TestChildRefsNothingAfterStale(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(t, db, testkit.Docs{"gadgets": {gadget{ID: "h"}}, "screws": {}})
		m.Reset()
		plan := model.NewPlan(
			screws.Insert(screw{ID: "b"}), uses.Add("g", "b"), screws.Insert(screw{ID: "c"}), uses.Add("h", "c"),
		)
		result, err := plan.Run(t.Context(), db)
		var step *model.StepError
		if !errors.As(err, &step) || step.Step != 1 || !errors.Is(err, model.ErrNotFound) {
			t.Fatalf("error %v, want a *StepError of the second step with ErrNotFound", err)
		}
		if n := len(m.Commands()); n != 2 {
			t.Errorf("sent %d commands, want 2: %v", n, m.Commands())
		}
		want := []model.Status{model.Applied, model.NotSent, model.NotSent, model.NotSent}
		testkit.WantList(
			t, testkit.IDsOf(result.Steps, func(s model.StepResult) model.Status { return s.Status }), want,
		)
		testkit.WantDocsInAnyOrder(t, db, testkit.Docs{"gadgets": {gadget{ID: "h"}}, "screws": {screw{ID: "b"}}})
	}, m)
}

// Every write and plan, cut anywhere and run again, ends right.
func TestChildRefsFaults(t *testing.T) {
	testkit.Parallel(t)
	gh := testkit.Docs{
		"gadgets": {gadget{
			ID: "g", Screws: []string{"a", "b"},
		}, gadget{ID: "h", Screws: []string{"c", "a"}}, gadget{ID: "i", Screws: []string{"a", "d"}}},
		"screws": {screw{ID: "a"}, screw{ID: "b"}, screw{ID: "c"}},
	}
	with := func(name string, list ...any) testkit.Docs {
		out := testkit.Docs{"gadgets": gh["gadgets"], "screws": gh["screws"]}
		out[name] = list
		return out
	}
	onG := func(ids ...string) testkit.Docs {
		return with("gadgets", gadget{ID: "g", Screws: ids}, gh["gadgets"][1], gh["gadgets"][2])
	}
	gone := with(
		"gadgets", gadget{ID: "g", Screws: []string{"b"}}, gadget{ID: "h", Screws: []string{"c"}},
		gadget{ID: "i", Screws: []string{"d"}},
	)
	f1 := storeHoldings(holding{7, 70}, holding{8, 80})
	testkit.RunFaults(t, map[string]modeltest.FaultCase{
		"Add":              testkit.FaultsOf(gh, uses.Add("g", "x", "y"), onG("a", "b", "x", "y")),
		"InsertAt":         testkit.FaultsOf(gh, uses.InsertAt("g", 1, "x"), onG("a", "x", "b")),
		"Remove":           testkit.FaultsOf(gh, uses.Remove("g", "a"), onG("b")),
		"RemoveEverywhere": testkit.FaultsOf(gh, uses.RemoveEverywhere("a"), gone),
		"Reorder": testkit.FaultsOf(
			gh, uses.Reorder("g", []string{"a", "b"}, []string{"b", "a"}), onG("b", "a"),
		),
		"Add to elements": testkit.FaultsOf(
			f1, holds.Add(testkit.OID(1), 9), storeHoldings(holding{7, 70}, holding{8, 80}, holding{ShareID: 9}),
		),
		"AddElement": testkit.FaultsOf(
			f1, holds.AddElement(testkit.OID(1), holding{9, 90}),
			storeHoldings(holding{7, 70}, holding{8, 80}, holding{9, 90}),
		),
		"Remove from elements": testkit.FaultsOf(f1, holds.Remove(testkit.OID(1), 7), storeHoldings(holding{8, 80})),
	})
}
