package geohash_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	. "github.com/docmodel/docmodel/geohash"
)

// A cover holds every point of its box.
func TestBoxCover(t *testing.T) {
	r := newPoints(13)
	var dst []Range
	sampled, inside := 0, 0
	for range scale(6000, 100) {
		b := r.box()
		limit := r.limit()
		dst = b.Cover(dst[:0], limit)
		wantRanges(t, b, dst, limit)
		for range 20 {
			p := r.next()
			if r.IntN(4) > 0 {
				p = r.inBox(b)
			}
			sampled++
			if !b.Contains(p) {
				continue
			}
			inside++
			if !holds(dst, bisect(p)) {
				t.Fatalf("%v.Cover(%d) misses %v: %v", b, limit, p, dst)
			}
		}
	}
	t.Logf("%d points, %d of them in their boxes", sampled, inside)
}

// box makes one of any size, often degenerate, or across the antimeridian.
func (r points) box() Box {
	a, b := r.next(), r.next()
	switch r.IntN(6) {
	case 0:
		b = a
	case 1:
		b.Lat = a.Lat
	case 2:
		b.Lng = a.Lng
	case 3:
		b = inside(Point{a.Lat + math.Pow(10, 3-12*r.Float64()), a.Lng + math.Pow(10, 3-12*r.Float64())})
	}
	if r.IntN(4) == 0 {
		cell := r.key().Cell(r.IntN(MaxBits + 1)).Box()
		a, b = Point{cell.South, cell.West}, Point{cell.North, cell.East}
	}
	return Box{min(a.Lat, b.Lat), a.Lng, max(a.Lat, b.Lat), b.Lng}
}

// inBox returns a point in a box, or next to its edges.
func (r points) inBox(b Box) Point {
	width := b.East - b.West
	if width < 0 {
		width += 360
	}
	p := Point{b.South + (b.North-b.South)*r.Float64(), b.West + width*r.Float64()}
	if p.Lng > 180 {
		p.Lng -= 360
	}
	switch r.IntN(4) {
	case 0:
		p.Lat = r.near(r.pick(b.South, b.North))
	case 1:
		p.Lng = r.near(r.pick(b.West, b.East, 180, -180))
	case 2:
		p = Point{r.near(r.pick(b.South, b.North)), r.near(r.pick(b.West, b.East))}
	}
	return inside(p)
}

func TestBoxContains(t *testing.T) {
	for _, tt := range []struct {
		reason string
		b      Box
		p      Point
		want   bool
	}{
		{"inside", Box{1, 2, 3, 4}, Point{2, 3}, true},
		{"on a corner", Box{1, 2, 3, 4}, Point{1, 2}, true},
		{"on the other corner", Box{1, 2, 3, 4}, Point{3, 4}, true},
		{"south", Box{1, 2, 3, 4}, Point{0.9, 3}, false},
		{"north", Box{1, 2, 3, 4}, Point{3.1, 3}, false},
		{"west", Box{1, 2, 3, 4}, Point{2, 1.9}, false},
		{"east", Box{1, 2, 3, 4}, Point{2, 4.1}, false},
		{"a box that is a point", Box{1, 2, 1, 2}, Point{1, 2}, true},
		{"across the antimeridian, west of it", Box{1, 170, 3, -170}, Point{2, 175}, true},
		{"across the antimeridian, east of it", Box{1, 170, 3, -170}, Point{2, -175}, true},
		{"across the antimeridian, on it", Box{1, 170, 3, -170}, Point{2, 180}, true},
		{"across the antimeridian, on it, written otherwise", Box{1, 170, 3, -170}, Point{2, -180}, true},
		{"across the antimeridian, on the other side of the Earth", Box{1, 170, 3, -170}, Point{2, 0}, false},
		{"up to 180", Box{1, 170, 3, 180}, Point{2, -180}, true},
		{"from -180", Box{1, -180, 3, -170}, Point{2, 180}, true},
		{"not up to 180", Box{1, 170, 3, 179}, Point{2, -180}, false},
		{"the meridian of 180 alone", Box{1, 180, 3, 180}, Point{2, -180}, true},
		{"the same, from one side", Box{1, 180, 3, -180}, Point{2, -180}, true},
		{"the world", Box{-90, -180, 90, 180}, Point{90, 180}, true},
		{"no point", Box{-90, -180, 90, 180}, Point{math.NaN(), 0}, false},
		{"no point", Box{-90, -180, 90, 180}, Point{0, 181}, false},
		{"south of north", Box{3, 2, 1, 4}, Point{2, 3}, false},
		{"NaN", Box{1, math.NaN(), 3, 4}, Point{2, 3}, false},
		{"out of range", Box{1, 2, 91, 4}, Point{2, 3}, false},
	} {
		if got := tt.b.Contains(tt.p); got != tt.want {
			t.Errorf("%s: %v in %v: %t", tt.reason, tt.p, tt.b, got)
		}
		if cover := tt.b.Cover(nil, 8); tt.want && !holds(cover, bisect(tt.p)) {
			t.Errorf("%s: %v is not in %v", tt.reason, tt.p, cover)
		}
	}
}

func TestBoxValidate(t *testing.T) {
	for _, tt := range []struct {
		b     Box
		field string
	}{
		{Box{-91, 2, 3, 4}, "South"}, {Box{1, -181, 3, 4}, "West"}, {Box{1, 2, math.Inf(1), 4}, "North"},
		{Box{1, 2, 3, math.NaN()}, "East"},
		{Box{3, 2, 1, 4}, "South"},
	} {
		var e *CoordinateError
		if err := tt.b.Validate(); !is[*CoordinateError](err) || !errors.As(err, &e) || e.Field != tt.field {
			t.Errorf("%v: %v", tt.b, err)
		}
		if got := tt.b.Cover(nil, 8); got != nil {
			t.Errorf("%v: %v", tt.b, got)
		}
	}
	if err := (Box{1, 4, 3, 2}).Validate(); err != nil {
		t.Error(err)
	}
	if err := (Circle{Point{1, 2}, -3}).Validate(); !is[*CoordinateError](err) {
		t.Error(err)
	}
}

func TestBoxCoverExact(t *testing.T) {
	center := mustParse("ezs42ezs42ez").Center()
	for _, tt := range []struct {
		reason string
		b      Box
		want   []Range
	}{
		{"the world", Box{-90, -180, 90, 180}, []Range{{0, 1 << MaxBits}}},
		{"the world from Greenwich", Box{-90, 0, 90, math.Nextafter(0, -1)}, []Range{{0, 1 << MaxBits}}},
		{
			reason: "a point is its cell",
			b:      Box{center.Lat, center.Lng, center.Lat, center.Lng},
			want:   []Range{mustParse("ezs42ezs42ez").Range()},
		},
	} {
		if got := tt.b.Cover(nil, 8); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, not %v", tt.reason, got, tt.want)
		}
	}
}

func FuzzCoverBox(f *testing.F) {
	for _, b := range []Box{
		{1, 2, 3, 4}, {-90, -180, 90, 180}, {0, 0, 0, 0}, {1, 170, 3, -170}, {1, 180, 2, 180}, {1, -180, 2, -180},
		{89, 0, 90, 180}, {3, 2, 1, 4},
	} {
		f.Add(b.South, b.West, b.North, b.East, uint8(8), uint64(1))
	}
	f.Fuzz(func(t *testing.T, south, west, north, east float64, limit uint8, seed uint64) {
		b := Box{south, west, north, east}
		cover := b.Cover(nil, int(limit))
		wantRanges(t, b, cover, int(limit))
		if b.Validate() != nil {
			if len(cover) > 0 {
				t.Fatalf("%v has the cover %v", b, cover)
			}
			return
		}
		r := newPoints(seed)
		for _, p := range []Point{{south, west}, {south, east}, {north, west}, {north, east}} {
			if !b.Contains(p) || !holds(cover, bisect(p)) {
				t.Fatalf("%v.Cover(%d) misses its corner %v: %v", b, limit, p, cover)
			}
		}
		for range 50 {
			if p := r.inBox(b); b.Contains(p) && !holds(cover, bisect(p)) {
				t.Fatalf("%v.Cover(%d) misses %v: %v", b, limit, p, cover)
			}
		}
	})
}
