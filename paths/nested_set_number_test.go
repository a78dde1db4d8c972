package paths_test

import (
	"iter"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
)

// Numbers that are streamed are those of the forest.
func TestNestedSetNumber(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	f := &paths.Forest[string]{}
	for range 300 {
		pathstest.DrawStep(r, f)
		for _, gap := range []int64{1, 10} {
			want, seen := pathstest.NumbersOf(f, gap), 0
			for n, err := range paths.Number(f.All(), gap) {
				if err != nil {
					t.Fatal(err)
				}
				if got := [2]int64{n.Left, n.Right}; got != want[n.Node] || n.Depth != pathstest.DepthOf(f, n.Node) {
					t.Fatalf("%q of %s: %v at %d, want %v", n.Node, pathstest.Shape(f), got, n.Depth, want[n.Node])
				}
				seen++
			}
			if seen != f.Len() {
				t.Fatalf("%d of %d nodes", seen, f.Len())
			}
		}
	}
}

// nestedDepths are nodes that are known by their numbers, of the given depths.
func nestedDepths(depths ...int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for i, d := range depths {
			if !yield(i, d) {
				return
			}
		}
	}
}

func TestNestedSetNumberRefuses(t *testing.T) {
	for _, c := range []struct {
		reason string
		nodes  iter.Seq2[int, int]
		gap    int64
		given  int
	}{
		{"no root", nestedDepths(1), 1, 0},
		{"a depth is left out", nestedDepths(0, 1, 0, 2), 1, 2 - 1},
		{"negative", nestedDepths(0, -1), 1, 0},
		{"too wide a gap", nestedDepths(0, 1, 1), math.MaxInt64 / 4, 0},
	} {
		given, failed := 0, false
		for _, err := range paths.Number(c.nodes, c.gap) {
			switch {
			case failed:
				t.Errorf("%s: something comes after the error", c.reason)
			case err != nil:
				failed = true
			default:
				given++
			}
		}
		if !failed || given < c.given {
			t.Errorf("%s: %d nodes, refused: %v", c.reason, given, failed)
		}
	}
	for range paths.Number(nestedDepths(0, 0, 0), 1) {
		break // ends it
	}
	if n := len(collect(paths.Number(nestedDepths(), 0))); n != 0 {
		t.Errorf("%d of no nodes", n)
	}
}

func collect(seq iter.Seq2[paths.Numbered[int], error]) (out []paths.Numbered[int]) {
	for n := range seq {
		out = append(out, n)
	}
	return out
}

// nestedMillion are nodes in preorder, of depths up to 20.
func nestedMillion(n int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		r := rand.New(rand.NewPCG(1, 1))
		depth := -1 // before the first
		for i := range n {
			if i%3 > 0 {
				depth = min(depth+1, 20)
			} else {
				depth = min(r.IntN(depth+2), 20)
			}
			if !yield(i, depth) {
				return
			}
		}
	}
}

// A million nodes take no more memory than a few.
func TestNestedSetNumberStreams(t *testing.T) {
	allocs := testing.AllocsPerRun(1, func() {
		seen, last := 0, int64(0)
		for n, err := range paths.Number(nestedMillion(1_000_000), 1) {
			if err != nil {
				t.Fatal(err)
			}
			seen++
			last = max(last, n.Right)
		}
		if seen != 1_000_000 || last != 2_000_000 {
			t.Errorf("%d nodes, up to %d", seen, last)
		}
	})
	if allocs > 100 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkNestedSetNumber(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range paths.Number(nestedMillion(1_000_000), 16) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)*1e6/b.Elapsed().Seconds(), "nodes/s")
}
