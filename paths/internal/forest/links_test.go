package forest_test

import (
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/paths/internal/forest"
)

// Links without a place are returned, whatever their order.
func TestBuildForest(t *testing.T) {
	root := func(id, order string) forest.Link[string] {
		return forest.Link[string]{ID: id, Root: true, Order: order}
	}
	child := func(id, parent, order string) forest.Link[string] {
		return forest.Link[string]{ID: id, Parent: parent, Order: order}
	}
	for _, c := range []struct {
		what       string
		links      []forest.Link[string]
		want, lost string
	}{
		{"nothing", nil, "", "[]"},
		{
			"children come before their parents",
			[]forest.Link[string]{child("d", "b", "a0"), child("c", "a", "a1"), child("b", "a", "a0"), root("a", "a0")},
			"a(b(d) c)", "[]",
		},
		{
			"equal keys keep the order of the list",
			[]forest.Link[string]{root("b", "a0"), root("a", "a0"), root("c", "Zz")}, "c b a", "[]",
		},
		{
			"a missing parent", []forest.Link[string]{root("a", "a0"), child("b", "z", "a0"), child("c", "b", "a0")},
			"a", "[b c]",
		},
		{
			"a cycle, and a node below it",
			[]forest.Link[string]{root("a", "a0"), child("b", "c", "a0"), child("c", "b", "a0"), child("d", "c", "a1")},
			"a", "[b c d]",
		},
		{
			"a repeated id: the one with the lower key counts",
			[]forest.Link[string]{root("a", "a0"), child("b", "a", "a2"), root("b", "a1")}, "a b", "[b]",
		},
	} {
		f, lost := forest.BuildForest(c.links)
		ids := make([]string, len(lost))
		for i, l := range lost {
			ids[i] = l.ID
		}
		if got := shape(t, f); got != c.want || fmt.Sprint(ids) != c.lost {
			t.Errorf("%s: %q without %v, want %q without %s", c.what, got, ids, c.want, c.lost)
		}
	}
}

func TestNumberNodes(t *testing.T) {
	f := parse(t, "a(b(c) d) e")
	for step, want := range map[int64]string{
		1:  "map[a:[1 8] b:[2 5] c:[3 4] d:[6 7] e:[9 10]]",
		10: "map[a:[1 71] b:[11 41] c:[21 31] d:[51 61] e:[81 91]]",
	} {
		if got := fmt.Sprint(f.NumberNodes(step)); got != want {
			t.Errorf("with step %d: %s, want %s", step, got, want)
		}
	}
}
