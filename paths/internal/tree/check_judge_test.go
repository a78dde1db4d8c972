package tree_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// wantMended fails the test unless the check finds problems of a kind, the repair mends them, and the
// typed reads then give the nodes.
func wantMended(k pathstest.Kind, t *testing.T, db *mongo.Database, what, kind, want string) {
	t.Helper()
	check := k.Tree.Checks()[0]
	found, err := check.All(t.Context(), db)
	if err != nil {
		t.Errorf("%s: %s: %v", k.Name, what, err)
		return
	}
	if !slices.ContainsFunc(
		found, func(f model.Finding) bool { return f.Detail.Lookup("kind").StringValue() == kind },
	) {
		t.Errorf("%s: %s: the check finds %v", k.Name, what, found)
	}
	if p, err := check.Job().Run(
		t.Context(), db, model.JobOptions{DryRun: true},
	); err != nil || p.Writes != int64(len(found)) || !p.Done {
		t.Errorf("%s: %s: a dry run: %+v, %v", k.Name, what, p, err)
	}
	if p, err := check.Job().Run(t.Context(), db, model.JobOptions{}); err != nil || !p.Done || p.Modified == 0 {
		t.Errorf("%s: %s: %+v, %v", k.Name, what, p, err)
		return
	}
	if found, err := check.All(t.Context(), db); err != nil || len(found) > 0 {
		t.Errorf("%s: %s: after the repair %v, %v", k.Name, what, found, err)
	}
	all, err := k.Docs.Find(nil).All(t.Context(), db)
	if err != nil {
		t.Errorf("%s: %s: %v", k.Name, what, err)
		return
	}
	for _, n := range all {
		if _, err := k.ReadBelow(t.Context(), db, n.ID, 0); err != nil {
			t.Errorf("%s: %s: %v", k.Name, what, err)
		}
	}
	if got := pathstest.Shape(k.ReadForest(t, db)); got != want {
		t.Errorf("%s: %s: %s, want %s", k.Name, what, got, want)
	}
}

// Order keys and numbers of changes that are something else are found and mended.
func TestRepairOfOtherTypes(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.CutKinds() {
			k.Ensure(t, db)
			for _, c := range []struct {
				what string
				set  bson.D
				kind string
				want string
			}{
				{"an array with a key", bson.D{{Key: "order", Value: bson.A{"a0"}}}, "order", "a(b c) d"},
				{"an array of keys", bson.D{{Key: "order", Value: bson.A{"a0", "a1"}}}, "order", "a(b c) d"},
				{"a number as key", bson.D{{Key: "order", Value: 7}}, "order", "a(b c) d"},
				{"a change that is a string", bson.D{{Key: "change", Value: "7"}}, "change", "a(b c) d"},
				{"a change that is a fraction", bson.D{{Key: "change", Value: 7.5}}, "change", "a(b c) d"},
				{"a change that is an array", bson.D{{Key: "change", Value: bson.A{int64(7)}}}, "change", "a(b c) d"},
				{"a change that is a document", bson.D{{Key: "change", Value: bson.D{}}}, "change", "a(b c) d"},
				{"a change beyond all", bson.D{{Key: "change", Value: int64(1<<63 - 1)}}, "change", "a(b c) d"},
			} {
				k.Store(t, db, pathstest.Parse("a(b c) d"))
				k.Put(t, db, "b", c.set)
				wantMended(k, t, db, c.what, c.kind, c.want)
			}
		}
	})
}

// A number of a nested set that is stored as another type is in the way of the same number.
func TestRepairOfOtherNumbers(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.NestedKinds {
			for _, one := range []any{int32(1), 1.0, int64(1)} {
				k.Ensure(t, db)
				k.Store(t, db, pathstest.Parse("a(b) c"))
				k.Put(t, db, "a", bson.D{{Key: "left", Value: int64(9999)}})
				k.Put(t, db, "c", bson.D{{Key: "left", Value: one}})
				wantMended(k.Kind, t, db, fmt.Sprintf("%T", one), "field", "a(b) c")
			}
			// Whole numbers of 32 bits are no damage where they are right.
			k.Store(t, db, pathstest.Parse("a(b) c"))
			b, err := k.Docs.ByID("b").One(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			k.Put(t, db, "b", bson.D{{Key: "left", Value: int32(b.Left)}, {Key: "right", Value: int32(b.Right)}})
			for _, s := range k.Suspects {
				if found, err := s.All(t.Context(), db); len(found) > 0 || err != nil {
					t.Errorf("%s: %v, %v", k.Name, found, err)
				}
			}
			k.WantWhole(t, db)
			if _, err := k.Tree.Insert(
				pathstest.Category{ID: "x"}, paths.FirstRoot[string](),
			).Run(t.Context(), db); err != nil {
				t.Errorf("%s: %v", k.Name, err)
			}
			k.WantWhole(t, db)
		}
	})
}

// Cycles are cut at the least _id in the server's order, and siblings with one order key come in it.
func TestCyclesInServerOrder(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.Kinds {
			k.Ensure(t, db)
			k.Store(t, db, pathstest.Parse("aa b c"))
			k.Put(t, db, "aa", bson.D{{Key: "parent", Value: "b"}})
			k.Put(t, db, "b", bson.D{{Key: "parent", Value: "aa"}})
			wantMended(k, t, db, "strings of two lengths", "cycle", "c aa(b)")
			k.Store(t, db, pathstest.Parse("x(b c aa)"))
			for _, id := range []string{"b", "c", "aa"} {
				k.Put(t, db, id, bson.D{{Key: "order", Value: "a5"}})
			}
			below, err := pathstest.IDs(k.Find(t.Context(), db, "x", k.Tree.Children))
			if err != nil {
				t.Fatal(err)
			}
			pathstest.MustEqual(t, "the server's order", below, []string{"aa", "b", "c"})
			wantMended(k, t, db, "one key", "order", "x(aa b c)")
		}
		type numbered struct {
			ID     int64  `bson:"_id"`
			Parent *int64 `bson:"parent"`
			Order  string `bson:"order"`
			Change int64  `bson:"change"`
		}
		docs := model.NewCollection[numbered, int64]("numbered")
		tree := paths.NewParentTree(docs, paths.TreeSpec{})
		for _, pair := range [][2]int64{{-5, 3}, {-1, -300}, {256, 255}} {
			if _, err := db.Collection("numbered").DeleteMany(t.Context(), bson.D{}); err != nil {
				t.Fatal(err)
			}
			if _, err := docs.InsertMany(
				[]numbered{{ID: pair[0], Parent: &pair[1], Order: "a0"}, {ID: pair[1], Parent: &pair[0], Order: "a0"}},
			).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if _, err := pathstest.MendTree(tree).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			roots, err := tree.Roots().All(t.Context(), db)
			if err != nil || len(roots) != 1 || roots[0].ID != min(pair[0], pair[1]) {
				t.Errorf("%v: %v, %v", pair, roots, err)
			}
		}
	})
}

// Orphans become roots after the others, also where the greatest order key of these is none.
func TestNewRootsComeLast(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.CutKinds() {
			k.Ensure(t, db)
			for _, bad := range []string{"~", "zz", "b00", "a1!"} {
				k.Store(t, db, pathstest.Parse("a b(c(d)) e"))
				k.Put(t, db, "e", bson.D{{Key: "order", Value: bad}})
				k.Put(t, db, "c", bson.D{{Key: "parent", Value: "nobody"}})
				wantMended(k, t, db, "after "+bad, "orphan", "a b e c(d)")
			}
		}
	})
}

// A lock document that was lost, or is older than the nodes, stops nobody: the changes' numbers go
// on above those of the nodes.
func TestLostLock(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		locks := db.Collection("docmodel.locks")
		for _, k := range pathstest.CutKinds() {
			k.Ensure(t, db)
			for _, lost := range []bool{true, false} {
				for name, c := range map[string]struct {
					do   pathstest.Change
					want string
				}{
					"move":    {pathstest.MoveNode("b", paths.LastChild("f")), "a f(b(c(d)))"},
					"insert":  {pathstest.InsertNode("x", paths.LastChild("d")), "a(b(c(d(x)))) f"},
					"delete":  {pathstest.DeleteNode("d", paths.Restrict), "a(b(c)) f"},
					"promote": {pathstest.DeleteNode("b", paths.Promote), "a(c(d)) f"},
					"repair": {
						func(k pathstest.Kind) pathstest.Runner { return pathstest.MendTree(k.Tree) }, "a(b(c(d))) f",
					},
				} {
					what := fmt.Sprintf("%s: %s, lost %v", k.Name, name, lost)
					k.Store(t, db, pathstest.Parse("a(b(c(d))) f"))
					high := bson.D{{Key: "change", Value: int64(500)}}
					for _, id := range []string{"a", "b", "f"} {
						k.Put(t, db, id, high)
					}
					k.Put(t, db, "d", bson.D{{Key: "change", Value: int64(700)}}) // which not every change reads
					if k.SetFence(t, db, 2); lost {
						if _, err := locks.DeleteMany(t.Context(), bson.D{}); err != nil {
							t.Fatal(err)
						}
					}
					report, err := pathstest.Inspect(t.Context(), db, k.Tree)
					if err != nil || len(report) != 1 || pathstest.ReadKind(report[0]) != "change" ||
						report[0].ID.StringValue() != "d" {
						t.Errorf("%s: %v, %v", what, report, err)
					}
					if _, err := c.do(k).Run(t.Context(), db); err != nil {
						t.Errorf("%s: %v", what, err)
						continue
					}
					k.WantWhole(t, db)
					if got := pathstest.Shape(k.ReadForest(t, db)); got != c.want {
						t.Errorf("%s: %s, want %s", what, got, c.want)
					}
				}
			}
		}
	})
}
