// Totals of the nodes below each node, by paths.RollUp.

package pathstest

import (
	"testing"

	"github.com/docmodel/docmodel/paths"
)

// RollUpItems declares the totals of the field items, which are stored in the field total.
func RollUpItems(k Kind) *paths.RollUp[int64, Category, string] {
	return paths.NewRollUp[int64](k.Tree, "items", "total")
}

// AddTotals computes a node's totals from a forest in memory. The node itself counts. items has the values by id.
func AddTotals(f *paths.Forest[string], items map[string]int64, id string) (out paths.Totals[int64]) {
	for _, node := range append([]string{id}, Must(f.Descendants(id, 0))...) {
		out.Nodes++
		v := items[node]
		if v == 0 {
			continue // Category leaves out 0, so the node has no value
		}
		if out.Values++; out.Values == 1 {
			out.Min, out.Max = v, v
		}
		out.Sum, out.Min, out.Max = out.Sum+v, min(out.Min, v), max(out.Max, v)
	}
	return out
}

// WantTotals fails the test unless got has the totals of the nodes want, in this order, as [AddTotals] computes them.
func WantTotals(
	t *testing.T, what string, f *paths.Forest[string], items map[string]int64, want []string,
	got []paths.Total[string, int64], err error,
) {
	t.Helper()
	if err != nil || len(got) != len(want) {
		t.Fatalf("%s: %v, %v", what, got, err)
	}
	for i, id := range want {
		if got[i].ID != id || got[i].Totals != AddTotals(f, items, id) {
			t.Fatalf("%s: %q: %+v, want %q %+v", what, got[i].ID, got[i].Totals, id, AddTotals(f, items, id))
		}
	}
}
