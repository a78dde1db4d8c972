package forest_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/paths/internal/forest"
)

// The chosen keys ascend, and keep as many of the siblings' keys as can be kept.
func TestChooseOrders(t *testing.T) {
	long := strings.Repeat("V", forest.LongKey)
	for _, c := range []struct {
		what        string
		wanted, had []string
		kept        string // a key for each sibling, "?" for a new one
	}{
		{"all ascend", nil, []string{"a0", "a1", "a2"}, "a0 a1 a2"},
		{"one is out of order", nil, []string{"a3", "a0", "a1"}, "? a0 a1"},
		{"one has none", nil, []string{"a0", "", "a1"}, "a0 ? a1"},
		{"two are equal", nil, []string{"a0", "a0", "a1"}, "a0 ? a1"},
		{"one is no key", nil, []string{"a0", "a00", "a1"}, "a0 ? a1"},
		{"wanted keys come first", []string{"a4", "a5"}, []string{"a0", "a1", "a6", "a2"}, "a4 a5 a6 ?"},
		{"wanted keys that descend count for nothing", []string{"a5", "a4"}, []string{"a0", "a1"}, "a0 a1"},
		{"no keys", nil, []string{"", ""}, "? ?"},
		{"a key would be too long", nil, []string{"a0" + long, "", "a0" + long + "1"}, "? ? ?"},
		{"no siblings", nil, nil, ""},
	} {
		got := forest.ChooseOrders(c.wanted, c.had)
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("%s: %q don't ascend", c.what, got)
		}
		kept := strings.Fields(c.kept)
		for i, key := range got {
			if err := forest.CheckKey(key); err != nil || len(key) > forest.LongKey {
				t.Errorf("%s: %q: %v", c.what, key, err)
			}
			if i < len(kept) && kept[i] != "?" && kept[i] != key {
				t.Errorf("%s: %q, want %s", c.what, got, c.kept)
			}
		}
		if len(got) != len(kept) {
			t.Errorf("%s: %q, want %s", c.what, got, c.kept)
		}
	}
}

// MarkAscending marks a longest ascending subsequence: no other subset of the values that ascends has more.
func TestMarkAscending(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 4))
	for range 500 {
		values := make([]int, r.IntN(9))
		for i := range values {
			values[i] = r.IntN(7)
		}
		can := func(v int) bool { return v > 0 }
		most := 0
		for set := range 1 << len(values) {
			if n := countAscending(values, func(i int) bool { return set>>i&1 == 1 }, can); n > most {
				most = n
			}
		}
		keep := forest.MarkAscending(values, can)
		got := countAscending(values, func(i int) bool { return keep[i] }, can)
		if got != most || len(keep) != len(values) {
			t.Fatalf("of %v are marked %v: %d, want %d", values, keep, got, most)
		}
	}
}

// countAscending returns the number of the chosen values, or -1 if they don't ascend or one of them isn't allowed.
func countAscending(values []int, chosen func(i int) bool, can func(int) bool) int {
	n, last := 0, -1
	for i, v := range values {
		if !chosen(i) {
			continue
		}
		if v <= last || !can(v) {
			return -1
		}
		n, last = n+1, v
	}
	return n
}
