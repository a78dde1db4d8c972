package geohash_test

import (
	"math"
	"slices"
	"testing"

	. "github.com/docmodel/docmodel/geohash"
)

// A cover holds every point of its circle, in few ranges, sorted and disjoint.
func TestCircleCover(t *testing.T) {
	r := newPoints(11)
	var dst []Range
	sampled, inside, close := 0, 0, 0
	for range scale(3000, 250) {
		c, at := r.circle()
		limit := r.limit()
		dst = c.Cover(dst[:0], limit)
		wantRanges(t, c, dst, limit)
		for range 20 {
			p := r.around(c, at)
			sampled++
			if math.Abs(Distance(c.Center, p)-c.Meters) <= 1 {
				close++
			}
			if !c.Contains(p) {
				continue
			}
			inside++
			if !holds(dst, bisect(p)) {
				t.Fatalf("%v.Cover(%d) misses %v, %v from the center: %v", c, limit, p, Distance(c.Center, p), dst)
			}
		}
	}
	t.Logf("%d points, %d of them in their circles, %d within a metre of the rim", sampled, inside, close)
}

// circle makes one of any size, around any kind of point, and a point to look at: often one on the rim, which can be
// the corner of a cell, a pole or the antimeridian.
func (r points) circle() (c Circle, at Point) {
	c.Center, at = r.next(), r.next()
	switch r.IntN(8) {
	case 0:
		c.Meters = 0
	case 1:
		c.Meters = math.Pi * EarthRadius * r.Float64() * 1.1
	case 2: // to a pole or next to it
		at = Point{r.pick(-90, 90), at.Lng}
		c.Meters = r.aside(Distance(c.Center, at))
	case 3, 4: // to another point, from anywhere or near by
		if r.IntN(2) == 0 {
			c.Center = walk(at, 2*math.Pi*r.Float64(), math.Pow(10, 8*r.Float64()-1))
		}
		c.Meters = r.aside(Distance(c.Center, at))
	case 5: // all but a little
		c.Meters = math.Pi*EarthRadius - math.Pow(10, 7*r.Float64()-3)
	default:
		c.Meters = math.Pow(10, 10*r.Float64()-3)
	}
	return c, at
}

// aside returns a number of metres, or one that is up to a metre off, or to which a micrometre is just missing.
func (r points) aside(meters float64) float64 {
	switch r.IntN(5) {
	case 0:
		return meters
	case 1:
		return math.Nextafter(meters, 1e9)
	case 2:
		return max(0, math.Nextafter(meters, -1))
	case 3:
		return max(0, meters-1e-6*(1+1e-8*r.NormFloat64()))
	default:
		return max(0, meters+r.pick(-1, 1)*math.Pow(10, -9*r.Float64()))
	}
}

func (r points) limit() int {
	if r.IntN(4) == 0 {
		return r.IntN(200)
	}
	return 1 + r.IntN(16)
}

// around returns a point in a circle, or at its rim, or at most a metre from there; at times the given one, or one next
// to it.
func (r points) around(c Circle, at Point) Point {
	switch r.IntN(8) {
	case 0:
		return at
	case 1:
		return inside(Point{r.near(at.Lat), r.near(at.Lng)})
	}
	bearing := 2 * math.Pi * r.Float64()
	if r.IntN(2) == 0 { // to the east, as far as it goes, or another quarter
		bearing = math.Pi / 2 * float64(r.IntN(4))
	}
	reach := min(c.Meters, math.Pi*EarthRadius)
	switch r.IntN(4) {
	case 0:
		reach *= math.Sqrt(r.Float64())
	case 1:
		reach = r.aside(reach)
	case 2:
		reach *= 1 - math.Pow(10, -16*r.Float64())
	}
	p := walk(c.Center, bearing, reach)
	switch r.IntN(8) {
	case 0: // the place where the rim runs north
		if s := math.Sin(reach/EarthRadius) / math.Cos(c.Center.Lat*math.Pi/180); s < 1 && reach/EarthRadius < math.Pi/2 {
			lat := math.Asin(max(-1, min(1, math.Sin(c.Center.Lat*math.Pi/180)/math.Cos(reach/EarthRadius))))
			p = Point{lat * 180 / math.Pi, c.Center.Lng + r.pick(-1, 1)*math.Asin(s)*180/math.Pi}.Normalize()
		}
	case 1: // the edge of a cell near by
		b := bisect(inside(p)).Cell(r.IntN(MaxBits + 1)).Box()
		p = Point{r.pick(p.Lat, r.near(b.South), r.near(b.North)), r.pick(p.Lng, r.near(b.West), r.near(b.East))}
	case 2:
		p = Point{r.near(p.Lat), r.near(p.Lng)}
	}
	return inside(p)
}

// walk goes so many metres along a great circle.
func walk(from Point, bearing, meters float64) Point {
	lat, lng, d := from.Lat*math.Pi/180, from.Lng*math.Pi/180, meters/EarthRadius
	to := math.Asin(max(-1, min(1, math.Sin(lat)*math.Cos(d)+math.Cos(lat)*math.Sin(d)*math.Cos(bearing))))
	turn := math.Atan2(math.Sin(bearing)*math.Sin(d)*math.Cos(lat), math.Cos(d)-math.Sin(lat)*math.Sin(to))
	return Point{to * 180 / math.Pi, (lng + turn) * 180 / math.Pi}.Normalize()
}

// wantRanges checks what holds for every cover.
func wantRanges(t *testing.T, of any, ranges []Range, limit int) {
	t.Helper()
	if len(ranges) > max(limit, 1) {
		t.Fatalf("%v: %d ranges, at most %d were asked for", of, len(ranges), limit)
	}
	for i, r := range ranges {
		if r.Lo < 0 || r.Lo >= r.Hi || r.Hi > 1<<MaxBits || i > 0 && r.Lo <= ranges[i-1].Hi {
			t.Fatalf("%v: %v isn't sorted, disjoint and apart", of, ranges)
		}
	}
}

// holds reports whether a key is in one of sorted ranges.
func holds(ranges []Range, k Key) bool {
	i, found := slices.BinarySearchFunc(ranges, k, func(r Range, k Key) int {
		switch {
		case r.Hi <= k:
			return -1
		case r.Lo > k:
			return 1
		}
		return 0
	})
	return found && ranges[i].Contains(k)
}

// keys counts what ranges hold.
func keys(ranges []Range) (n Key) {
	for _, r := range ranges {
		n += r.Hi - r.Lo
	}
	return n
}

func TestCircleCoverEnds(t *testing.T) {
	world := []Range{{0, 1 << MaxBits}}
	for _, tt := range []struct {
		reason string
		c      Circle
		want   []Range
	}{
		{"NaN metres", Circle{Point{1, 2}, math.NaN()}, nil},
		{"negative metres", Circle{Point{1, 2}, -1}, nil},
		{"no center", Circle{Point{math.NaN(), 2}, 5}, nil},
		{"a center out of range", Circle{Point{1, 181}, 5}, nil},
		{"no center, infinite", Circle{Point{91, 0}, math.Inf(1)}, nil},
		{"half around the Earth", Circle{Point{12, 34}, math.Pi * EarthRadius}, world},
		{"more than that", Circle{Point{12, 34}, 1e9}, world},
		{"infinite", Circle{Point{90, 34}, math.Inf(1)}, world},
	} {
		if got := tt.c.Cover(nil, 8); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, not %v", tt.reason, got, tt.want)
		}
		if (tt.c.Validate() == nil) != (tt.want != nil) {
			t.Errorf("%s: %v", tt.reason, tt.c.Validate())
		}
		if got := tt.c.Contains(Point{-12, 146.5}); got != (tt.want != nil) {
			t.Errorf("%s: contains a point: %t", tt.reason, got)
		}
	}
	if c := (Circle{Point{}, math.Inf(1)}); c.Contains(Point{91, 0}) || c.Contains(Point{0, math.NaN()}) {
		t.Error("a circle contains what is no point")
	}
	// What a great circle leaves out around the antipode is left out.
	for _, hole := range []float64{1e6, 3e6} {
		c := Circle{Point{12, 34}, math.Pi*EarthRadius - hole}
		if got := c.Cover(nil, 200); keys(got) == 1<<MaxBits || c.Contains(Point{-12, -146}) ||
			holds(got, bisect(Point{-12, -146})) {
			t.Errorf("all but %v m: %v", hole, got)
		}
	}
	// Nothing is asked for but the center: the cells that meet there.
	for _, tt := range []struct {
		reason string
		p      Point
		most   Key
	}{
		{"inside a cell", mustParse("ezs42ezs42ez").Center(), 1},
		{"on a corner", Point{0, 0}, 4},
		{"on the antimeridian", Point{12.34567, 180}, 2},
	} {
		if got := (Circle{Center: tt.p}).Cover(nil, 8); keys(got) > tt.most || !holds(got, bisect(tt.p)) {
			t.Errorf("%s: %v", tt.reason, got)
		}
	}
	// A pole is all of its longitudes.
	for _, lat := range []float64{90, -90} {
		got := Circle{Center: Point{lat, 12}}.Cover(nil, 8)
		for lng := -180.0; lng <= 180; lng += 0.37 {
			if !holds(got, bisect(Point{lat, lng})) {
				t.Fatalf("the cover of the pole %v misses its longitude %v", lat, lng)
			}
		}
	}
	for limit := -3; limit < 2; limit++ {
		if got := (Circle{Point{}, 1000}).Cover(nil, limit); len(got) != 1 {
			t.Errorf("at most %d: %v", limit, got)
		}
	}
}

// dst keeps what it holds, and is enough if it has room.
func TestCoverAppends(t *testing.T) {
	kept := []Range{{1, 2}, {3, 4}}
	for limit := 1; limit < 40; limit++ {
		dst := append(make([]Range, 0, 2+limit), kept...)
		for name, cover := range map[string]func([]Range, int) []Range{
			"circle": Circle{Point{48.8566, 2.3522}, 10_000}.Cover, "box": Box{48, 2, 49, 4.5}.Cover,
		} {
			got := cover(dst, limit)
			if !slices.Equal(got[:2], kept) || &got[0] != &dst[0] || !slices.Equal(got[2:], cover(nil, limit)) {
				t.Fatalf("%s of %d: %v", name, limit, got)
			}
		}
	}
}

// The over-scan that the package promises.
func TestCircleOverScan(t *testing.T) {
	for _, tt := range []struct {
		ranges int
		most   float64
	}{{1, 60}, {4, 2.05}, {8, 1.46}, {16, 1.22}, {32, 1.11}} {
		r := newPoints(12)
		sum, n := 0.0, max(2000, scale(2000, 10))
		for range n {
			c := Circle{r.anywhere(), math.Pow(10, 1+5*r.Float64())}
			for math.Abs(c.Center.Lat) >= 60 {
				c.Center = r.anywhere()
			}
			sum += area(c.Cover(nil, tt.ranges)) / (4 * math.Pi * math.Pow(math.Sin(c.Meters/EarthRadius/2), 2))
		}
		if mean := sum / float64(n); mean > tt.most && tt.ranges > 1 {
			t.Errorf("%d ranges: %.3f of the circle's area, not %.2f", tt.ranges, mean, tt.most)
		} else {
			t.Logf("%d ranges: %.3f of the circle's area", tt.ranges, mean)
		}
	}
}

// area is that of ranges on the unit sphere.
func area(ranges []Range) (sum float64) {
	for _, r := range ranges {
		for c := range r.Cells() {
			b := c.Box()
			sum += (b.East - b.West) * math.Pi / 180 * (math.Sin(b.North*math.Pi/180) - math.Sin(b.South*math.Pi/180))
		}
	}
	return sum
}

// FuzzCoverCircle samples points by geodesy: in the circle, at its rim, and next to it.
func FuzzCoverCircle(f *testing.F) {
	for _, c := range []Circle{
		{Point{48.8566, 2.3522}, 1000}, {Point{0, 0}, 0}, {Point{90, 0}, 1}, {Point{-89.999, 180}, 200}, {Point{0, 180}, 1e6},
		{Point{45, -180}, 1.5e7}, {Point{10, 20}, 2.0015e7}, {Point{0, 0}, 1e7}, {Point{89.9999999, 5}, 0.001},
	} {
		f.Add(c.Center.Lat, c.Center.Lng, c.Meters, uint8(8), uint64(1))
	}
	f.Fuzz(func(t *testing.T, lat, lng, meters float64, limit uint8, seed uint64) {
		c := Circle{Point{lat, lng}, meters}
		cover := c.Cover(nil, int(limit))
		wantRanges(t, c, cover, int(limit))
		if c.Validate() != nil {
			if len(cover) > 0 {
				t.Fatalf("%v has the cover %v", c, cover)
			}
			return
		}
		r := newPoints(seed)
		for i := range 50 {
			p := c.Center
			if i > 0 {
				p = r.around(c, r.next())
			}
			if c.Contains(p) && !holds(cover, bisect(p)) {
				t.Fatalf("%v.Cover(%d) misses %v: %v", c, limit, p, cover)
			}
		}
	})
}
