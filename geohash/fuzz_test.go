package geohash_test

import (
	"math"
	"strings"
	"testing"

	. "github.com/docmodel/docmodel/geohash"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "ezs42", "EZS42", "u4pruydqqvj8", "0", "zzzzzzzzzzzz", "a", "ilo", "0123456789bcd", "é", "\x00", "ezs42ezs42é",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Parse(s)
		valid := len(s) >= 1 && len(s) <= MaxChars &&
			strings.Trim(s, "0123456789bcdefghjkmnpqrstuvwxyzBCDEFGHJKMNPQRSTUVWXYZ") == ""
		switch {
		case valid != (err == nil), err != nil && (c != Cell{} || !is[*SyntaxError](err)):
			t.Fatalf("%q: %v, %v", s, c, err)
		case err != nil:
			return
		}
		if c.String() != strings.ToLower(s) || int(c.Bits) != 5*len(s) {
			t.Fatalf("%q is %v of %d bits", s, c, c.Bits)
		}
		text, err := AppendEncode(nil, c.Center(), len(s))
		if err != nil || string(text) != c.String() {
			t.Fatalf("the centre of %q is in %s, %v", s, text, err)
		}
	})
}

func FuzzEncode(f *testing.F) {
	for _, p := range []Point{
		{0, 0}, {90, 180}, {-90, -180}, {42.605, -5.603}, {math.NaN(), 0}, {0, math.Inf(1)},
		{math.Nextafter(45, 0), math.Nextafter(-90, 0)},
	} {
		f.Add(p.Lat, p.Lng)
	}
	f.Fuzz(func(t *testing.T, lat, lng float64) {
		p := Point{lat, lng}
		k, err := Encode(p)
		text, err2 := AppendEncode(nil, p, MaxChars)
		if valid := math.Abs(lat) <= 90 && math.Abs(lng) <= 180; valid != (err == nil) || valid != (err2 == nil) {
			t.Fatalf("%v: %v, %v", p, err, err2)
		}
		if err != nil {
			if n := p.Normalize(); !math.IsNaN(n.Lat) && !math.IsNaN(n.Lng) && n.Validate() != nil {
				t.Fatalf("%v is normalized to %v", p, n)
			}
			return
		}
		if want := bisect(p); k != want || string(text) != want.String() {
			t.Fatalf("%v: %s and %s, not %s", p, k, text, want)
		}
		if got, err := Encode(k.Point()); err != nil || got != k || p.Normalize() != p {
			t.Fatalf("%v: %s comes back as %s, %v", p, k, got, err)
		}
		for bits := range MaxBits + 1 {
			if c := k.Cell(bits); !c.Range().Contains(k) || !c.Box().Contains(p) {
				t.Fatalf("%v isn't in %v", p, c.Box())
			}
		}
	})
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
