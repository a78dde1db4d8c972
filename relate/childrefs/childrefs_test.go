package childrefs_test

import (
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/childrefs"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Gadgets list their screws by bare ids, folios their shares by elements.
type (
	gadget struct {
		ID     string   `bson:"_id"`
		Name   string   `bson:"name,omitempty"`
		Screws []string `bson:"screws,omitempty"`
	}
	screw struct {
		ID   string `bson:"_id"`
		Size int    `bson:"size,omitempty"`
	}
	holding struct {
		ShareID int64 `bson:"shareId"`
		Number  int64 `bson:"number,omitempty"`
	}
	folio struct {
		ID       bson.ObjectID `bson:"_id"`
		Holdings []holding     `bson:"holdings,omitempty"`
	}
	share struct {
		ID   int64  `bson:"_id"`
		Name string `bson:"name,omitempty"`
	}
)

var (
	gadgets = model.NewCollection[gadget, string]("gadgets")
	screws  = model.NewCollection[screw, string]("screws")
	folios  = model.NewCollection[folio, bson.ObjectID]("folios")
	shares  = model.NewCollection[share, int64]("shares")

	uses  = childrefs.New(gadgets, "screws", screws)
	holds = childrefs.New(folios, "holdings.shareId", shares)
)

// What each operation costs is what its value says, and what its documentation says: commands and documents written.
func TestChildRefsCosts(t *testing.T) {
	testkit.Parallel(t)
	before := testkit.Docs{
		"gadgets": {gadget{ID: "g", Screws: []string{"b", "a"}}, gadget{ID: "h", Screws: []string{"a"}}},
		"screws":  {screw{ID: "a"}, screw{ID: "b"}},
		"folios":  {folio{testkit.OID(1), []holding{{7, 70}}}},
		"shares":  {share{ID: 7}},
	}
	g := gadget{ID: "g", Screws: []string{"b", "a"}}
	tests := []testkit.CostCase{
		testkit.CostOf("Add", model.NewPlan(uses.Add("g", "c", "d")), 1, 1),
		testkit.CostOf("Add to elements", model.NewPlan(holds.Add(testkit.OID(1), 8)), 1, 1),
		testkit.CostOf("AddElement", model.NewPlan(holds.AddElement(testkit.OID(1), holding{8, 80})), 1, 1),
		testkit.CostOf("InsertAt", model.NewPlan(uses.InsertAt("g", 0, "c")), 1, 1),
		testkit.CostOf("Remove", model.NewPlan(uses.Remove("g", "a", "b")), 1, 1),
		testkit.CostOf(
			"RemoveEverywhere writes each document that lists it", model.NewPlan(uses.RemoveEverywhere("a")), 1, 2,
		),
		testkit.CostOf("Reorder", model.NewPlan(uses.Reorder("g", []string{"b", "a"}, []string{"a", "b"})), 1, 1),
		testkit.CostOfRead("Children", uses.Children(&g), 2),
		testkit.CostOfRead("ChildrenOf", uses.ChildrenOf("g"), 2),
		testkit.CostOfRead("ParentsOf", uses.ParentsOf("a"), 2),
	}
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range tests {
			t.Run(test.Reason, func(t *testing.T) { test.Check(t, m, db, before) })
		}
	}, m)
}

// A write that matches nothing asks once whether it was applied before.
func TestChildRefsCostsOfNoMatch(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(t, db, testkit.Docs{"gadgets": {gadget{ID: "g", Screws: []string{"a"}}}})
		for reason, w := range map[string]model.Write{
			"an id that is listed":      uses.InsertAt("g", 0, "a"),
			"a list that was reordered": uses.Reorder("g", []string{"x"}, []string{"a"}),
		} {
			t.Run(reason, func(t *testing.T) {
				modeltest.WantCost(t, m, model.Cost{Commands: 2, Returned: 1}, func() error {
					_, err := w.Run(t.Context(), db)
					return err
				})
			})
		}
	}, m)
}

// The declared indexes serve the queries, among thousands of documents.
func TestChildRefsIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		const n = 4000
		d := testkit.Docs{}
		for i := range n {
			d["screws"] = append(d["screws"], screw{ID: fmt.Sprint("c", i)})
			d["gadgets"] = append(
				d["gadgets"],
				gadget{ID: fmt.Sprint("g", i), Screws: []string{fmt.Sprint("c", i), fmt.Sprint("c", (i+1)%n)}},
			)
			d["folios"] = append(
				d["folios"],
				folio{
					ID:       [12]byte{1, 10: byte(i >> 8), 11: byte(i)},
					Holdings: []holding{{int64(i), 1}, {int64(i + 1), 1}},
				},
			)
		}
		testkit.SeedAlone(t, db, d)
		testkit.EnsureIndexes(t, db, uses, holds)
		testkit.WantAllIndexed(t, db, []testkit.IndexedCase{
			{
				Reason: "children of a document in hand", Query: uses.Children(&gadget{Screws: []string{"c1", "c77"}}),
				Index: model.IDIndex,
			},
			{Reason: "children by a parent's id", Query: uses.ChildrenOf("g5"), Index: model.IDIndex},
			{Reason: "parents of a child", Query: uses.ParentsOf("c1"), Index: "screws_1"},
			{Reason: "parents of a child in elements", Query: holds.ParentsOf(17), Index: "holdings.shareId_1"},
			{Reason: "a child out of every list", Query: uses.RemoveEverywhere("c1"), Index: "screws_1"},
			{Reason: "one write by _id", Query: uses.Add("g5", "c1"), Index: model.IDIndex},
			{Reason: "one write with a guard", Query: uses.InsertAt("g5", 0, "c1"), Index: model.IDIndex},
		})
	})
}
