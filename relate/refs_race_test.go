package relate_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// planned is an operation that reads nothing.
func planned(name string, p model.Plan) operation {
	return operation{name, func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error { return run(p, ctx, db) }}
}

// meet runs every pair of operations in every order.
func meet(t *testing.T, ops []operation, before docs, check func(t testing.TB, db *mongo.Database, pair string)) {
	for _, pair := range pairs(ops) {
		name := pair[0].name + " | " + pair[1].name
		t.Run(name, func(t *testing.T) {
			parallel(t)
			do := func(op operation) func(context.Context, *mongo.Database) error {
				return func(ctx context.Context, db *mongo.Database) error { return op.run(ctx, db, bson.NilObjectID) }
			}
			modeltest.Interleave(t, modeltest.InterleaveCase{
				OnServer: 3, A: do(pair[0]), B: do(pair[1]),
				Seed: func(ctx context.Context, db *mongo.Database) error { return store(ctx, db, before) },
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					staleOrNil(t, errA)
					staleOrNil(t, errB)
					check(t, db, name)
				},
			})
		})
	}
}

// Whatever meets, a list holds no id twice, and none that leads nowhere but where a child was deleted meanwhile.
func TestChildRefsInterleaved(t *testing.T) {
	parallel(t)
	before := docs{
		"gadgets": {gadget{ID: "g", Screws: []string{"a", "b"}}, gadget{ID: "h", Screws: []string{"a"}}},
		"screws":  {screw{ID: "a"}, screw{ID: "b"}, screw{ID: "c"}},
	}
	meet(t, []operation{
		planned("Add", one(uses.Add("g", "c", "b"))),
		planned("InsertAt", one(uses.InsertAt("g", 0, "c"))),
		planned("Remove", one(uses.Remove("g", "a"))),
		planned("RemoveEverywhere", one(uses.RemoveEverywhere("a"))),
		planned("Reorder", one(uses.Reorder("g", []string{"a", "b"}, []string{"b", "a"}))),
		planned("InsertChild", uses.InsertChild("g", screw{ID: "x", Size: 1})),
		planned("DeleteChild", uses.DeleteChild("a")),
	}, before, func(t testing.TB, db *mongo.Database, pair string) {
		stored := idsOf(all(t, db, screws.Find(nil)), func(s screw) string { return s.ID })
		for _, g := range all(t, db, gadgets.Find(nil)) {
			for i, id := range g.Screws {
				if slices.Contains(g.Screws[:i], id) {
					t.Errorf("%s lists %s twice: %v", g.ID, id, g.Screws)
				}
				if !slices.Contains(stored, id) && !strings.Contains(pair, "DeleteChild") {
					t.Errorf("%s lists %s, which isn't there", g.ID, id)
				}
			}
		}
	})
}

// Elements: each share is held once, whoever adds it first.
func TestChildRefsElementsInterleaved(t *testing.T) {
	parallel(t)
	before := held(holding{7, 70})
	meet(t, []operation{
		planned("AddElement", one(holds.AddElement(oid(1), holding{8, 80}))),
		planned("Add", one(holds.Add(oid(1), 8))),
		planned("InsertAt", one(holds.InsertAt(oid(1), 0, 8))),
		planned("Remove", one(holds.Remove(oid(1), 7))),
		planned("Remove what another adds", one(holds.Remove(oid(1), 8))),
		planned("InsertChild", holds.InsertChild(oid(1), share{ID: 9})),
	}, before, func(t testing.TB, db *mongo.Database, _ string) {
		f, err := folios.ByID(oid(1)).One(t.Context(), db)
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

// An entry is moved by whoever found it where he read it: it ends where one of the two put it.
func TestParentRefInterleaved(t *testing.T) {
	parallel(t)
	where := map[string]string{"Move to b": "b", "Move to c": "c", "Detach": "", "Attach to b": "b", "MoveAll to b": "b", "MoveAll from b": "c"}
	meet(t, []operation{
		planned("Move to b", one(writes.Move(1, "a", "b"))),
		planned("Move to c", one(writes.Move(1, "a", "c"))),
		planned("Detach", one(writes.Detach(1, "a"))),
		planned("Attach to b", one(writes.Attach(1, "b"))),
		planned("MoveAll to b", one(writes.MoveAll("a", "b"))),
		planned("MoveAll from b", one(writes.MoveAll("b", "c"))),
	}, of("a"), func(t testing.TB, db *mongo.Database, pair string) {
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
