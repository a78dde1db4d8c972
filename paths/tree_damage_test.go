package paths_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// put sets fields of a node, past the tree.
func (k kind) put(t testing.TB, db *mongo.Database, id string, set bson.D) {
	t.Helper()
	res, err := db.Collection(k.name).UpdateOne(t.Context(), bson.D{{Key: "_id", Value: id}}, bson.D{{Key: "$set", Value: set}})
	if err != nil || res.MatchedCount != 1 {
		t.Fatal(err)
	}
}

// mended fails the test unless the check finds problems of a kind, the repair mends them, and the
// typed reads then give the nodes.
func (k kind) mended(t *testing.T, db *mongo.Database, what, kind, want string) {
	t.Helper()
	check := k.tree.Checks()[0]
	found, err := check.All(t.Context(), db)
	if err != nil {
		t.Errorf("%s: %s: %v", k.name, what, err)
		return
	}
	if !slices.ContainsFunc(found, func(f model.Finding) bool { return f.Detail.Lookup("kind").StringValue() == kind }) {
		t.Errorf("%s: %s: the check finds %v", k.name, what, found)
	}
	if p, err := check.Job().Run(t.Context(), db, model.JobOptions{DryRun: true}); err != nil || p.Writes != int64(len(found)) || !p.Done {
		t.Errorf("%s: %s: a dry run: %+v, %v", k.name, what, p, err)
	}
	if p, err := check.Job().Run(t.Context(), db, model.JobOptions{}); err != nil || !p.Done || p.Modified == 0 {
		t.Errorf("%s: %s: %+v, %v", k.name, what, p, err)
		return
	}
	if found, err := check.All(t.Context(), db); err != nil || len(found) > 0 {
		t.Errorf("%s: %s: after the repair %v, %v", k.name, what, found, err)
	}
	all, err := k.docs.Find(nil).All(t.Context(), db)
	if err != nil {
		t.Errorf("%s: %s: %v", k.name, what, err)
		return
	}
	for _, n := range all {
		if _, err := k.below(t.Context(), db, n.ID, 0); err != nil {
			t.Errorf("%s: %s: %v", k.name, what, err)
		}
	}
	if got := shape(k.stored(t, db)); got != want {
		t.Errorf("%s: %s: %s, want %s", k.name, what, got, want)
	}
}

// Order keys and numbers of changes that are something else are found and mended.
func TestRepairOfOtherTypes(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range cutKinds() {
			k.ensure(t, db)
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
				k.store(t, db, parse("a(b c) d"))
				k.put(t, db, "b", c.set)
				k.mended(t, db, c.what, c.kind, c.want)
			}
		}
	})
}

// A number of a nested set that is stored as another type is in the way of the same number.
func TestRepairOfOtherNumbers(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range nestedKinds {
			for _, one := range []any{int32(1), 1.0, int64(1)} {
				k.ensure(t, db)
				k.store(t, db, parse("a(b) c"))
				k.put(t, db, "a", bson.D{{Key: "left", Value: int64(9999)}})
				k.put(t, db, "c", bson.D{{Key: "left", Value: one}})
				k.mended(t, db, fmt.Sprintf("%T", one), "field", "a(b) c")
			}
			// Whole numbers of 32 bits are no damage where they are right.
			k.store(t, db, parse("a(b) c"))
			b, err := k.docs.ByID("b").One(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			k.put(t, db, "b", bson.D{{Key: "left", Value: int32(b.Left)}, {Key: "right", Value: int32(b.Right)}})
			for _, s := range k.suspects {
				if found, err := s.All(t.Context(), db); len(found) > 0 || err != nil {
					t.Errorf("%s: %v, %v", k.name, found, err)
				}
			}
			k.whole(t, db)
			if _, _, err := k.tree.Insert(category{ID: "x"}, paths.FirstRoot[string]()).Run(t.Context(), db); err != nil {
				t.Errorf("%s: %v", k.name, err)
			}
			k.whole(t, db)
		}
	})
}

// Cycles are cut at the least _id in the server's order, and siblings with one order key come in it.
func TestCyclesInServerOrder(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range kinds {
			k.ensure(t, db)
			k.store(t, db, parse("aa b c"))
			k.put(t, db, "aa", bson.D{{Key: "parent", Value: "b"}})
			k.put(t, db, "b", bson.D{{Key: "parent", Value: "aa"}})
			k.mended(t, db, "strings of two lengths", "cycle", "c aa(b)")
			k.store(t, db, parse("x(b c aa)"))
			for _, id := range []string{"b", "c", "aa"} {
				k.put(t, db, id, bson.D{{Key: "order", Value: "a5"}})
			}
			below, err := ids(k.found(t.Context(), db, "x", k.tree.Children))
			if err != nil {
				t.Fatal(err)
			}
			mustEqual(t, "the server's order", below, []string{"aa", "b", "c"})
			k.mended(t, db, "one key", "order", "x(aa b c)")
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
			if _, err := docs.InsertMany([]numbered{{ID: pair[0], Parent: &pair[1], Order: "a0"}, {ID: pair[1], Parent: &pair[0], Order: "a0"}}).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if _, _, err := mends(tree).Run(t.Context(), db); err != nil {
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
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range cutKinds() {
			k.ensure(t, db)
			for _, bad := range []string{"~", "zz", "b00", "a1!"} {
				k.store(t, db, parse("a b(c(d)) e"))
				k.put(t, db, "e", bson.D{{Key: "order", Value: bad}})
				k.put(t, db, "c", bson.D{{Key: "parent", Value: "nobody"}})
				k.mended(t, db, "after "+bad, "orphan", "a b e c(d)")
			}
		}
	})
}

// A lock document that was lost, or is older than the nodes, stops nobody: the changes' numbers go
// on above those of the nodes.
func TestLostLock(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		locks := db.Collection("docmodel.locks")
		for _, k := range cutKinds() {
			k.ensure(t, db)
			for _, lost := range []bool{true, false} {
				for name, c := range map[string]struct {
					do   changed
					want string
				}{
					"move":    {moved("b", paths.LastChild("f")), "a f(b(c(d)))"},
					"insert":  {added("x", paths.LastChild("d")), "a(b(c(d(x)))) f"},
					"delete":  {deleted("d", paths.Restrict), "a(b(c)) f"},
					"promote": {deleted("b", paths.Promote), "a(c(d)) f"},
					"repair":  {func(k kind) runner { return mends(k.tree) }, "a(b(c(d))) f"},
				} {
					what := fmt.Sprintf("%s: %s, lost %v", k.name, name, lost)
					k.store(t, db, parse("a(b(c(d))) f"))
					high := bson.D{{Key: "change", Value: int64(500)}}
					for _, id := range []string{"a", "b", "f"} {
						k.put(t, db, id, high)
					}
					k.put(t, db, "d", bson.D{{Key: "change", Value: int64(700)}}) // which not every change reads
					if k.fence(t, db, 2); lost {
						if _, err := locks.DeleteMany(t.Context(), bson.D{}); err != nil {
							t.Fatal(err)
						}
					}
					report, err := inspect(t.Context(), db, k.tree)
					if err != nil || len(report) != 1 || wrong(report[0]) != "change" || report[0].ID.StringValue() != "d" {
						t.Errorf("%s: %v, %v", what, report, err)
					}
					if _, _, err := c.do(k).Run(t.Context(), db); err != nil {
						t.Errorf("%s: %v", what, err)
						continue
					}
					k.whole(t, db)
					if got := shape(k.stored(t, db)); got != c.want {
						t.Errorf("%s: %s, want %s", what, got, c.want)
					}
				}
			}
		}
	})
}
