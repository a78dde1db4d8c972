package main

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// After the move and back, all trees agree with the import paths.
func wantTrees(t *testing.T, tour *tour) {
	t.Helper()
	all := packageNodes(tour.std)
	var below []string
	var bytes int64
	for _, n := range all {
		if n.ID == "net" || strings.HasPrefix(n.ID, "net/") {
			below = append(below, n.ID)
		}
	}
	for _, f := range tour.std.files {
		if f.Package == "net" || strings.HasPrefix(f.Package, "net/") {
			bytes += f.Bytes
		}
	}
	for _, r := range trees {
		got, err := r.tree.below(t.Context(), tour.db, "net")
		slices.Sort(got)
		if err != nil || !slices.Equal(got, below) {
			t.Errorf("%s: below net %q, %v, want %q", r.name, got, err, below)
		}
		above, err := r.tree.above(t.Context(), tour.db, "net/http/httputil")
		if err != nil || !slices.Equal(above, []string{"net", "net/http"}) {
			t.Errorf("%s: above net/http/httputil %q, %v", r.name, above, err)
		}
		if sum, err := r.tree.bytes(t.Context(), tour.db, "net"); err != nil || sum != bytes {
			t.Errorf("%s: %d bytes in net, %v, want %d", r.name, sum, err, bytes)
		}
		whole, err := r.tree.whole(t.Context(), tour.db)
		if err != nil || whole.Len() != len(all) {
			t.Errorf("%s: not all of %d nodes: %v", r.name, len(all), err)
			continue
		}
		for _, n := range all {
			if parent, ok, err := whole.Parent(n.ID); err != nil || ok != (n.Parent != nil) || ok && parent != *n.Parent {
				t.Errorf("%s: %s is in %q", r.name, n.ID, parent)
			}
		}
	}
}

// Ranks by plain arithmetic.
func wantRanks(t *testing.T, tour *tour) {
	t.Helper()
	of := importsOf(tour.std)
	n := float64(len(of))
	rank := map[string]float64{}
	for id := range of {
		rank[id] = 1 / n
	}
	for range 200 {
		next, nowhere := map[string]float64{}, 0.0
		for id, to := range of {
			if len(to) == 0 {
				nowhere += rank[id]
			}
			for _, imp := range to {
				next[imp] += rank[id] / float64(len(to))
			}
		}
		for id := range of {
			rank[id] = 0.15/n + 0.85*(next[id]+nowhere/n)
		}
	}
	sum := 0.0
	for _, v := range all(t, tour.db, ranks.States()) {
		sum += v.Rank
		if math.Abs(v.Rank-rank[v.ID]) > 1e-9 {
			t.Errorf("%s ranks %g, want %g", v.ID, v.Rank, rank[v.ID])
		}
		delete(rank, v.ID)
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("ranks sum up to %g", sum)
	}
	if len(rank) > 0 {
		t.Errorf("without a rank: %v", rank)
	}
}

// Distances by a queue.
func wantDistances(t *testing.T, tour *tour) {
	t.Helper()
	of := importsOf(tour.std)
	want := map[string]int64{start: 0}
	for queue := []string{start}; len(queue) > 0; queue = queue[1:] {
		for _, imp := range of[queue[0]] {
			if _, ok := want[imp]; !ok {
				want[imp] = want[queue[0]] + 1
				queue = append(queue, imp)
			}
		}
	}
	states := all(t, tour.db, near.States())
	if len(states) != len(want) {
		t.Errorf("%d packages are reached, want %d", len(states), len(want))
	}
	for _, v := range states {
		if d, ok := want[v.ID]; !ok || d != v.Step {
			t.Errorf("%s is %d away, want %d", v.ID, v.Step, d)
		}
		if v.Step > 0 && (want[v.Via] != v.Step-1 || !slices.Contains(of[v.Via], v.ID)) {
			t.Errorf("%s isn't reached by %s", v.ID, v.Via)
		}
	}
}

// Components: each node takes the least name of its neighbours until nothing changes.
func wantComponents(t *testing.T, tour *tour) {
	t.Helper()
	least := map[string]string{}
	for _, p := range tour.std.packages {
		least[p.ID] = p.ID
	}
	for changed := true; changed; {
		changed = false
		for _, p := range tour.std.packages {
			for _, imp := range p.Imports {
				if a, b := least[p.ID], least[imp]; a != b {
					least[p.ID], least[imp], changed = min(a, b), min(a, b), true
				}
			}
		}
	}
	states := all(t, tour.db, groups.States())
	if len(states) != len(least) {
		t.Errorf("%d packages are in components, want %d", len(states), len(least))
	}
	for _, v := range states {
		if v.Component != least[v.ID] {
			t.Errorf("%s is in the component of %s, want %s", v.ID, v.Component, least[v.ID])
		}
	}
}

// The longest chains by recursion.
func wantChains(t *testing.T, tour *tour) {
	t.Helper()
	importers := map[string][]string{}
	for _, p := range tour.std.packages {
		for _, imp := range p.Imports {
			importers[imp] = append(importers[imp], p.ID)
		}
	}
	known := map[string]int{}
	var chain func(id string) int
	chain = func(id string) int {
		longest, ok := known[id]
		if !ok {
			for _, by := range importers[id] {
				longest = max(longest, chain(by)+1)
			}
			known[id] = longest
		}
		return longest
	}
	states := all(t, tour.db, layers.States())
	if len(states) != len(tour.std.packages) {
		t.Errorf("%d packages have chains, want %d", len(states), len(tour.std.packages))
	}
	for _, v := range states {
		var l layer
		if err := v.Value.Unmarshal(&l); err != nil || l != (layer{Chain: chain(v.ID)}) {
			t.Errorf("%s: %+v, %v, want a chain of %d", v.ID, l, err, chain(v.ID))
		}
	}
}
