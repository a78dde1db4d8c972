package geohash_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/docmodel/docmodel/geohash"
)

// A range is made up by its cells, and by no fewer.
func TestRangeCells(t *testing.T) {
	r := newPoints(14)
	for range 5000 {
		a, b := r.key(), r.key()
		if r.IntN(2) == 0 {
			b = a ^ Key(r.Int64N(1<<r.IntN(MaxBits)))
		}
		rng := Range{min(a, b), max(a, b)}
		if r.IntN(8) == 0 {
			rng.Hi = 1 << MaxBits
		}
		next, count := rng.Lo, 0
		var last Cell
		for c := range rng.Cells() {
			got := c.Range()
			if got.Lo != next || c != got.Lo.Cell(int(c.Bits)) {
				t.Fatalf("%v: %v comes after %v", rng, c, next)
			}
			if count > 0 && c.Bits == last.Bits && c.Key.Cell(int(c.Bits)-1) == last.Key.Cell(int(c.Bits)-1) {
				t.Fatalf("%v: %v and %v are one cell", rng, last, c)
			}
			last, next, count = c, got.Hi, count+1
		}
		if next != rng.Hi || count > 118 {
			t.Fatalf("%v: %d cells up to %v", rng, count, next)
		}
	}
	for _, tt := range []struct {
		reason string
		r      Range
		want   []Cell
	}{
		{"nothing", Range{}, nil},
		{"nothing, from somewhere", Range{5, 5}, nil},
		{"less than nothing", Range{5, 4}, nil},
		{"the world", Range{0, 1 << 60}, []Cell{{}}},
		{"more than the world", Range{-5, 1<<62 + 5}, []Cell{{}}},
		{"what is no key", Range{1 << 60, 1 << 61}, nil},
		{"one key", Range{5, 6}, []Cell{{5, 60}}},
		{"a published cell", mustParse("ezs42").Range(), []Cell{mustParse("ezs42")}},
	} {
		if got := slices.Collect(tt.r.Cells()); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, not %v", tt.reason, got, tt.want)
		}
	}
	most := slices.Collect(Range{1, 1<<60 - 1}.Cells())
	if len(most) != 118 {
		t.Errorf("%d cells", len(most))
	}
	for range (Range{1, 1 << 59}).Cells() {
		break
	}
}

// Subtract gives what sets give.
func TestSubtract(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 1))
	const keys = 40
	some := func() (out []Range, set [keys]bool) {
		for lo := Key(r.IntN(4)); lo < keys-1; {
			hi := min(lo+1+Key(r.IntN(8)), keys)
			if r.IntN(8) == 0 {
				hi = lo // empty
			}
			out = append(out, Range{lo, hi})
			for k := lo; k < hi; k++ {
				set[k] = true
			}
			lo = hi + Key(r.IntN(6)) // next to the one before, at times
			if r.IntN(10) == 0 {
				break
			}
		}
		return out, set
	}
	dst := make([]Range, 0, 100)
	for range 20_000 {
		a, inA := some()
		b, inB := some()
		keptA, keptB := slices.Clone(a), slices.Clone(b)
		got := Subtract(append(dst, Range{-2, -1}), a, b)
		if got[0] != (Range{-2, -1}) || len(got)-1 > len(a)+len(b) || !slices.Equal(a, keptA) || !slices.Equal(b, keptB) {
			t.Fatalf("%v less %v is %v", a, b, got)
		}
		for k := range Key(keys) {
			if want := inA[k] && !inB[k]; holds(got, k) != want {
				t.Fatalf("%v less %v is %v: %d in it: %t", a, b, got, k, !want)
			}
		}
		for i, r := range got {
			if r.Lo >= r.Hi || i > 0 && r.Lo < got[i-1].Hi {
				t.Fatalf("%v less %v is %v", a, b, got)
			}
		}
	}
}

// Rings don't overlap, and make up the whole.
func TestSubtractRings(t *testing.T) {
	center := Point{48.8566, 2.3522}
	var seen []Range
	for _, meters := range []float64{100, 200, 400, 800} {
		cover := Circle{center, meters}.Cover(nil, 8)
		ring := Subtract(nil, cover, seen)
		if len(ring) > len(cover)+len(seen) || keys(Subtract(nil, ring, seen)) != keys(ring) {
			t.Errorf("%v metres: %v has keys of %v", meters, ring, seen)
		}
		seen = slices.SortedFunc(slices.Values(slices.Concat(seen, ring)), func(a, b Range) int {
			return cmp.Compare(a.Lo, b.Lo)
		})
		if rest := Subtract(nil, cover, seen); len(rest) > 0 {
			t.Errorf("%v metres: %v are left out", meters, rest)
		}
	}
}
