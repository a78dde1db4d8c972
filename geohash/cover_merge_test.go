package geohash

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// The merger leaves as few keys over as any choice of gaps: compared with all of them.
func TestMergerIsOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		runs := make([]Range, 1+r.IntN(11))
		end := Key(0)
		for i := range runs {
			lo := end + 1 + Key(r.IntN(20))
			end = lo + 1 + Key(r.IntN(5))
			runs[i] = Range{lo, end}
		}
		limit := 1 + r.IntN(12)
		m := newMerger(nil, limit)
		for _, run := range runs {
			m.add(run.Lo, run.Hi)
		}
		wantOptimal(t, runs, limit, m.out)
	}
}

// wantOptimal checks that got is runs with as few keys added as so many ranges allow.
func wantOptimal(t *testing.T, runs []Range, limit int, got []Range) {
	t.Helper()
	least := Key(1) << 62
	for kept := range 1 << (len(runs) - 1) { // gaps that stay
		if bits.OnesCount(uint(kept)) >= limit {
			continue
		}
		sum := runs[len(runs)-1].Hi - runs[0].Lo
		for i := range len(runs) - 1 {
			if kept>>i&1 == 1 {
				sum -= runs[i+1].Lo - runs[i].Hi
			}
		}
		least = min(least, sum)
	}
	sum := Key(0)
	for i, r := range got {
		sum += r.Hi - r.Lo
		if i > 0 && got[i-1].Hi >= r.Lo {
			t.Fatalf("%v isn't sorted and apart", got)
		}
	}
	if len(got) > limit || sum != least || len(Subtract(nil, runs, got)) > 0 {
		t.Fatalf("at most %d of %v: %v has %d keys, not %d", limit, runs, got, sum, least)
	}
}

// A box of few of the smallest cells is drawn exactly, and covered as well as it can be.
func TestBoxCoverIsOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 4000 {
		column, row := r.Int64N(axis-8), r.Int64N(axis-8)
		if i%4 == 0 { // where much meets: Greenwich, the equator
			column, row = axis/2-1-r.Int64N(3), axis/2-1-r.Int64N(3)
		}
		width, height := 1+r.Int64N(6), 1+r.Int64N(4)
		var cells []Key
		for x := range width {
			for y := range height {
				cells = append(cells, interleave(uint64(column+x), uint64(row+y)))
			}
		}
		slices.Sort(cells)
		var runs []Range
		for _, k := range cells {
			if n := len(runs); n > 0 && runs[n-1].Hi == k {
				runs[n-1].Hi++
			} else {
				runs = append(runs, Range{k, k + 1})
			}
		}
		a, b := interleave(uint64(column), uint64(row)).Point(),
			interleave(uint64(column+width-1), uint64(row+height-1)).Point()
		limit := 1 + r.IntN(8)
		wantOptimal(t, runs, limit, Box{a.Lat, a.Lng, b.Lat, b.Lng}.Cover(nil, limit))
	}
}

// A grid gives the cells that its rows have, whatever their columns are.
func TestGrid(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		g := grid{bits: 3 + r.IntN(4)}
		columns := int64(1) << g.bits
		g.first = r.Int64N(columns)
		g.count = int(1 + r.Int64N(min(columns-g.first, maxRows)))
		var want []Key
		for i := range g.count {
			lo := r.Int64N(2*columns) - columns/2
			g.rows[i] = span{lo, min(lo+r.Int64N(columns+2), 2*columns-1)}
			if lo >= columns || r.IntN(5) == 0 {
				g.rows[i] = span{0, -1}
			}
			for x := range columns {
				if s := g.rows[i]; s.lo <= x && x <= s.hi || s.lo <= x+columns && x+columns <= s.hi ||
					s.lo <= x-columns && x-columns <= s.hi {
					want = append(want, interleave(uint64(x), uint64(g.first)+uint64(i))<<(2*(axisBits-g.bits)))
				}
			}
		}
		slices.Sort(want)
		var got []Key
		for _, r := range g.run(nil, 1<<20) {
			for k := r.Lo; k < r.Hi; k += 1 << (2 * (axisBits - g.bits)) {
				got = append(got, k)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d bits, rows %v: %v, not %v", g.bits, g.rows[:g.count], got, want)
		}
	}
}
