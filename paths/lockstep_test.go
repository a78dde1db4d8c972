package paths_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// hostile are ids, and so segments of paths, that code could take for something else.
var hostile = []string{"a", "ab", "a b", "a.b", "a/b", "$x", "|", `\|`, "é", "%", "%2F", "^a", "a/", "/", "{}", "𝄞", "A", "0"}

// Random operations leave every representation as they leave the plain tree, with the same errors; and every query gives the same.
// By hand, DOCMODEL_STEPS says how many, and DOCMODEL_SEED which; from 2,000 on, the tree grows to 300 nodes, and chains to 20 levels.
func TestLockstep(t *testing.T) {
	parallel(t)
	steps, seed, most := 150, 5, 60
	if few() {
		steps = 60
	}
	for name, n := range map[string]*int{"DOCMODEL_STEPS": &steps, "DOCMODEL_SEED": &seed} {
		if s, err := strconv.Atoi(os.Getenv(name)); err == nil {
			*n = s
		}
	}
	if steps >= 2000 {
		most = 300
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range kinds {
			k.ensure(t, db)
		}
		draw := &drawing{r: rand.New(rand.NewPCG(uint64(steps), uint64(seed))), forest: &paths.Forest[string]{}, most: most}
		forest, done, largest, deepest := draw.forest, map[string]int{}, 0, 0
		for i := range steps {
			s := draw.step()
			wanted := shape(forest)
			done[s.name]++
			for _, k := range kinds {
				if _, _, err := s.change(k).Run(t.Context(), db); !sameErr(err, s.want) {
					t.Fatalf("step %d, %s: %s %q: %v, want %v\nof %s", i, k.name, s.name, s.id, err, s.want, shape(forest))
				}
				if got := shape(k.stored(t, db)); got != wanted {
					t.Fatalf("step %d, %s: %s %q\n got %s\nwant %s", i, k.name, s.name, s.id, got, wanted)
				}
			}
			if forest.Len() > 0 && (most == 60 || i%20 == 0) {
				compareNode(t, db, forest, draw.pick(), draw.pick())
			}
			if most > 60 && i%1000 == 999 {
				t.Log(i+1, "steps")
				for id := range forest.All() {
					compareNode(t, db, forest, id, draw.pick())
				}
				for _, k := range kinds {
					k.whole(t, db)
				}
			}
			largest = max(largest, forest.Len())
			for _, depth := range forest.All() {
				deepest = max(deepest, depth)
			}
		}
		t.Log(done, "at most", largest, "nodes, to depth", deepest)
	})
}

// drawing draws operations.
type drawing struct {
	r         *rand.Rand
	forest    *paths.Forest[string]
	most      int // about how many nodes the tree grows to, before it shrinks again
	shrinking bool
}

// A step is a random operation, done to the plain tree already.
type step struct {
	name, id string
	change   func(kind) model.Change[any]
	want     error
}

func (d *drawing) step() step {
	r, f := d.r, d.forest
	switch {
	case f.Len() >= d.most:
		d.shrinking = true
	case f.Len() < d.most/4:
		d.shrinking = false
	}
	ref := d.pick()
	if !d.shrinking && r.IntN(3) == 0 { // so that some lie deep
		deepest := -1
		for id, depth := range f.All() {
			if depth > deepest && depth < 25 {
				ref, deepest = id, depth
			}
		}
	}
	place := []paths.Place[string]{
		paths.FirstChild(ref), paths.LastChild(ref), paths.Before(ref), paths.After(ref), paths.FirstRoot[string](), paths.LastRoot[string](),
	}[r.IntN(6)]
	where := strings.TrimSuffix(place.String(), " "+ref)
	id, grow := d.pick(), 60
	if d.shrinking {
		grow = 20
	}
	switch n := r.IntN(100); {
	case n < grow:
		id := hostile[r.IntN(len(hostile))]
		if r.IntN(8) > 0 {
			id += fmt.Sprint(r.IntN(1000))
		}
		return step{"insert " + where, id, func(k kind) model.Change[any] { return k.tree.Insert(category{ID: id, Name: "n"}, place) }, f.Insert(id, place)}
	case n < 85:
		return step{"move " + where, id, func(k kind) model.Change[any] { return k.tree.Move(id, place) }, f.Move(id, place)}
	case n < 88:
		_, err := f.Children(id)
		return step{"rebalance", id, func(k kind) model.Change[any] { return k.tree.Rebalance(&id) }, err}
	}
	mode := paths.DeleteMode(r.IntN(4))
	if mode == paths.Subtree && f.Has(id) && count(f, id) > 20 { // so that it grows at all
		mode = paths.Promote
	}
	return step{"delete " + modeName(mode), id, func(k kind) model.Change[any] { return k.tree.Delete(id, mode) }, f.Delete(id, mode)}
}

// randomStep draws one operation, for a tree of some sixty nodes.
func randomStep(r *rand.Rand, f *paths.Forest[string]) (name string, change func(kind) model.Change[any], want error) {
	s := (&drawing{r: r, forest: f, most: 60}).step()
	return fmt.Sprintf("%s %q", s.name, s.id), s.change, s.want
}

// pick picks a node, or one that isn't there.
func (d *drawing) pick() string { return pick(d.r, d.forest) }

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
				if !slices.Equal(got, want) {
					t.Fatalf("%s: %s of %q in %s: got %q, want %q", k.name, what, id, shape(f), got, want)
				}
			}
		}
		check("roots", f.Roots())(ids(k.tree.Roots().All(ctx, db)))
		check("children", sure(f.Children(id)))(ids(k.found(ctx, db, id, k.tree.Children)))
		check("siblings", siblingsOf(f, id))(ids(k.found(ctx, db, id, k.tree.Siblings)))
		check("ancestors", sure(f.Ancestors(id)))(ids(k.asked(ctx, db, id, k.tree.Ancestors)))
		for _, depth := range []int{0, 1, 2} {
			check(fmt.Sprint("descendants to ", depth), sure(f.Descendants(id, depth)))(ids(k.below(ctx, db, id, depth)))
		}
		leaves, err := ids(k.asked(ctx, db, id, k.tree.Leaves))
		if !strings.HasPrefix(k.name, "nested") { // which gives them in order
			slices.Sort(leaves)
			check("leaves", slices.Sorted(slices.Values(leavesOf(f, id))))(leaves, err)
		} else {
			check("leaves", leavesOf(f, id))(leaves, err)
		}
		n, err := find(ctx, db, k.docs, id)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := k.tree.Descendants(n, 0).Count(ctx, db); err != nil || int(n) != count(f, id) {
			t.Fatalf("%s: count of %q: %d, %v, want %d", k.name, id, n, err, count(f, id))
		}
		line, err := k.line(ctx, db, id)
		others, errOther := k.line(ctx, db, other)
		want, ok := common(append(sure(f.Ancestors(id)), id), append(sure(f.Ancestors(other)), other))
		if got, found := common(line, others); err != nil || errOther != nil || found != ok || got != want {
			t.Fatalf("%s: common ancestor of %q and %q: %q, %v, %v, want %q", k.name, id, other, got, found, err, want)
		}
		visits, err := k.walk(ctx, db, id, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range visits {
			got = append(got, fmt.Sprint(v.Doc.ID, v.Depth))
		}
		check("walk", walked(f, id))(got, nil)
	}
}
