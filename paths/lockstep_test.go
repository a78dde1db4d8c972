package paths_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// hostile are ids, and so segments of paths, that code could take for something else.
var hostile = []string{"a", "ab", "a b", "a.b", "a/b", "$x", "|", `\|`, "é", "%", "%2F", "^a", "a/", "/", "{}", "𝄞", "A", "0"}

// Random operations leave every representation as they leave the plain tree, with the same errors; and every query gives the same.
func TestLockstep(t *testing.T) {
	parallel(t)
	steps := 150
	if testing.Short() {
		steps = 60
	}
	if n, err := strconv.Atoi(os.Getenv("DOCMODEL_STEPS")); err == nil {
		steps = n
	}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range kinds {
			k.ensure(t, db)
		}
		r := rand.New(rand.NewPCG(uint64(steps), 5))
		forest := &paths.Forest[string]{}
		done := map[string]int{}
		for i := range steps {
			op, change, want := randomStep(r, forest)
			done[op]++
			for _, k := range kinds {
				if _, _, err := change(k).Run(t.Context(), db); !sameErr(err, want) {
					t.Fatalf("step %d, %s: %s: %v, want %v\nof %s", i, k.name, op, err, want, shape(forest))
				}
				if got := shape(k.stored(t, db)); got != shape(forest) {
					t.Fatalf("step %d, %s: %s\n got %s\nwant %s", i, k.name, op, got, shape(forest))
				}
			}
			if forest.Len() > 0 {
				compareNode(t, db, forest, pick(r, forest), pick(r, forest))
			}
		}
		t.Log(done, forest.Len())
	})
}

// pick is a random node, or now and then one that isn't there.
func pick(r *rand.Rand, f *paths.Forest[string]) string {
	all := []string{}
	for id := range f.All() {
		all = append(all, id)
	}
	if len(all) == 0 || r.IntN(30) == 0 {
		return "nobody"
	}
	return all[r.IntN(len(all))]
}

// randomStep does a random operation to the plain tree, and returns what it gave, and the same for a representation.
func randomStep(r *rand.Rand, f *paths.Forest[string]) (name string, change func(kind) model.Change[paths.State], want error) {
	ref := pick(r, f)
	place := []paths.Place[string]{
		paths.FirstChild(ref), paths.LastChild(ref), paths.Before(ref), paths.After(ref), paths.FirstRoot[string](), paths.LastRoot[string](),
	}[r.IntN(6)]
	id := pick(r, f)
	grow := 45
	if f.Len() > 60 {
		grow = 25
	}
	switch n := r.IntN(100); {
	case n < grow:
		id := hostile[r.IntN(len(hostile))]
		if r.IntN(8) > 0 {
			id += fmt.Sprint(r.IntN(1000))
		}
		return fmt.Sprintf("insert %q %v", id, place), func(k kind) model.Change[paths.State] {
			return k.tree.Insert(category{ID: id, Name: "n"}, place)
		}, f.Insert(id, place)
	case n < 85:
		return fmt.Sprintf("move %q %v", id, place), func(k kind) model.Change[paths.State] { return k.tree.Move(id, place) }, f.Move(id, place)
	}
	mode := paths.DeleteMode(r.IntN(4))
	return fmt.Sprintf("delete %q %v", id, mode), func(k kind) model.Change[paths.State] { return k.tree.Delete(id, mode) }, f.Delete(id, mode)
}

// compareNode asks every query of a node, of every representation.
func compareNode(t *testing.T, db *mongo.Database, f *paths.Forest[string], id, other string) {
	t.Helper()
	if !f.Has(id) || !f.Has(other) {
		return
	}
	ctx := t.Context()
	for _, k := range kinds {
		check := func(what string, want []string) func([]string, error) {
			return func(got []string, err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("%s: %s of %q: %v", k.name, what, id, err)
				}
				mustEqual(t, fmt.Sprintf("%s: %s of %q in %s", k.name, what, id, shape(f)), got, want)
			}
		}
		check("roots", f.Roots())(ids(k.tree.Roots(ctx, db)))
		check("children", f.Children(id))(ids(k.tree.Children(ctx, db, id)))
		check("siblings", f.Siblings(id))(ids(k.tree.Siblings(ctx, db, id)))
		check("ancestors", f.Ancestors(id))(ids(k.tree.Ancestors(ctx, db, id)))
		for _, depth := range []int{0, 1, 2} {
			check(fmt.Sprint("descendants to ", depth), f.Descendants(id, depth))(ids(k.tree.Descendants(ctx, db, id, depth)))
		}
		check("leaves", f.Leaves(id))(ids(k.tree.Leaves(ctx, db, id)))
		if n, err := k.tree.Count(ctx, db, id); err != nil || n != f.Count(id) {
			t.Fatalf("%s: count of %q: %d, %v, want %d", k.name, id, n, err, f.Count(id))
		}
		if is, err := k.tree.IsAncestor(ctx, db, id, other); err != nil || is != f.IsAncestor(id, other) {
			t.Fatalf("%s: %q above %q: %v, %v", k.name, id, other, is, err)
		}
		want, ok := f.CommonAncestor(id, other)
		if got, found, err := k.tree.CommonAncestor(ctx, db, id, other); err != nil || found != ok || got.ID != want {
			t.Fatalf("%s: common ancestor of %q and %q: %q, %v, %v, want %q", k.name, id, other, got.ID, found, err, want)
		}
		var walked []string
		for v, err := range k.tree.Walk(ctx, db, id) {
			if err != nil {
				t.Fatal(err)
			}
			walked = append(walked, fmt.Sprint(v.Doc.ID, v.Depth))
		}
		var wantWalk []string
		for x, depth := range f.Walk(id) {
			wantWalk = append(wantWalk, fmt.Sprint(x, depth))
		}
		check("walk", wantWalk)(walked, nil)
	}
}
