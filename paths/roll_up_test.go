package paths_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// rollUps are the totals of each representation's items.
func (k kind) rollUp() *paths.RollUp[int64, category, string] {
	return paths.NewRollUp[int64](k.tree, "items", "total")
}

// rollUpStore stores a forest with items, of which some have none.
func (k kind) rollUpStore(t testing.TB, db *mongo.Database, f *paths.Forest[string], items map[string]int64) {
	t.Helper()
	k.convertClear(t, db)
	docs := nodesOf(f)
	for i := range docs {
		docs[i].Items = items[docs[i].ID]
	}
	if _, _, err := k.tree.Load(docs).Run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
}

// rollUpOracle is a node's total in the plain tree.
func rollUpOracle(f *paths.Forest[string], items map[string]int64, id string) (out paths.Totals[int64]) {
	for _, node := range append([]string{id}, sure(f.Descendants(id, 0))...) {
		out.Nodes++
		v := items[node]
		if v == 0 {
			continue // is not stored
		}
		if out.Values++; out.Values == 1 {
			out.Min, out.Max = v, v
		}
		out.Sum, out.Min, out.Max = out.Sum+v, min(out.Min, v), max(out.Max, v)
	}
	return out
}

// Every total is what the plain tree has, asked for one node, for a node's children, for the roots, and stored.
func TestRollUp(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range kinds {
			k.ensure(t, db)
			r := rand.New(rand.NewPCG(3, 12))
			f := convertForest(r, 24)
			items := map[string]int64{}
			for id := range f.All() {
				if r.IntN(4) > 0 {
					items[id] = int64(r.IntN(200) - 60)
				}
			}
			k.rollUpStore(t, db, f, items)
			up := k.rollUp()
			for round := range 2 {
				for id := range f.All() {
					n, err := find(t.Context(), db, k.docs, id)
					if err != nil {
						t.Fatal(err)
					}
					if got, err := up.Total(n).One(t.Context(), db); err != nil || got != rollUpOracle(f, items, id) {
						t.Fatalf("%s: %q: %+v, %v, want %+v in %s", k.name, id, got, err, rollUpOracle(f, items, id), shape(f))
					}
					got, err := up.Children(t.Context(), db, n)
					rollUpSame(t, k.name+" "+id, f, items, sure(f.Children(id)), got, err)
				}
				got, err := up.Children(t.Context(), db, nil)
				rollUpSame(t, k.name, f, items, f.Roots(), got, err)
				rollUpStored(t, db, k, f, items)
				if round == 1 {
					break
				}
				for range 6 { // a store finds what has changed since
					op, change, want := randomStep(r, f)
					if _, _, err := change(k).Run(t.Context(), db); !sameErr(err, want) {
						t.Fatalf("%s: %s: %v", k.name, op, err)
					}
				}
				id := f.Roots()[0]
				items[id] += 5
				if _, err := k.docs.Update(id, bson.D{{Key: "$set", Value: bson.D{{Key: "items", Value: items[id]}}}}).Run(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				for id := range items {
					if !f.Has(id) {
						delete(items, id)
					}
				}
			}
		}
	})
}

func rollUpSame(t *testing.T, what string, f *paths.Forest[string], items map[string]int64, want []string, got []paths.Total[string, int64], err error) {
	t.Helper()
	if err != nil || len(got) != len(want) {
		t.Fatalf("%s: %v, %v", what, got, err)
	}
	for i, id := range want {
		if got[i].ID != id || got[i].Totals != rollUpOracle(f, items, id) {
			t.Fatalf("%s: %q: %+v, want %q %+v", what, got[i].ID, got[i].Totals, id, rollUpOracle(f, items, id))
		}
	}
}

// rollUpStored stores totals, and looks at them; a second time nothing is written.
func rollUpStored(t *testing.T, db *mongo.Database, k kind, f *paths.Forest[string], items map[string]int64) {
	t.Helper()
	differ := 0
	before, err := k.docs.Find(nil).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range before {
		if d.Total == nil || *d.Total != rollUpOracle(f, items, d.ID) {
			differ++
		}
	}
	for _, want := range []int{differ, 0} {
		if _, result, err := k.rollUp().Store().Run(t.Context(), db); err != nil || len(result.Steps) != want {
			t.Fatalf("%s: %d written, want %d: %v", k.name, len(result.Steps), want, err)
		}
	}
	for d, err := range k.docs.Find(nil).Each(t.Context(), db) {
		if err != nil || d.Total == nil || *d.Total != rollUpOracle(f, items, d.ID) {
			t.Fatalf("%s: %q has stored %+v, %v", k.name, d.ID, d.Total, err)
		}
	}
	k.whole(t, db)
}

// What totals cost: commands and documents, by which index.
func TestRollUpCosts(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range kinds {
			k.ensure(t, db)
			f := parse("a(b(c d(e)) f) g(h)")
			items := map[string]int64{"c": 3, "e": 4, "f": 5}
			k.rollUpStore(t, db, f, items)
			up := k.rollUp()
			a, err := find(t.Context(), db, k.docs, "a")
			if err != nil {
				t.Fatal(err)
			}
			modeltest.WantCost(t, monitor, model.Cost{Commands: 1, Returned: 1}, func() error { _, err := up.Total(a).One(t.Context(), db); return err })
			modeltest.WantCost(t, monitor, model.Cost{Commands: 2, Returned: 2 + 2}, func() error { _, err := up.Children(t.Context(), db, a); return err })
			modeltest.WantCost(t, monitor, model.Cost{Commands: 2, Returned: 2 + 2}, func() error { _, err := up.Children(t.Context(), db, nil); return err })
			store := func() error { _, _, err := up.Store().Run(t.Context(), db); return err }
			modeltest.WantCost(t, monitor, model.Cost{Commands: 4, Written: 2 + 8, Returned: 8 + 1}, store)
			modeltest.WantCost(t, monitor, model.Cost{Commands: 3, Written: 2, Returned: 8 + 1}, store)
			if _, err := k.docs.Update("e", bson.D{{Key: "$inc", Value: bson.D{{Key: "items", Value: 1}}}}).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			modeltest.WantCost(t, monitor, model.Cost{Commands: 4, Written: 2 + 4, Returned: 8 + 1}, store) // e, d, b, a
			n, err := k.docs.ByID("b").One(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			if total, err := up.Total(&n).One(t.Context(), db); err != nil || total.Sum != 8 || total.Nodes != 4 {
				t.Errorf("%s: %+v, %v", k.name, total, err)
			}
			children, err := k.tree.Children(&n).All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			branches, err := up.Branches(&n, children).All(t.Context(), db)
			if err != nil || len(branches) != 2 {
				t.Errorf("%s: %v, %v", k.name, branches, err)
			}
		}
	}, mongotest.WithMonitor(monitor))
}

// The queries of one subtree are served by the representation's indexes.
func TestRollUpIndexes(t *testing.T) {
	parallel(t)
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
			k := kinds[i+1]
			k.ensure(t, db)
			k.store(t, db, big)
			n, err := k.docs.ByID("n30").One(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			children, err := k.tree.Children(&n).All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			modeltest.WantIndexed(t, db, k.rollUp().Total(&n), index)
			modeltest.WantIndexed(t, db, k.rollUp().Branches(&n, children), index)
		}
	})
}

func TestRollUpRefuses(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var value *model.ValueError
		for _, k := range kinds {
			up := k.rollUp()
			if _, _, err := paths.NewRollUp[int64](k.tree, "items", "").Store().Run(t.Context(), db); !errors.As(err, &value) {
				t.Errorf("%s: nowhere to store: %v", k.name, err)
			}
			k.rollUpStore(t, db, parse("a(b)"), map[string]int64{"a": math.MaxInt64, "b": 1})
			if _, _, err := up.Store().Run(t.Context(), db); !errors.As(err, &value) {
				t.Errorf("%s: beyond int64: %v", k.name, err)
			}
			a, err := find(t.Context(), db, k.docs, "a")
			if err != nil {
				t.Fatal(err)
			}
			for v, refused := range map[any]bool{1.5: true, 2.0: false, "seven": false, bson.NewDecimal128(0, 1): true, true: false} {
				if _, err := k.docs.Of(db).UpdateByID(t.Context(), "a", bson.D{{Key: "$set", Value: bson.D{{Key: "items", Value: v}}}}); err != nil {
					t.Fatal(err)
				}
				if _, _, err := up.Store().Run(t.Context(), db); errors.As(err, &value) != refused || !refused && err != nil {
					t.Errorf("%s: %v: %v", k.name, v, err)
				}
			}
			if _, err := k.docs.Of(db).UpdateByID(t.Context(), "a", bson.D{{Key: "$set", Value: bson.D{{Key: "items", Value: "seven"}}}}); err != nil {
				t.Fatal(err)
			}
			if total, err := up.Total(a).One(t.Context(), db); err != nil || total != (paths.Totals[int64]{Nodes: 2, Values: 1, Sum: 1, Min: 1, Max: 1}) {
				t.Errorf("%s: %+v, %v", k.name, total, err)
			}
			if _, err := k.docs.Of(db).DeleteOne(t.Context(), bson.D{{Key: "_id", Value: "a"}}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := up.Store().Run(t.Context(), db); !errors.Is(err, paths.ErrDamaged) {
				t.Errorf("%s: an orphan: %v", k.name, err)
			}
		}
	})
	for reason, declare := range map[string]func(){
		"another type":       func() { paths.NewRollUp[float64](kinds[0].tree, "items", "") },
		"no field":           func() { paths.NewRollUp[int64](kinds[0].tree, "itmes", "") },
		"the tree's own":     func() { paths.NewRollUp[int64](kinds[3].tree, "left", "") },
		"no totals":          func() { paths.NewRollUp[int64](kinds[0].tree, "items", "change") },
		"totals of the same": func() { paths.NewRollUp[int64](kinds[0].tree, "total.sum", "total") },
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

// A store that dies at any of its writes leaves totals that are right among those of before, and is brought to its end by the next.
func TestRollUpDies(t *testing.T) {
	parallel(t)
	const all = "a(b(c d(e)) f) g(h)"
	f, items := parse(all), map[string]int64{"c": 3, "e": 4, "f": 5, "g": -1}
	// wrong is a node whose total is neither missing nor right; with every, it may not be missing either.
	wrong := func(ctx context.Context, db *mongo.Database, k kind, every bool) error {
		stored, err := k.docs.Find(nil).All(ctx, db)
		for _, d := range stored {
			if err == nil && (every || d.Total != nil) && (d.Total == nil || *d.Total != rollUpOracle(f, items, d.ID)) {
				err = fmt.Errorf("%s: %q has stored %+v", k.name, d.ID, d.Total)
			}
		}
		return err
	}
	for _, k := range kinds {
		cutCase{
			seed: func(ctx context.Context, db *mongo.Database, k kind) error {
				docs := nodesOf(f)
				for i := range docs {
					docs[i].Items = items[docs[i].ID]
				}
				_, _, err := k.tree.Load(docs).Run(ctx, db)
				return err
			},
			run: func(ctx context.Context, db *mongo.Database, k kind) error {
				_, _, err := k.rollUp().Store().Run(ctx, db)
				return err
			},
			stays: func(ctx context.Context, db *mongo.Database, k kind) error { return wrong(ctx, db, k, false) },
			want: func(t testing.TB, db *mongo.Database, k kind) {
				if err := wrong(t.Context(), db, k, true); err != nil {
					t.Error(err)
				}
				cutWhole(all)(t, db, k)
			},
			server: "ancestors",
		}.cut(t, k)
	}
}
