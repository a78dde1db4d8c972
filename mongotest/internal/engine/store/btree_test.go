package store

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTreeAgainstSlice edits a tree and a sorted slice alike, and holds that
// trees taken on the way keep what they had.
func TestTreeAgainstSlice(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		e := NewTree(cmp.Compare[int]).Edit()
		var want []int
		type snapshot struct {
			tree Tree[int]
			want []int
		}
		var snapshots []snapshot
		span := 50 + rng.IntN(3000)
		for step := range 3000 {
			k := rng.IntN(span)
			i, found := slices.BinarySearch(want, k)
			if rng.IntN(5) < 2+int(seed%2) {
				old, ok := e.Delete(k)
				if ok != found || ok && old != k {
					t.Fatalf("seed %d step %d: Delete(%d) = %d, %v; want found %v", seed, step, k, old, ok, found)
				}
				if found {
					want = slices.Delete(want, i, i+1)
				}
			} else {
				if _, replaced := e.Set(k); replaced != found {
					t.Fatalf("seed %d step %d: Set(%d) replaced %v, want %v", seed, step, k, replaced, found)
				}
				if !found {
					want = slices.Insert(want, i, k)
				}
			}
			if rng.IntN(100) == 0 {
				snapshots = append(snapshots, snapshot{e.Tree(), slices.Clone(want)})
			}
		}
		snapshots = append(snapshots, snapshot{e.Tree(), want})
		for _, s := range snapshots {
			checkTree(t, rng, s.tree, s.want, span)
		}
	}
}

func checkTree(t *testing.T, rng *rand.Rand, tree Tree[int], want []int, span int) {
	t.Helper()
	if got := slices.Collect(tree.All()); !slices.Equal(got, want) || tree.Len() != len(want) {
		t.Fatalf("tree has %d (Len %d) items, want %d", len(got), tree.Len(), len(want))
	}
	checkShape(t, tree)
	for range 20 {
		k := rng.IntN(span + 2)
		i, found := slices.BinarySearch(want, k)
		if _, ok := tree.Get(k); ok != found {
			t.Fatalf("Get(%d) found %v, want %v", k, ok, found)
		}
		c := tree.Cursor()
		var up, down []int
		for ok := c.Seek(func(x int) bool { return x < k }); ok; ok = c.Next() {
			up = append(up, c.Item())
		}
		for ok := c.SeekBack(func(x int) bool { return x >= k }); ok; ok = c.Prev() {
			down = append(down, c.Item())
		}
		slices.Reverse(down)
		if !slices.Equal(up, want[i:]) || !slices.Equal(down, want[:i]) {
			t.Fatalf("walks from %d don't meet: %d up, %d down, want %d, %d", k, len(up), len(down), len(want)-i, i)
		}
	}
	c := tree.Cursor()
	if c.Last() != (len(want) > 0) {
		t.Fatal("Last")
	}
}

// checkShape holds the tree's balance: same depth, nodes at least half full.
func checkShape(t *testing.T, tree Tree[int]) {
	t.Helper()
	var depth func(n *node[int], root bool) int
	depth = func(n *node[int], root bool) int {
		if len(n.items) > maxItems || !root && len(n.items) < minItems || len(n.items) == 0 {
			t.Fatalf("node of %d items", len(n.items))
		}
		if n.isLeaf() {
			return 1
		}
		if len(n.children) != len(n.items)+1 {
			t.Fatalf("%d children for %d items", len(n.children), len(n.items))
		}
		d := depth(n.children[0], false)
		for _, c := range n.children[1:] {
			if depth(c, false) != d {
				t.Fatal("leaves at different depths")
			}
		}
		return d + 1
	}
	if tree.root != nil {
		depth(tree.root, true)
	}
}

// TestTreeTurns changes direction at every item.
func TestTreeTurns(t *testing.T) {
	e := NewTree(cmp.Compare[int]).Edit()
	for i := range 2000 {
		e.Set(i)
	}
	tree := e.Tree()
	c := tree.Cursor()
	for i := 1; i < 2000; i++ {
		if !c.Seek(func(x int) bool { return x < i }) || !c.Prev() || c.Item() != i-1 || !c.Next() || c.Item() != i {
			t.Fatalf("turning at %d", i)
		}
	}
}
