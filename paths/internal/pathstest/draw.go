// Random operations on a tree. Each is done to a forest in memory too, which says what must come of it.

package pathstest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
)

// Hostile are ids, and so segments of paths, that code could mistake for operators, separators or patterns.
var Hostile = []string{
	"a", "ab", "a b", "a.b", "a/b", "$x", "|", `\|`, "é", "%", "%2F", "^a", "a/", "/", "{}", "𝄞", "A", "0",
}

// A Drawing draws random operations, and does them to a forest in memory. The tree grows and shrinks in turns, so that
// all sizes are tested.
type Drawing struct {
	R         *rand.Rand
	Forest    *paths.Forest[string]
	Most      int  // about how many nodes the tree grows to; it shrinks to a quarter
	Shrinking bool // more nodes are deleted than inserted
}

// A Step is a random operation. The forest in memory has it already.
type Step struct {
	Name   string // what it does, such as "move after"
	ID     string // the node
	Change func(Kind) model.Change
	Want   error // the error of the forest; the stored tree must give one of the same kind, see SameError
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
	ref := d.Pick()                     // the node to which the place refers
	if !d.Shrinking && r.IntN(3) == 0 { // a third of the nodes go below the deepest one
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
	// Of 100 operations, 60 are inserts while the tree grows, and 20 while it shrinks.
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
			Name: "insert " + where, ID: id,
			Change: func(k Kind) model.Change { return k.Tree.Insert(Category{ID: id, Name: "n"}, place) },
			Want:   f.Insert(id, place),
		}
	case n < 85:
		return Step{
			Name: "move " + where, ID: id,
			Change: func(k Kind) model.Change { return k.Tree.Move(id, place) },
			Want:   f.Move(id, place),
		}
	case n < 88:
		_, err := f.Children(id)
		return Step{
			Name: "rebalance", ID: id,
			Change: func(k Kind) model.Change { return k.Tree.Rebalance(&id) },
			Want:   err,
		}
	}
	mode := paths.DeleteMode(r.IntN(4))
	// A large deletion would keep the tree small.
	if mode == paths.Subtree && Contains(f, id) && CountBelow(f, id) > 20 {
		mode = paths.Promote
	}
	return Step{
		Name: "delete " + ModeName(mode), ID: id,
		Change: func(k Kind) model.Change { return k.Tree.Delete(id, mode) },
		Want:   f.Delete(id, mode),
	}
}

// DrawStep draws one operation on a tree of about sixty nodes, for tests that keep no Drawing.
func DrawStep(r *rand.Rand, f *paths.Forest[string]) (name string, change func(Kind) model.Change, want error) {
	s := (&Drawing{R: r, Forest: f, Most: 60}).Step()
	return fmt.Sprintf("%s %q", s.Name, s.ID), s.Change, s.Want
}

// Pick draws the id of a node, as [PickID] does.
func (d *Drawing) Pick() string { return PickID(d.R, d.Forest) }

// PickID draws the id of a node. One in thirty times, and in an empty forest, it is "nobody", which isn't a node.
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
