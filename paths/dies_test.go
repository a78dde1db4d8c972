package paths_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
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
	for _, l := range linksOf(f) {
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
	docs := nodesOf(f)
	for i := range docs {
		if k.name == named.name {
			docs[i].Name = docs[i].ID
		}
	}
	if _, _, err := k.tree.Load(docs).Run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	k.fence(t, db, 1000)
}

// fence sets the number of the last change, for tests that give plans numbers of their own below it.
func (k kind) fence(t testing.TB, db *mongo.Database, n int64) {
	t.Helper()
	_, err := db.Collection("docmodel.locks").UpdateOne(t.Context(), bson.D{{Key: "_id", Value: k.name}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "fence", Value: n}}}}, options.UpdateOne().SetUpsert(true))
	if err != nil {
		t.Fatal(err)
	}
}

// whole fails the test unless the check finds nothing.
func (k kind) whole(t testing.TB, db *mongo.Database) {
	t.Helper()
	report, err := inspect(t.Context(), db, k.tree)
	if err != nil || len(report) > 0 {
		t.Fatalf("%s: %v, %v", k.name, report, err)
	}
}

// A dying is a change whose writer dies.
type dying struct {
	do      func(kind) model.Change[any]
	oracle  func(*paths.Forest[string]) error
	only    string   // the representation that it is cut with everywhere; "" means each, a share of the changes
	prepare []bson.D // what is set in nodes before it: see [kind.cutSet]
}

// named are nodes whose paths are of their names.
var named = of("named", func(c *nodes, s paths.TreeSpec) *paths.Tree[category, string] {
	return paths.NewMaterializedPath(c, paths.MaterializedPathSpec{TreeSpec: s, Segment: "name"})
}, "path")

// dyings are changes of the tree that is given, by name.
func dyings(begin string) map[string]dying {
	out := map[string]dying{}
	for _, id := range []string{"c", "d", "b", "a", "g", "i"} {
		for _, place := range []paths.Place[string]{
			paths.FirstRoot[string](), paths.LastRoot[string](), paths.Before("f"), paths.After("h"), paths.FirstChild("g"), paths.LastChild("f"),
		} {
			if parse(begin).Move(id, place) == nil {
				out[fmt.Sprintf("move %s %v", id, place)] = dying{
					do:     func(k kind) model.Change[any] { return k.tree.Move(id, place) },
					oracle: func(f *paths.Forest[string]) error { return f.Move(id, place) },
				}
			}
		}
	}
	for _, id := range []string{"b", "a", "e"} {
		for _, mode := range []paths.DeleteMode{paths.Subtree, paths.Promote, paths.Rootify} {
			out[fmt.Sprintf("delete %s %v", id, modeName(mode))] = dying{
				do:     func(k kind) model.Change[any] { return k.tree.Delete(id, mode) },
				oracle: func(f *paths.Forest[string]) error { return f.Delete(id, mode) },
			}
		}
	}
	out["insert"] = dying{
		do:     func(k kind) model.Change[any] { return k.tree.Insert(category{ID: "x"}, paths.FirstChild("b")) },
		oracle: func(f *paths.Forest[string]) error { return f.Insert("x", paths.FirstChild("b")) },
	}
	same := func(*paths.Forest[string]) error { return nil }
	out["rename"] = dying{only: "named", do: func(k kind) model.Change[any] { return k.tree.Rename("b", "B/b") }, oracle: same}
	out["rebalance"] = dying{
		only: "parents", do: func(k kind) model.Change[any] { return k.tree.Rebalance(nil) }, oracle: same,
		prepare: []bson.D{{{Key: "_id", Value: "g"}, {Key: "order", Value: "a0V"}}, {{Key: "_id", Value: "i"}, {Key: "order", Value: "a1"}}},
	}
	return out
}

// A writer dies at each of its writes. Every node is there that is there before and after; the next writer, whatever it does, finds
// the tree as it was before or as it was to be, and whole.
func TestTreeDies(t *testing.T) {
	parallel(t)
	const begin = "a(b(c d(e)) f) g(h) i"
	moves := dyings(begin)
	cuts, share := 0, 6
	if few() {
		share = 20
	}
	faults := mongotest.NewFaults()
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		cuts = 0
		for i, k := range append(slices.Clone(kinds), named) {
			k = k.quick()
			k.ensure(t, db)
			for n, name := range slices.Sorted(maps.Keys(moves)) {
				m := moves[name]
				if m.only != k.name && (m.only != "" || k.name == "named" || !full && !every && n%share != i%share) {
					continue
				}
				after := parse(begin)
				if err := m.oracle(after); err != nil {
					t.Fatal(err)
				}
				inside := 0 // how many of its writes are of several documents
				for _, way := range []string{"before", "inside"} {
					for cut := 1; way == "before" || cut <= inside; cut++ {
						k.store(t, db, parse(begin))
						if err := k.cutSet(t.Context(), db, m.prepare...); err != nil {
							t.Fatal(err)
						}
						faults.Reset()
						match := mongotest.Match(mongotest.Writes)
						if way == "before" { // and all writes after it
							faults.From(match, cut, mongotest.Fail(96))
						} else {
							match = manyDocuments
							faults.On(match, cut, mongotest.CutInside(1))
						}
						ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
						_, _, err := m.do(k).Run(ctx, db)
						cancel()
						died := faults.Count(match) >= cut
						if !died {
							inside = faults.Count(manyDocuments)
							faults.Reset()
							break
						}
						faults.Reset()
						cuts++
						what := fmt.Sprintf("%s: %s, cut %s write %d (%v)", k.name, name, way, cut, err)
						k.keeps(t, db, what, parse(begin), after)
						if _, _, err := k.tree.Move("g", paths.Before("g")).Run(t.Context(), db); err != nil {
							t.Fatalf("%s: the next writer: %v", what, err)
						}
						if got := shape(k.stored(t, db)); got != begin && got != shape(after) {
							t.Fatalf("%s: %s", what, got)
						}
						k.whole(t, db)
					}
				}
			}
		}
		t.Log(cuts, "cuts")
	}, mongotest.WithFaults(faults), mongotest.WithClientOptions(options.Client().SetRetryWrites(false).SetRetryReads(false)))
}

// keeps fails the test unless each node that two forests have is stored.
func (k kind) keeps(t testing.TB, db *mongo.Database, what string, before, after *paths.Forest[string]) {
	t.Helper()
	stored, err := ids(k.docs.Find(nil).All(t.Context(), db))
	if err != nil {
		t.Fatal(err)
	}
	for id := range before.All() {
		if after.Has(id) && !slices.Contains(stored, id) {
			t.Fatalf("%s: %q is lost", what, id)
		}
	}
}

// manyDocuments matches an update or deletion of many documents, or of several statements.
func manyDocuments(c mongotest.Command) bool {
	for _, name := range []string{"updates", "deletes"} {
		statements, ok := c.Body.Lookup(name).ArrayOK()
		if !ok {
			continue
		}
		list, _ := statements.Values()
		multi, _ := list[0].Document().Lookup("multi").BooleanOK()
		limit, isDelete := list[0].Document().Lookup("limit").AsInt64OK()
		return multi || isDelete && limit == 0 || len(list) > 1
	}
	return false
}

// quick is the representation with a lease that runs out soon. On a server the lease is longer: a busy server must answer
// the reads of a change within it, and tests that let renewals fail let those of every change fail.
func (k kind) quick() kind {
	lease := 60 * time.Millisecond
	if testkit.Sample {
		lease = 400 * time.Millisecond
	}
	k.tree = k.declare(k.docs, paths.TreeSpec{For: lease, Wait: 10 * time.Second})
	return k
}
