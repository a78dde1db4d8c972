package paths_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// parse reads a small notation of a forest: a(b c(d)) e.
func parse(s string) *paths.Forest[string] {
	f := &paths.Forest[string]{}
	var above []string
	last := ""
	for _, token := range strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(s)) {
		switch token {
		case "(":
			above = append(above, last)
		case ")":
			above = above[:len(above)-1]
		default:
			place := paths.LastRoot[string]()
			if len(above) > 0 {
				place = paths.LastChild(above[len(above)-1])
			}
			if err := f.Insert(token, place); err != nil {
				panic(err)
			}
			last = token
		}
	}
	return f
}

// nodesOf are the documents of a forest, to be loaded.
func nodesOf(f *paths.Forest[string]) []category {
	var out []category
	for _, l := range f.Links() {
		c := category{ID: l.ID, Order: l.Order}
		if !l.Root {
			c.Parent = &l.Parent
		}
		out = append(out, c)
	}
	return out
}

// store empties a representation's collection and loads a forest.
func (k kind) store(t testing.TB, db *mongo.Database, f *paths.Forest[string]) {
	t.Helper()
	for _, name := range []string{k.name, "docmodel.locks"} {
		if _, err := db.Collection(name).DeleteMany(t.Context(), bson.D{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := k.tree.Load(nodesOf(f)).Run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
}

// whole fails the test unless the check finds nothing.
func (k kind) whole(t testing.TB, db *mongo.Database) {
	t.Helper()
	report, err := k.tree.Check(t.Context(), db)
	if err != nil || len(report.Problems) > 0 {
		t.Fatalf("%s: %v, %v", k.name, report.Problems, err)
	}
}

// A writer dies at each of its writes. The next one, whatever it does, finds the tree as it was before or as it was to be, and whole.
func TestTreeDies(t *testing.T) {
	parallel(t)
	const begin = "a(b(c d(e)) f) g(h) i"
	type change func(kind) model.Change[paths.State]
	moves := map[string]struct {
		do     change
		oracle func(*paths.Forest[string]) error
	}{}
	for _, id := range []string{"c", "d", "b", "a", "g", "i"} {
		for _, place := range []paths.Place[string]{
			paths.FirstRoot[string](), paths.LastRoot[string](), paths.Before("f"), paths.After("h"), paths.FirstChild("g"), paths.LastChild("f"),
		} {
			if parse(begin).Move(id, place) == nil {
				moves[fmt.Sprintf("move %s %v", id, place)] = struct {
					do     change
					oracle func(*paths.Forest[string]) error
				}{func(k kind) model.Change[paths.State] { return k.tree.Move(id, place) },
					func(f *paths.Forest[string]) error { return f.Move(id, place) }}
			}
		}
	}
	for _, id := range []string{"b", "a", "e"} {
		for _, mode := range []paths.DeleteMode{paths.Subtree, paths.Promote, paths.Rootify} {
			moves[fmt.Sprintf("delete %s %v", id, mode)] = struct {
				do     change
				oracle func(*paths.Forest[string]) error
			}{func(k kind) model.Change[paths.State] { return k.tree.Delete(id, mode) },
				func(f *paths.Forest[string]) error { return f.Delete(id, mode) }}
		}
	}
	moves["insert"] = struct {
		do     change
		oracle func(*paths.Forest[string]) error
	}{func(k kind) model.Change[paths.State] { return k.tree.Insert(category{ID: "x"}, paths.FirstChild("b")) },
		func(f *paths.Forest[string]) error { return f.Insert("x", paths.FirstChild("b")) }}
	cuts, share := 0, 6
	if few() {
		share = 20
	}
	faults := modeltest.NewFaults()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		cuts = 0
		for i, k := range kinds {
			k = k.quick()
			k.ensure(t, db)
			for n, name := range slices.Sorted(maps.Keys(moves)) {
				m := moves[name]
				if !full && !every && n%share != i%share {
					continue
				}
				after := parse(begin)
				if err := m.oracle(after); err != nil {
					t.Fatal(err)
				}
				for _, way := range []string{"before", "inside"} {
					for cut := 1; ; cut++ {
						k.store(t, db, parse(begin))
						faults.Reset()
						match := modeltest.Match(modeltest.Writes)
						if way == "before" { // and all writes after it
							faults.From(match, cut, modeltest.Fail(96))
						} else {
							match = manyDocuments
							faults.On(match, cut, modeltest.CutInside(1))
						}
						ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
						_, _, err := m.do(k).Run(ctx, db)
						cancel()
						died := faults.Count(match) >= cut
						faults.Reset()
						if !died {
							break
						}
						cuts++
						if _, _, err := k.tree.Move("g", paths.Before("g")).Run(t.Context(), db); err != nil {
							t.Fatalf("%s: %s, cut %s write %d (%v): the next writer: %v", k.name, name, way, cut, err, err)
						}
						if got := shape(k.stored(t, db)); got != begin && got != shape(after) {
							t.Fatalf("%s: %s, cut %s write %d (%v): %s", k.name, name, way, cut, err, got)
						}
						k.whole(t, db)
					}
				}
			}
		}
		t.Log(cuts, "cuts")
	}, modeltest.WithFaults(faults), modeltest.WithClientOptions(options.Client().SetRetryWrites(false).SetRetryReads(false)))
}

// manyDocuments matches an update of many documents, or of several statements.
func manyDocuments(c modeltest.Command) bool {
	updates, ok := c.Body.Lookup("updates").ArrayOK()
	if !ok {
		return false
	}
	list, _ := updates.Values()
	multi, _ := list[0].Document().Lookup("multi").BooleanOK()
	return multi || len(list) > 1
}

// quick is the representation with a lease that runs out soon.
func (k kind) quick() kind {
	k.tree = k.planner(paths.TreeSpec{For: 60 * time.Millisecond, Wait: 5 * time.Second})
	return k
}
