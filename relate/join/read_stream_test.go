package join_test

import (
	"context"
	"iter"
	"os"
	"runtime"
	"testing"

	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/join"
)

// A stream holds one batch, however many parents pass: a tenth as many take as much.
func TestJoinStreamMemory(t *testing.T) {
	many, few := 100_000, 10_000
	if os.Getenv("DOCMODEL_FULL") != "" { // as .ci/run sets it: a minute more on a slow machine
		many, few = 1_000_000, 100_000
	}
	client := mongotest.NewClient(t)
	ctx, db := context.Background(), client.Database("d")
	kids := make([]joinKid, 2000)
	for i := range kids {
		kids[i] = joinKid{ID: int64(i + 1), Name: "a kid"}
	}
	if _, err := joinKids.InsertMany(kids).Run(ctx, db); err != nil {
		t.Fatal(err)
	}
	j := join.New(joinParents, "kids", joinKids, join.Spec{})
	base := heap()
	small := peak(t, j.Each(ctx, db, parentsOf(few)), few) - min(base, heap())
	large := peak(t, j.Each(ctx, db, parentsOf(many)), many) - min(base, heap())
	t.Logf(
		"peak heap above the stored documents: %.1f MiB at %d parents, %.1f MiB at %d", mib(small), few, mib(large),
		many,
	)
	if large > 64<<20 {
		t.Errorf("%.1f MiB at %d parents, more than 64", mib(large), many)
	}
	if large > small+small/10+1<<20 {
		t.Errorf("%.1f MiB at %d parents, %.1f at %d: it grows", mib(large), many, mib(small), few)
	}
}

func mib(n uint64) float64 { return float64(n) / (1 << 20) }

// sequence is parents as a query gives them.
func sequence(parents iter.Seq[joinParent]) iter.Seq2[joinParent, error] {
	return func(yield func(joinParent, error) bool) {
		for p := range parents {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// parentsOf are n parents of two children each.
func parentsOf(n int) iter.Seq2[joinParent, error] {
	return sequence(func(yield func(joinParent) bool) {
		for i := range n {
			if !yield(joinParent{ID: int64(i + 1), Kids: []int64{int64(i%2000 + 1), int64(i*7%2000 + 1)}}) {
				return
			}
		}
	})
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// peak ranges over a join and returns the largest live heap that it saw, collected every few batches.
func peak(t *testing.T, joined iter.Seq2[join.Joined[joinParent, joinKid, int64], error], every int) uint64 {
	t.Helper()
	n, most := 0, uint64(0)
	for got, err := range joined {
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Children) != 2 {
			t.Fatalf("parent %d has %d children", got.Parent.ID, len(got.Children))
		}
		if n++; n%(every/10) == 0 {
			most = max(most, heap())
		}
	}
	return most
}
