package childrefs_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Two that reorder at once: one is told that the list changed.
func TestChildRefsReorderMeetsReorder(t *testing.T) {
	testkit.Parallel(t)
	reorder := func(becomes ...string) testkit.DBFunc {
		return testkit.Doing(uses.Reorder("g", []string{"a", "b", "c"}, becomes))
	}
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Seed: testkit.Stored(lists("a", "b", "c")), A: reorder("c", "b", "a"), B: reorder("b", "c", "a"),
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			want := lists("c", "b", "a")
			if errA != nil {
				want = lists("b", "c", "a")
			}
			if (errA == nil) == (errB == nil) || !errors.Is(errors.Join(errA, errB), model.ErrStale) {
				t.Errorf("errors %v and %v, want one ErrStale", errA, errB)
			}
			testkit.WantDocsInAnyOrder(t, db, want)
		},
	})
}

// Whatever meets, a list holds no id twice, and none that leads nowhere.
func TestChildRefsInterleaved(t *testing.T) {
	testkit.Parallel(t)
	before := testkit.Docs{
		"gadgets": {gadget{ID: "g", Screws: []string{"a", "b"}}, gadget{ID: "h", Screws: []string{"a"}}},
		"screws":  {screw{ID: "a"}, screw{ID: "b"}, screw{ID: "c"}},
	}
	testkit.MeetAll(t, []testkit.Operation{
		testkit.Planned("Add", uses.Add("g", "c", "b")),
		testkit.Planned("InsertAt", uses.InsertAt("g", 0, "c")),
		testkit.Planned("Remove", uses.Remove("g", "a")),
		testkit.Planned("RemoveEverywhere", uses.RemoveEverywhere("a")),
		testkit.Planned("Reorder", uses.Reorder("g", []string{"a", "b"}, []string{"b", "a"})),
	}, testkit.Stored(before), func(t testing.TB, db *mongo.Database, _ string) {
		stored := testkit.IDsOf(testkit.All(t, db, screws.Find(nil)), func(s screw) string { return s.ID })
		for _, g := range testkit.All(t, db, gadgets.Find(nil)) {
			for i, id := range g.Screws {
				if slices.Contains(g.Screws[:i], id) {
					t.Errorf("%s lists %s twice: %v", g.ID, id, g.Screws)
				}
				if !slices.Contains(stored, id) {
					t.Errorf("%s lists %s, which isn't there", g.ID, id)
				}
			}
		}
	})
}

// Elements: each share is held once, whoever adds it first.
func TestChildRefsElementsInterleaved(t *testing.T) {
	testkit.Parallel(t)
	before := storeHoldings(holding{7, 70})
	testkit.MeetAll(t, []testkit.Operation{
		testkit.Planned("AddElement", holds.AddElement(testkit.OID(1), holding{8, 80})),
		testkit.Planned("Add", holds.Add(testkit.OID(1), 8)),
		testkit.Planned("InsertAt", holds.InsertAt(testkit.OID(1), 0, 8)),
		testkit.Planned("Remove", holds.Remove(testkit.OID(1), 7)),
		testkit.Planned("Remove what another adds", holds.Remove(testkit.OID(1), 8)),
	}, testkit.Stored(before), func(t testing.TB, db *mongo.Database, _ string) {
		f, err := folios.ByID(testkit.OID(1)).One(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range f.Holdings {
			if slices.ContainsFunc(f.Holdings[:i], func(x holding) bool { return x.ShareID == h.ShareID }) {
				t.Errorf("share %d is held twice: %v", h.ShareID, f.Holdings)
			}
		}
	})
}
