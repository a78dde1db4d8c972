package rollup_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// storeItems stores a forest with items, of which some have none.
func storeItems(k pathstest.Kind, t testing.TB, db *mongo.Database, f *paths.Forest[string], items map[string]int64) {
	t.Helper()
	k.Clear(t, db)
	docs := pathstest.NodesOf(f)
	for i := range docs {
		docs[i].Items = items[docs[i].ID]
	}
	if _, err := k.Tree.Load(docs).Run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
}

// Every total is what the plain tree has, asked for one node, for a node's children, for the roots, and stored.
func TestRollUp(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.Kinds {
			k.Ensure(t, db)
			r := rand.New(rand.NewPCG(3, 12))
			f := pathstest.DrawForest(r, 24)
			items := map[string]int64{}
			for id := range f.All() {
				if r.IntN(4) > 0 {
					items[id] = int64(r.IntN(200) - 60)
				}
			}
			storeItems(k, t, db, f, items)
			up := pathstest.RollUpItems(k)
			for round := range 2 {
				for id := range f.All() {
					n, err := pathstest.FindNode(t.Context(), db, k.Docs, id)
					if err != nil {
						t.Fatal(err)
					}
					if got, err := up.Total(n).One(t.Context(), db); err != nil ||
						got != pathstest.AddTotals(f, items, id) {
						t.Fatalf(
							"%s: %q: %+v, %v, want %+v in %s", k.Name, id, got, err, pathstest.AddTotals(f, items, id),
							pathstest.Shape(f),
						)
					}
					got, err := up.Children(t.Context(), db, n)
					pathstest.WantTotals(t, k.Name+" "+id, f, items, pathstest.Must(f.Children(id)), got, err)
				}
				got, err := up.Children(t.Context(), db, nil)
				pathstest.WantTotals(t, k.Name, f, items, f.Roots(), got, err)
				rollUpStored(t, db, k, f, items)
				if round == 1 {
					break
				}
				for range 6 { // a store finds what has changed since
					op, change, want := pathstest.DrawStep(r, f)
					if _, err := change(k).Run(t.Context(), db); !pathstest.SameError(err, want) {
						t.Fatalf("%s: %s: %v", k.Name, op, err)
					}
				}
				id := f.Roots()[0]
				items[id] += 5
				if _, err := k.Docs.Update(
					id, bson.D{{Key: "$set", Value: bson.D{{Key: "items", Value: items[id]}}}},
				).Run(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				for id := range items {
					if !pathstest.Contains(f, id) {
						delete(items, id)
					}
				}
			}
		}
	})
}

// rollUpStored stores totals, and looks at them; a second time nothing is written.
func rollUpStored(t *testing.T, db *mongo.Database, k pathstest.Kind, f *paths.Forest[string], items map[string]int64) {
	t.Helper()
	differ := 0
	before, err := k.Docs.Find(nil).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range before {
		if d.Total == nil || *d.Total != pathstest.AddTotals(f, items, d.ID) {
			differ++
		}
	}
	for _, want := range []int{differ, 0} {
		if result, err := pathstest.RollUpItems(k).Store().Run(t.Context(), db); err != nil ||
			len(result.Steps) != want {
			t.Fatalf("%s: %d written, want %d: %v", k.Name, len(result.Steps), want, err)
		}
	}
	for d, err := range k.Docs.Find(nil).Each(t.Context(), db) {
		if err != nil || d.Total == nil || *d.Total != pathstest.AddTotals(f, items, d.ID) {
			t.Fatalf("%s: %q has stored %+v, %v", k.Name, d.ID, d.Total, err)
		}
	}
	k.WantWhole(t, db)
}

// What totals cost: commands and documents, by which index.
func TestRollUpCosts(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.Kinds {
			k.Ensure(t, db)
			f := pathstest.Parse("a(b(c d(e)) f) g(h)")
			items := map[string]int64{"c": 3, "e": 4, "f": 5}
			storeItems(k, t, db, f, items)
			up := pathstest.RollUpItems(k)
			a, err := pathstest.FindNode(t.Context(), db, k.Docs, "a")
			if err != nil {
				t.Fatal(err)
			}
			modeltest.WantCost(
				t, monitor, model.Cost{Commands: 1, Returned: 1},
				func() error { _, err := up.Total(a).One(t.Context(), db); return err },
			)
			modeltest.WantCost(
				t, monitor, model.Cost{Commands: 2, Returned: 2 + 2},
				func() error { _, err := up.Children(t.Context(), db, a); return err },
			)
			modeltest.WantCost(
				t, monitor, model.Cost{Commands: 2, Returned: 2 + 2},
				func() error { _, err := up.Children(t.Context(), db, nil); return err },
			)
			store := func() error { _, err := up.Store().Run(t.Context(), db); return err }
			modeltest.WantCost(t, monitor, model.Cost{Commands: 4, Written: 2 + 8, Returned: 8 + 1}, store)
			modeltest.WantCost(t, monitor, model.Cost{Commands: 3, Written: 2, Returned: 8 + 1}, store)
			if _, err := k.Docs.Update(
				"e", bson.D{{Key: "$inc", Value: bson.D{{Key: "items", Value: 1}}}},
			).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			// e, d, b, a
			modeltest.WantCost(t, monitor, model.Cost{Commands: 4, Written: 2 + 4, Returned: 8 + 1}, store)
			n, err := k.Docs.ByID("b").One(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			if total, err := up.Total(&n).One(t.Context(), db); err != nil || total.Sum != 8 || total.Nodes != 4 {
				t.Errorf("%s: %+v, %v", k.Name, total, err)
			}
			children, err := k.Tree.Children(&n).All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			branches, err := up.Branches(&n, children).All(t.Context(), db)
			if err != nil || len(branches) != 2 {
				t.Errorf("%s: %v, %v", k.Name, branches, err)
			}
		}
	}, monitor)
}

// The queries of one subtree are served by the representation's indexes.
func TestRollUpIndexes(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		big := &paths.Forest[string]{}
		for i := range 1500 {
			at := paths.LastRoot[string]()
			if i > 0 {
				at = paths.LastChild(fmt.Sprint("n", (i-1)/8))
			}
			_ = big.Insert(fmt.Sprint("n", i), at)
		}
		for i, index := range []string{"ancestors_1", "path_1", "left_1"} {
			k := pathstest.Kinds[i+1]
			k.Ensure(t, db)
			k.Store(t, db, big)
			n, err := k.Docs.ByID("n30").One(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			children, err := k.Tree.Children(&n).All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			modeltest.WantIndexed(t, db, pathstest.RollUpItems(k).Total(&n), index)
			modeltest.WantIndexed(t, db, pathstest.RollUpItems(k).Branches(&n, children), index)
		}
	})
}

func TestRollUpRefuses(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var value *model.ValueError
		for _, k := range pathstest.Kinds {
			up := pathstest.RollUpItems(k)
			_, err := paths.NewRollUp[int64](k.Tree, "items", "").Store().Run(t.Context(), db)
			if !errors.As(err, &value) {
				t.Errorf("%s: nowhere to store: %v", k.Name, err)
			}
			storeItems(k, t, db, pathstest.Parse("a(b)"), map[string]int64{"a": math.MaxInt64, "b": 1})
			if _, err := up.Store().Run(t.Context(), db); !errors.As(err, &value) {
				t.Errorf("%s: beyond int64: %v", k.Name, err)
			}
			a, err := pathstest.FindNode(t.Context(), db, k.Docs, "a")
			if err != nil {
				t.Fatal(err)
			}
			for v, refused := range map[any]bool{
				1.5: true, 2.0: false, "seven": false, bson.NewDecimal128(0, 1): true, true: false,
			} {
				if _, err := k.Docs.Of(db).UpdateByID(
					t.Context(), "a", bson.D{{Key: "$set", Value: bson.D{{Key: "items", Value: v}}}},
				); err != nil {
					t.Fatal(err)
				}
				if _, err := up.Store().Run(t.Context(), db); errors.As(err, &value) != refused || !refused &&
					err != nil {
					t.Errorf("%s: %v: %v", k.Name, v, err)
				}
			}
			if _, err := k.Docs.Of(db).UpdateByID(
				t.Context(), "a", bson.D{{Key: "$set", Value: bson.D{{Key: "items", Value: "seven"}}}},
			); err != nil {
				t.Fatal(err)
			}
			if total, err := up.Total(a).One(t.Context(), db); err != nil || total != (paths.Totals[int64]{
				Nodes: 2, Values: 1, Sum: 1, Min: 1, Max: 1,
			}) {
				t.Errorf("%s: %+v, %v", k.Name, total, err)
			}
			if _, err := k.Docs.Of(db).DeleteOne(t.Context(), bson.D{{Key: "_id", Value: "a"}}); err != nil {
				t.Fatal(err)
			}
			if _, err := up.Store().Run(t.Context(), db); !errors.Is(err, paths.ErrDamaged) {
				t.Errorf("%s: an orphan: %v", k.Name, err)
			}
		}
	})
	for reason, declare := range map[string]func(){
		"another type":       func() { paths.NewRollUp[float64](pathstest.Kinds[0].Tree, "items", "") },
		"no field":           func() { paths.NewRollUp[int64](pathstest.Kinds[0].Tree, "itmes", "") },
		"the tree's own":     func() { paths.NewRollUp[int64](pathstest.Kinds[3].Tree, "left", "") },
		"no totals":          func() { paths.NewRollUp[int64](pathstest.Kinds[0].Tree, "items", "change") },
		"totals of the same": func() { paths.NewRollUp[int64](pathstest.Kinds[0].Tree, "total.sum", "total") },
	} {
		func() {
			defer func() {
				var bad *model.DeclarationError
				if err, _ := recover().(error); !errors.As(err, &bad) {
					t.Errorf("%s: %v", reason, err)
				}
			}()
			declare()
		}()
	}
}
