// The whole protocol, in every representation: the writer dies at each of its commands, and the
// next change finishes its change.

package tree_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A dying is a change whose writer dies.
type dying struct {
	do      func(pathstest.Kind) model.Change
	oracle  func(*paths.Forest[string]) error
	only    string   // the representation that it is cut with everywhere; "" means each, a share of the changes
	prepare []bson.D // what is set in nodes before it: see [kind.cutSet]
}

// dyings are changes of the tree that is given, by name.
func dyings(begin string) map[string]dying {
	out := map[string]dying{}
	for _, id := range []string{"c", "d", "b", "a", "g", "i"} {
		for _, place := range []paths.Place[string]{
			paths.FirstRoot[string](), paths.LastRoot[string](), paths.Before("f"), paths.After("h"),
			paths.FirstChild("g"), paths.LastChild("f"),
		} {
			if pathstest.Parse(begin).Move(id, place) == nil {
				out[fmt.Sprintf("move %s %v", id, place)] = dying{
					do:     func(k pathstest.Kind) model.Change { return k.Tree.Move(id, place) },
					oracle: func(f *paths.Forest[string]) error { return f.Move(id, place) },
				}
			}
		}
	}
	for _, id := range []string{"b", "a", "e"} {
		for _, mode := range []paths.DeleteMode{paths.Subtree, paths.Promote, paths.Rootify} {
			out[fmt.Sprintf("delete %s %v", id, pathstest.ModeName(mode))] = dying{
				do:     func(k pathstest.Kind) model.Change { return k.Tree.Delete(id, mode) },
				oracle: func(f *paths.Forest[string]) error { return f.Delete(id, mode) },
			}
		}
	}
	out["insert"] = dying{
		do: func(k pathstest.Kind) model.Change {
			return k.Tree.Insert(pathstest.Category{ID: "x"}, paths.FirstChild("b"))
		},
		oracle: func(f *paths.Forest[string]) error { return f.Insert("x", paths.FirstChild("b")) },
	}
	same := func(*paths.Forest[string]) error { return nil }
	out["rename"] = dying{
		only: "named", do: func(k pathstest.Kind) model.Change { return k.Tree.Rename("b", "B/b") }, oracle: same,
	}
	out["rebalance"] = dying{
		only: "parents", do: func(k pathstest.Kind) model.Change { return k.Tree.Rebalance(nil) }, oracle: same,
		prepare: []bson.D{
			{{Key: "_id", Value: "g"}, {Key: "order", Value: "a0V"}},
			{{Key: "_id", Value: "i"}, {Key: "order", Value: "a1"}},
		},
	}
	return out
}

// A writer dies at each of its writes. Every node is there that is there before and after; the next writer, whatever it
// does, finds
// the tree as it was before or as it was to be, and whole.
func TestTreeDies(t *testing.T) {
	testkit.Parallel(t)
	const begin = "a(b(c d(e)) f) g(h) i"
	moves := dyings(begin)
	cuts, share := 0, 6
	if testkit.Few() {
		share = 20
	}
	faults := mongotest.NewFaults()
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		cuts = 0
		for i, k := range append(slices.Clone(pathstest.Kinds), pathstest.Named) {
			k = k.Quick()
			k.Ensure(t, db)
			for n, name := range slices.Sorted(maps.Keys(moves)) {
				m := moves[name]
				if m.only != k.Name &&
					(m.only != "" || k.Name == "named" || !pathstest.Full && !testkit.EveryPair && n%share != i%share) {
					continue
				}
				after := pathstest.Parse(begin)
				if err := m.oracle(after); err != nil {
					t.Fatal(err)
				}
				inside := 0 // how many of its writes are of several documents
				for _, way := range []string{"before", "inside"} {
					for cut := 1; way == "before" || cut <= inside; cut++ {
						k.Store(t, db, pathstest.Parse(begin))
						if err := k.SetFields(t.Context(), db, m.prepare...); err != nil {
							t.Fatal(err)
						}
						faults.Reset()
						match := mongotest.Match(mongotest.Writes)
						if way == "before" { // and all writes after it
							faults.From(match, cut, mongotest.Fail(96))
						} else {
							match = pathstest.ManyDocuments
							faults.On(match, cut, mongotest.CutInside(1))
						}
						ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
						_, err := m.do(k).Run(ctx, db)
						cancel()
						died := faults.Count(match) >= cut
						if !died {
							inside = faults.Count(pathstest.ManyDocuments)
							faults.Reset()
							break
						}
						faults.Reset()
						cuts++
						what := fmt.Sprintf("%s: %s, cut %s write %d (%v)", k.Name, name, way, cut, err)
						wantKept(k, t, db, what, pathstest.Parse(begin), after)
						if _, err := k.Tree.Move("g", paths.Before("g")).Run(t.Context(), db); err != nil {
							t.Fatalf("%s: the next writer: %v", what, err)
						}
						if got := pathstest.Shape(k.ReadForest(t, db)); got != begin && got != pathstest.Shape(after) {
							t.Fatalf("%s: %s", what, got)
						}
						k.WantWhole(t, db)
					}
				}
			}
		}
		t.Log(cuts, "cuts")
	}, faults,
		mongotest.Settings{Client: options.Client().SetRetryWrites(false).SetRetryReads(false)})
}

// wantKept fails the test unless each node that two forests have is stored.
func wantKept(k pathstest.Kind, t testing.TB, db *mongo.Database, what string, before, after *paths.Forest[string]) {
	t.Helper()
	stored, err := pathstest.IDs(k.Docs.Find(nil).All(t.Context(), db))
	if err != nil {
		t.Fatal(err)
	}
	for id := range before.All() {
		if pathstest.Contains(after, id) && !slices.Contains(stored, id) {
			t.Fatalf("%s: %q is lost", what, id)
		}
	}
}
