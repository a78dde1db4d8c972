package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/paths"
)

// With gaps a move writes what moves, and with dense numbers all on the way.
func TestMoves(t *testing.T) {
	s, err := movesTable(context.Background(), backend{name: "the engine"}, clockOptions{rounds: 2, sizes: []int{200}, budget: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	m := s.(moves)
	most := func(f int, op string) int {
		n := 0
		for _, w := range m.done[0][numberers[f].name][op].written {
			n = max(n, w)
		}
		return n
	}
	below := m.trees[0].below
	for f, want := range map[int][2]int{2: {ownWrites, ownWrites + below}, 3: {ownWrites, ownWrites + below}, 4: {ownWrites, ownWrites + below}, 5: {ownWrites, ownWrites}} {
		if leaf, branch := most(f, leafMoved), most(f, branchMoved); leaf != want[0] || branch != want[1] {
			t.Errorf("%s: a leaf wrote %d and a branch %d, want %v", numberers[f].name, leaf, branch, want)
		}
	}
	if dense, direct := most(0, leafMoved), most(1, leafMoved); dense <= direct || direct <= 100 {
		t.Errorf("dense numbers wrote %d, and %d with Direct", dense, direct)
	}
	if text := m.String(); !strings.Contains(text, "others from insert 1 on") || !strings.Contains(text, "never others") {
		t.Error(text)
	}
}

// What is counted as found lies in order, and the next one wouldn't.
func TestPrecision(t *testing.T) {
	for _, p := range patterns {
		after, before, n := 0.5, 1.0, 0
		for ; ; n++ {
			left, right, ok := thirds(after, before)
			if !ok {
				break
			}
			if after >= left || left >= right || right >= before {
				t.Fatal(p.name, after, left, right, before)
			}
			switch behind, ahead := p.after(n); {
			case behind && ahead:
				after, before = left, right
			case behind:
				after = right
			default:
				before = left
			}
		}
		if got := given(p, 0.5, 1.0, thirds); got != digits(n) || n > 100 {
			t.Errorf("%s: %s, want %d", p.name, got, n)
		}
	}
	f, ok := fraction{1, 2}.mediant(fraction{2, 3})
	if f != (fraction{3, 5}) || !ok {
		t.Error(f, ok)
	}
	if _, ok := (fraction{1, 1 << 62}).mediant(fraction{1, 1 << 62}); ok {
		t.Error("a term beyond int64 was given")
	}
}

// The functions that are simulated with agree with documents of a size that can be stored.
func TestSimulated(t *testing.T) {
	if depth := depthOf(111, 10); depth != 2 {
		t.Errorf("111 nodes of ten children each are %d deep", depth)
	}
	if depth := depthOf(112, 10); depth != 3 {
		t.Errorf("112 nodes of ten children each are %d deep", depth)
	}
	ids := lineage(112, 10)
	path, err := paths.Path(ids...)
	if text, err2 := pathOf(10)(112); err != nil || err2 != nil || text != digits(len(path)) || len(paths.Segments(path)) != 4 {
		t.Error(text, path, err, err2)
	}
	stored := pageOf(tomeOf(1), 9, nil)
	if id, err := pageID(9); err != nil || id != stored.ID {
		t.Errorf("page 9 is asked for as %q, %v, and stored as %q", id, err, stored.ID)
	}
	last, first := ordered(false), ordered(true)
	for _, n := range []int{1, 100, 5000} {
		a, err := last(n)
		b, err2 := first(n)
		if err != nil || err2 != nil || a == "" || b == "" {
			t.Error(n, a, b, err, err2)
		}
	}
}
