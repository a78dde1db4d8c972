package forest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
)

// parse makes a forest of a shape such as "a(b(d) c) e": single letters, children in parentheses.
func parse(t *testing.T, shape string) *forest.Forest[string] {
	t.Helper()
	f := &forest.Forest[string]{}
	var above []string
	last := ""
	for _, r := range shape {
		switch r {
		case '(':
			above = append(above, last)
		case ')':
			above = above[:len(above)-1]
		case ' ':
		default:
			at := forest.Place[string]{}
			if last = string(r); len(above) > 0 {
				at = forest.Place[string]{At: forest.LastChild, Ref: above[len(above)-1]}
			}
			if err := f.Insert(last, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	return f
}

// shape writes a forest as parse reads it. It fails the test if the links between nodes disagree.
func shape(t *testing.T, f *forest.Forest[string]) string {
	t.Helper()
	seen := 0
	var write func(ids []string, parent string) string
	write = func(ids []string, parent string) string {
		parts := make([]string, len(ids))
		for i, id := range ids {
			seen++
			if got, child := f.FindParent(id); got != parent || child != (parent != "") {
				t.Errorf("the parent of %s is %q, want %q", id, got, parent)
			}
			if _, _, at := f.LocateNode(id); at != i {
				t.Errorf("%s is at %d, want %d", id, at, i)
			}
			parts[i] = id
			if children := f.ListChildren(id); len(children) > 0 {
				parts[i] += "(" + write(children, id) + ")"
			}
		}
		return strings.Join(parts, " ")
	}
	s := write(f.ListRoots(), "")
	if seen != f.Len() {
		t.Errorf("%s has %d nodes, and Len is %d", s, seen, f.Len())
	}
	return s
}

const family = "a(b(d e) c) f(g)"

func TestForestReads(t *testing.T) {
	f := parse(t, family)
	var all []string
	for id, depth := range f.WalkAll() {
		all = append(all, fmt.Sprint(id, depth))
	}
	for _, c := range []struct {
		what string
		got  []string
		want string
	}{
		{"WalkAll", all, "a0 b1 d2 e2 c1 f0 g1"},
		{"ancestors of e", f.ListAncestors("e"), "a b"},
		{"ancestors of a root", f.ListAncestors("a"), ""},
		{"all descendants of a", f.ListDescendants("a", 0), "b d e c"},
		{"descendants of a, one level", f.ListDescendants("a", 1), "b c"},
		{"descendants of a missing node", f.ListDescendants("z", 0), ""},
	} {
		if got := strings.Join(c.got, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	for id, depth := range f.WalkSubtree("b") { // a walk may be left
		if id != "b" || depth != 0 {
			t.Errorf("the subtree of b begins with %s at depth %d", id, depth)
		}
		break
	}
	if err := f.RequireNodes("a", "z"); !errors.Is(err, model.ErrNotFound) || !strings.HasSuffix(err.Error(), " z") {
		t.Error(err)
	}
}

// A change that is refused changes nothing.
func TestForestChanges(t *testing.T) {
	place := func(at forest.Position, ref string) forest.Place[string] {
		return forest.Place[string]{At: at, Ref: ref}
	}
	insert := func(id string, to forest.Place[string]) func(*forest.Forest[string]) error {
		return func(f *forest.Forest[string]) error { return f.Insert(id, to) }
	}
	move := func(id string, to forest.Place[string]) func(*forest.Forest[string]) error {
		return func(f *forest.Forest[string]) error { return f.Move(id, to) }
	}
	remove := func(id string, mode forest.Mode) func(*forest.Forest[string]) error {
		return func(f *forest.Forest[string]) error { return f.Delete(id, mode) }
	}
	for _, c := range []struct {
		what string
		do   func(*forest.Forest[string]) error
		err  error
		want string
	}{
		{"insert a last root", insert("x", place(forest.LastRoot, "")), nil, "a(b(d e) c) f(g) x"},
		{"insert a first root", insert("x", place(forest.FirstRoot, "")), nil, "x a(b(d e) c) f(g)"},
		{"insert a first child", insert("x", place(forest.FirstChild, "a")), nil, "a(x b(d e) c) f(g)"},
		{"insert before", insert("x", place(forest.Before, "c")), nil, "a(b(d e) x c) f(g)"},
		{"insert after a root", insert("x", place(forest.After, "a")), nil, "a(b(d e) c) x f(g)"},
		{"insert a used id", insert("d", place(forest.LastRoot, "")), model.ErrTaken, family},
		{"insert below a missing node", insert("x", place(forest.LastChild, "z")), model.ErrNotFound, family},

		{"move a subtree", move("b", place(forest.LastChild, "g")), nil, "a(c) f(g(b(d e)))"},
		{"move among siblings", move("b", place(forest.After, "c")), nil, "a(c b(d e)) f(g)"},
		{"move to the roots", move("e", place(forest.FirstRoot, "")), nil, "e a(b(d) c) f(g)"},
		{"move next to itself", move("b", place(forest.After, "b")), nil, family},
		{"move below itself", move("a", place(forest.LastChild, "a")), forest.ErrCycle, family},
		{"move below a descendant", move("a", place(forest.Before, "e")), forest.ErrCycle, family},
		{"move a missing node", move("z", place(forest.LastRoot, "")), model.ErrNotFound, family},
		{"move to a missing node", move("a", place(forest.Before, "z")), model.ErrNotFound, family},

		{"delete a leaf", remove("d", forest.Restrict), nil, "a(b(e) c) f(g)"},
		{"delete a node with children", remove("b", forest.Restrict), forest.ErrHasChildren, family},
		{"delete a subtree", remove("b", forest.Subtree), nil, "a(c) f(g)"},
		{"promote children", remove("b", forest.Promote), nil, "a(d e c) f(g)"},
		{"promote children of a root", remove("a", forest.Promote), nil, "b(d e) c f(g)"},
		{"make children roots", remove("a", forest.Rootify), nil, "f(g) b(d e) c"},
		{"delete a missing node", remove("z", forest.Subtree), model.ErrNotFound, family},
	} {
		f := parse(t, family)
		if err := c.do(f); !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.what, err, c.err)
		}
		if got := shape(t, f); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// A chain of nodes can be deeper than a stack of calls.
func TestForestIsDeep(t *testing.T) {
	const deep = 50_000
	links := make([]forest.Link[int], deep)
	for i := range links {
		links[i] = forest.Link[int]{ID: i, Parent: i - 1, Root: i == 0, Order: "a0"}
	}
	slices.Reverse(links)
	f, lost := forest.BuildForest(links)
	last := -1
	for _, depth := range f.WalkAll() {
		last = depth
	}
	if last != deep-1 || len(lost) != 0 {
		t.Errorf("the last of %d nodes is at depth %d, and %d have no place", f.Len(), last, len(lost))
	}
}
