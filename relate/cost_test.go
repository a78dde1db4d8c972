package relate_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What each operation costs is what its value says, and what its documentation says: commands and documents written.
func TestCosts(t *testing.T) {
	parallel(t)
	before := docs{
		"gadgets": {gadget{ID: "g", Screws: []string{"b", "a"}}, gadget{ID: "h", Screws: []string{"a"}}},
		"screws":  {screw{ID: "a"}, screw{ID: "b"}},
		"folios":  {folio{oid(1), []holding{{7, 70}}}},
		"shares":  {share{ID: 7}},
		"servers": log["servers"], "entries": log["entries"],
	}
	g := gadget{ID: "g", Screws: []string{"b", "a"}}
	tests := []costCase{
		costOf("Add", one(uses.Add("g", "c", "d")), 1, 1),
		costOf("Add to elements", one(holds.Add(oid(1), 8)), 1, 1),
		costOf("AddElement", one(holds.AddElement(oid(1), holding{8, 80})), 1, 1),
		costOf("InsertAt", one(uses.InsertAt("g", 0, "c")), 1, 1),
		costOf("Remove", one(uses.Remove("g", "a", "b")), 1, 1),
		costOf("RemoveEverywhere writes each document that lists it", one(uses.RemoveEverywhere("a")), 1, 2),
		costOf("Reorder", one(uses.Reorder("g", []string{"b", "a"}, []string{"a", "b"})), 1, 1),
		costOf("InsertChild", uses.InsertChild("g", screw{ID: "c"}), 2, 2),
		costOf("DeleteChild writes the child and each document that lists it", uses.DeleteChild("a"), 2, 3),
		costOf("Move", one(writes.Move(1, "a", "b")), 1, 1),
		costOf("Detach", one(writes.Detach(1, "a")), 1, 1),
		costOf("Attach", one(writes.Attach(10, "a")), 1, 1),
		costOf("MoveAll writes each child", one(writes.MoveAll("a", "b")), 1, 7),
		readOf("Children", uses.Children(&g), 2),
		readOf("ChildrenOf", uses.ChildrenOf("g"), 2),
		readOf("ParentsOf", uses.ParentsOf("a"), 2),
		readOf("Load", uses.Load(nil), 2),
		readOf("Parent", writes.Parent(&entry{Server: "a"}), 1),
		readOf("Children of a parent", writes.Children("a"), 7),
		readOf("Newest", writes.Newest("a", 3), 3),
		readOf("Load with the newest", writes.Load(nil, 2), 3),
		readOf("LoadParents", writes.LoadParents(nil), 10),
		readOf("Counts", writes.Counts("a", "b", "c"), 2),
	}
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range tests {
			t.Run(test.reason, func(t *testing.T) { test.check(t, m, db, before) })
		}
	}, modeltest.WithMonitor(m))
}

type costCase struct {
	reason string
	value  interface{ Cost() model.Cost }
	run    func(ctx context.Context, db *mongo.Database) error
	want   model.Cost // as documented; measured exactly
}

// check measures a run against what is documented, and another against what the value says.
func (c costCase) check(t *testing.T, m *modeltest.Monitor, db *mongo.Database, before docs) {
	run := func() error { return c.run(t.Context(), db) }
	for _, want := range []model.Cost{c.want, c.value.Cost()} {
		seed(t, db, before)
		modeltest.WantCost(t, m, want, run)
	}
}

func costOf(reason string, p model.Plan, commands, written int) costCase {
	return costCase{reason, p, func(ctx context.Context, db *mongo.Database) error {
		_, err := p.Run(ctx, db)
		return err
	}, model.Cost{Commands: commands, Written: written}}
}

func readOf[R any](reason string, q interface {
	Cost() model.Cost
	All(context.Context, *mongo.Database) ([]R, error)
}, returned int) costCase {
	return costCase{reason, q, func(ctx context.Context, db *mongo.Database) error {
		_, err := q.All(ctx, db)
		return err
	}, model.Cost{Commands: 1, Returned: returned}}
}

// A write that matches nothing asks once whether it was applied before.
func TestCostsOfNoMatch(t *testing.T) {
	parallel(t)
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, docs{"gadgets": {gadget{ID: "g", Screws: []string{"a"}}}, "entries": {entry{1, "b", at(1)}}})
		for reason, w := range map[string]model.Write{
			"an id that is listed": uses.InsertAt("g", 0, "a"), "a child that was moved": writes.Move(1, "a", "b"),
			"a list that was reordered": uses.Reorder("g", []string{"x"}, []string{"a"}),
		} {
			t.Run(reason, func(t *testing.T) {
				modeltest.WantCost(t, m, model.Cost{Commands: 2, Returned: 1}, func() error {
					_, err := w.Run(t.Context(), db)
					return err
				})
			})
		}
	}, modeltest.WithMonitor(m))
}

// The indexes that the techniques declare serve their queries, among thousands of documents.
func TestIndexed(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		fill(t, db)
		wantIndexes(t, db, uses, holds, writes, byID)
		few := bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{"s1", "s2"}}}}}
		indexedCases(t, db, []indexedCase{
			{"children of a document in hand", uses.Children(&gadget{Screws: []string{"c1", "c77"}}), model.IDIndex},
			{"children by a parent's id", uses.ChildrenOf("g5"), model.IDIndex},
			{"parents of a child", uses.ParentsOf("c1"), "screws_1"},
			{"parents of a child in elements", holds.ParentsOf(17), "holdings.shareId_1"},
			{"the parent of a child", writes.Parent(&entry{Server: "s1"}), model.IDIndex},
			{"children of a parent", writes.Children("s1"), "server_1_at_-1__id_-1"},
			{"newest children", writes.Newest("s1", 5), "server_1_at_-1__id_-1"},
			{"the next page", writes.Newest("s1", 5).After(at(1), 77), "server_1_at_-1__id_-1"},
			{"newest children by _id", byID.Newest("s1", 5), "server_1__id_-1"},
			{"counts", writes.Counts("s1", "s2"), "server_1_at_-1__id_-1"},
			{"parents with their newest children", writes.Load(few, 2), model.IDIndex},
			{"children with their parents", writes.LoadParents(bson.D{{Key: "_id", Value: 77}}), model.IDIndex},
			{"parents with their children", uses.Load(bson.D{{Key: "_id", Value: "g7"}}), model.IDIndex},
			{"a child out of every list", uses.RemoveEverywhere("c1"), "screws_1"},
			{"every child of a parent", writes.MoveAll("s1", "s2"), "server_1_at_-1__id_-1"},
			{"one write by _id", uses.Add("g5", "c1"), model.IDIndex},
			{"one write with a guard", uses.InsertAt("g5", 0, "c1"), model.IDIndex},
		})
	})
}
