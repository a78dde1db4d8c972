package geohash_test

import (
	"math"
	"testing"

	. "github.com/docmodel/docmodel/geohash"
)

func TestCells(t *testing.T) {
	r := newPoints(5)
	for range scale(20_000, 20) {
		k, bits := r.key(), r.IntN(MaxBits+1)
		c := k.Cell(bits)
		if int(c.Bits) != bits || !c.Range().Contains(k) || c.Key != c.Range().Lo || !c.Range().Contains(k) {
			t.Fatalf("cell %v of %s", c, k)
		}
		rng := c.Range()
		if rng.Hi-rng.Lo != 1<<(MaxBits-bits) || !c.Range().Contains(rng.Lo) || !c.Range().Contains(rng.Hi-1) ||
			c.Range().Contains(rng.Lo-1) || c.Range().Contains(rng.Hi) {
			t.Fatalf("range %v of %v", rng, c)
		}
		if got := c.Box(); got != bisectBack(c) {
			t.Fatalf("box of %v is %v, not %v", c, got, bisectBack(c))
		}
		if got, err := Encode(c.Center()); err != nil || !c.Range().Contains(got) ||
			bits < MaxBits-2 && got.Cell(bits+2) == c.Key.Cell(bits+2) {
			t.Fatalf("centre %v of %v", c.Center(), c)
		}
		up := r.IntN(MaxBits + 1)
		if p := c.Key.Cell(min(up, bits)); int(p.Bits) != min(up, bits) || !p.Range().Contains(k) ||
			p != k.Cell(min(up, bits)) {
			t.Fatalf("parent %d of %v is %v", up, c, p)
		}
		// A cell made by hand, with bits that are not its own.
		dirty := Cell{Key: k, Bits: c.Bits}
		cells, ok := dirty.Neighbors()
		wantCells, wantOK := c.Neighbors()
		if dirty.Box() != c.Box() || dirty.Range() != rng || dirty.String() != c.String() || dirty.Key.Cell(bits) != c ||
			cells != wantCells || ok != wantOK ||
			dirty.Range().Contains(rng.Hi) || !dirty.Range().Contains(rng.Lo) || dirty.Diameter() != c.Diameter() {
			t.Fatalf("%v isn't taken for %v", dirty, c)
		}
	}
}

// Key.Point is within the cell, in the middle, and comes back.
func TestKeyPoint(t *testing.T) {
	r := newPoints(6)
	for range scale(50_000, 20) {
		k := r.key()
		p := k.Point()
		b := bisectBack(k.Cell(MaxBits))
		if got, err := Encode(p); err != nil || got != k || p != (Point{(b.South + b.North) / 2, (b.West + b.East) / 2}) ||
			p != k.Cell(MaxBits).Center() {
			t.Fatalf("%s at %v is %s, %v", k, p, got, err)
		}
	}
}

func TestCellOfOddBits(t *testing.T) {
	k := mustParse("ezs42").Key
	world := Cell{}
	for _, tt := range []struct {
		reason    string
		got, want any
	}{
		{"less than no bits", k.Cell(-5), world},
		{"no bits", k.Cell(0), world},
		{"too many bits", k.Cell(100), k.Cell(60)},
		{"the zero cell is the world", world.Box(), Box{-90, -180, 90, 180}},
		{"whose range is everything", world.Range(), Range{0, 1 << 60}},
		{"whose middle is", world.Center(), Point{}},
		{"the first bit is the hemisphere", k.Cell(1).Box(), Box{-90, -180, 90, 0}},
		{"the second north or south", k.Cell(2).Box(), Box{0, -180, 90, 0}},
		{"a published box", mustParse("ezs42").Box(), Box{42.583_007_812_5, -5.625, 42.626_953_125, -5.581_054_687_5}},
		{"more bits than there are", Cell{k, 255}.Box(), Cell{k, 60}.Box()},
		{"more bits than there are", Cell{k, 255}.Range(), Range{k, k + 1}},
		{"more bits than there are", Cell{k, 255}.Range().Contains(k), true},
		{"more bits than there are", Cell{k, 255}.Range().Contains(k + 1), false},
		{"a key that is none is in no cell", world.Range().Contains(-1), false},
		{"a key that is none is in no cell", world.Range().Contains(1 << 60), false},
		{"a key that is none is in no cell", Cell{-1, 60}.Range().Contains(-1), false},
		{"a key that is none is cut to 60 bits", Key(-1).Cell(60).Key, Key(1<<60 - 1)},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %v, not %v", tt.reason, tt.got, tt.want)
		}
	}
}

func TestCommonCell(t *testing.T) {
	r := newPoints(7)
	for range 20_000 {
		a := r.key()
		b := a ^ Key(r.Int64N(1<<r.IntN(MaxBits+1)))
		c := CommonCell(a, b)
		if !c.Range().Contains(a) || !c.Range().Contains(b) || c != CommonCell(b, a) || a == b && int(c.Bits) != MaxBits {
			t.Fatalf("%s and %s have %v", a, b, c)
		}
		if a != b {
			if smaller := a.Cell(int(c.Bits) + 1); smaller.Range().Contains(b) {
				t.Fatalf("%s and %s have %v, and %v too", a, b, c, smaller)
			}
		}
	}
	if got := CommonCell(mustParse("ezs42").Key, mustParse("ezs4z").Key); got.String() != "ezs4" {
		t.Error(got)
	}
	if got := CommonCell(-1, 1<<60-1); got != Key(-1).Cell(60) {
		t.Error(got)
	}
}

// No two points of a cell are farther apart than its diameter, and some are that far.
func TestDiameter(t *testing.T) {
	r := newPoints(8)
	for i := range scale(3000, 20) {
		c := r.key().Cell(i % (MaxBits + 1))
		b, d := c.Box(), c.Diameter()
		most := 0.0
		for range 30 {
			most = max(most, Distance(r.within(b), r.within(b)))
		}
		for _, lat := range []float64{b.South, b.North} {
			for _, lng := range []float64{b.West, min(b.East, b.West+180)} {
				most = max(most, Distance(Point{b.South, b.West}, Point{lat, lng}),
					Distance(Point{b.North, b.West}, Point{lat, lng}))
			}
		}
		if most > d*(1+1e-12) || most < d*(1-1e-12) {
			t.Fatalf("%v of %d bits: diameter %v, but points %v apart", b, c.Bits, d, most)
		}
	}
}

// within returns a point of a box that doesn't cross the antimeridian, often one on its edges.
func (r points) within(b Box) Point {
	between := func(low, high float64) float64 {
		switch r.IntN(4) {
		case 0:
			return low
		case 1:
			return high
		}
		return math.Min(high, low+(high-low)*r.Float64())
	}
	return Point{between(b.South, b.North), between(b.West, b.East)}
}

// Neighbours are what decoding, shifting and encoding gives.
func TestNeighbors(t *testing.T) {
	r := newPoints(9)
	steps := [8][2]float64{{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}}
	for i := range scale(20_000, 20) {
		k := r.key()
		if i%4 == 0 { // at a pole or the antimeridian
			k, _ = Encode(Point{r.pick(-90, 90, 0), r.pick(-180, 180, 0)})
		}
		c := k.Cell(r.IntN(MaxBits + 1))
		b, center := c.Box(), c.Center()
		cells, ok := c.Neighbors()
		for d, step := range steps {
			p := Point{center.Lat + step[0]*(b.North-b.South), center.Lng + step[1]*(b.East-b.West)}
			want, there := Cell{}, math.Abs(p.Lat) < 90
			if there {
				want = bisect(p.Normalize()).Cell(int(c.Bits))
			}
			if got := cells[d]; got != want || ok>>d&1 == 1 != there {
				t.Fatalf("%v of %v of %d bits is %v, %t, not %v, %t", d, b, c.Bits, got, ok>>d&1 == 1, want, there)
			}
		}
	}
	for _, tt := range []struct {
		d    int
		want string
	}{
		{North, "ezs48"}, {NorthEast, "ezs49"}, {East, "ezs43"}, {SouthEast, "ezs41"}, {South, "ezs40"}, {SouthWest, "ezefp"},
		{West, "ezefr"}, {NorthWest, "ezefx"},
	} {
		if cells, ok := mustParse("ezs42").Neighbors(); ok != 0xff || cells[tt.d].String() != tt.want {
			t.Errorf("%v of ezs42 is %v, not %s", tt.d, cells[tt.d], tt.want)
		}
	}
}
