package pathstest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
)

// Hostile are ids, and so segments of paths, that code could take for something else.
var Hostile = []string{
	"a", "ab", "a b", "a.b", "a/b", "$x", "|", `\|`, "é", "%", "%2F", "^a", "a/", "/", "{}", "𝄞", "A", "0",
}

// A Drawing draws random operations, and does them to a forest in memory.
type Drawing struct {
	R         *rand.Rand
	Forest    *paths.Forest[string]
	Most      int // about how many nodes the tree grows to, before it shrinks again
	Shrinking bool
}

// A Step is a random operation, done to the plain tree already.
type Step struct {
	Name, ID string
	Change   func(Kind) model.Change
	Want     error
}

// Step draws the next operation, and does it to the forest.
func (d *Drawing) Step() Step {
	r, f := d.R, d.Forest
	switch {
	case f.Len() >= d.Most:
		d.Shrinking = true
	case f.Len() < d.Most/4:
		d.Shrinking = false
	}
	ref := d.Pick()
	if !d.Shrinking && r.IntN(3) == 0 { // so that some lie deep
		deepest := -1
		for id, depth := range f.All() {
			if depth > deepest && depth < 25 {
				ref, deepest = id, depth
			}
		}
	}
	place := []paths.Place[string]{
		paths.FirstChild(ref), paths.LastChild(ref), paths.Before(ref), paths.After(ref), paths.FirstRoot[string](),
		paths.LastRoot[string](),
	}[r.IntN(6)]
	where := strings.TrimSuffix(place.String(), " "+ref)
	id, grow := d.Pick(), 60
	if d.Shrinking {
		grow = 20
	}
	switch n := r.IntN(100); {
	case n < grow:
		id := Hostile[r.IntN(len(Hostile))]
		if r.IntN(8) > 0 {
			id += fmt.Sprint(r.IntN(1000))
		}
		return Step{
			"insert " + where, id,
			func(k Kind) model.Change { return k.Tree.Insert(Category{ID: id, Name: "n"}, place) },
			f.Insert(id, place),
		}
	case n < 85:
		return Step{
			"move " + where, id, func(k Kind) model.Change { return k.Tree.Move(id, place) }, f.Move(id, place),
		}
	case n < 88:
		_, err := f.Children(id)
		return Step{"rebalance", id, func(k Kind) model.Change { return k.Tree.Rebalance(&id) }, err}
	}
	mode := paths.DeleteMode(r.IntN(4))
	if mode == paths.Subtree && f.Has(id) && CountBelow(f, id) > 20 { // so that it grows at all
		mode = paths.Promote
	}
	return Step{
		"delete " + ModeName(mode), id, func(k Kind) model.Change { return k.Tree.Delete(id, mode) },
		f.Delete(id, mode),
	}
}

// DrawStep draws one operation, for a tree of some sixty nodes.
func DrawStep(r *rand.Rand, f *paths.Forest[string]) (name string, change func(Kind) model.Change, want error) {
	s := (&Drawing{R: r, Forest: f, Most: 60}).Step()
	return fmt.Sprintf("%s %q", s.Name, s.ID), s.Change, s.Want
}

// Pick picks a node, or one that isn't there.
func (d *Drawing) Pick() string { return PickID(d.R, d.Forest) }

// PickID is a random node, or now and then one that isn't there.
func PickID(r *rand.Rand, f *paths.Forest[string]) string {
	all := []string{}
	for id := range f.All() {
		all = append(all, id)
	}
	if len(all) == 0 || r.IntN(30) == 0 {
		return "nobody"
	}
	return all[r.IntN(len(all))]
}
