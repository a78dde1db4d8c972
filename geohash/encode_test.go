package geohash_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	. "github.com/docmodel/docmodel/geohash"
)

// Keys are those of bisection, bit for bit.
func TestEncodeBisects(t *testing.T) {
	r := newPoints(1)
	var text []byte
	n, close := scale(200_000, 100), 0
	for range n {
		p := r.next()
		want := bisect(p)
		if b := want.Cell(MaxBits).Box(); p.Lat-b.South < 1e-13 || b.North-p.Lat < 1e-13 ||
			p.Lng-b.West < 1e-13 || b.East-p.Lng < 1e-13 {
			close++
		}
		if got, err := Encode(p); err != nil || got != want {
			t.Fatalf("Encode(%v) is %#x, %v; bisection gives %#x", p, got, err, want)
		}
		var err error
		if text, err = AppendEncode(text[:0], p, MaxChars); err != nil || string(text) != want.String() {
			t.Fatalf("AppendEncode(%v) is %s, %v, not %s", p, text, err, want)
		}
	}
	t.Logf("%d points, %d of them within 1e-13 degrees of an edge of their 60-bit cell", n, close)
}

// A cell's edges, and what is next to them, belong to where bisection puts them: at all levels.
func TestEncodeEdges(t *testing.T) {
	r := newPoints(2)
	for range scale(20_000, 20) {
		c := r.key().Cell(r.IntN(MaxBits + 1))
		b := c.Box()
		for _, lat := range []float64{b.South, b.North, (b.South + b.North) / 2} {
			for _, lng := range []float64{b.West, b.East, (b.West + b.East) / 2} {
				for _, p := range []Point{
					{lat, lng}, {math.Nextafter(lat, -100), lng}, {math.Nextafter(lat, 100), lng}, {lat, math.Nextafter(lng, -200)},
					{lat, math.Nextafter(lng, 200)},
				} {
					p = inside(p)
					if got, err := Encode(p); err != nil || got != bisect(p) {
						t.Fatalf("Encode(%v) is %#x, %v; bisection gives %#x", p, got, err, bisect(p))
					}
					within := (p.Lat >= b.South && p.Lat < b.North || p.Lat == 90 && b.North == 90) &&
						(p.Lng >= b.West && p.Lng < b.East || p.Lng == 180 && b.East == 180)
					if k, _ := Encode(p); c.Range().Contains(k) != within {
						t.Fatalf("%v in %v of %d bits: %t", p, b, c.Bits, !within)
					}
				}
			}
		}
	}
}

func TestEncodePublished(t *testing.T) {
	tests := []struct {
		reason string
		p      Point
		want   string
	}{
		{"the article on geohashes in Wikipedia", Point{42.605, -5.603}, "ezs42"},
		{"the same, its other example", Point{57.64911, 10.40744}, "u4pruydqqvj"},
		{"the manual of Redis: Palermo", Point{38.115556, 13.361389}, "sqc8b49rny"},
		{"the manual of Redis: Catania", Point{37.502669, 15.087269}, "sqdtr74hyu"},
		{"the README of ngeohash", Point{37.8324, 112.5584}, "ww8p1r4t8"},
		{"the first cell", Point{-90, -180}, "000000000000"},
		{"the last", Point{90, 180}, "zzzzzzzzzzzz"},
		{"a corner belongs to the upper cell", Point{0, 0}, "s00000000000"},
		{"and what is below it doesn't", Point{math.Nextafter(0, -1), 0}, "kpbpbpbpbpbp"},
		{"nor what is west of it", Point{0, math.Nextafter(0, -1)}, "ebpbpbpbpbpb"},
		{"a negative zero is a zero", Point{math.Copysign(0, -1), math.Copysign(0, -1)}, "s00000000000"},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			got, err := AppendEncode([]byte("at "), tt.p, len(tt.want))
			if err != nil || string(got) != "at "+tt.want {
				t.Errorf("%s, %v; want %s", got, err, tt.want)
			}
			k, err := Encode(tt.p)
			if want := mustParse(tt.want); err != nil || !want.Range().Contains(k) || k.Cell(int(want.Bits)) != want ||
				!strings.HasPrefix(k.String(), tt.want) {
				t.Errorf("%s, %v is not in %s", k, err, tt.want)
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	above := func(n float64) float64 { return math.Nextafter(n, 1000) }
	below := func(n float64) float64 { return math.Nextafter(n, -1000) }
	tests := []struct {
		reason string
		p      Point
		field  string
	}{
		{"NaN", Point{math.NaN(), 0}, "Lat"},
		{"NaN", Point{0, math.NaN()}, "Lng"},
		{"both, the first version is named", Point{math.NaN(), math.NaN()}, "Lat"},
		{"infinite", Point{math.Inf(1), 0}, "Lat"},
		{"infinite", Point{math.Inf(-1), 0}, "Lat"},
		{"infinite", Point{0, math.Inf(1)}, "Lng"},
		{"infinite", Point{0, math.Inf(-1)}, "Lng"},
		{"one step too far", Point{above(90), 0}, "Lat"},
		{"one step too far", Point{below(-90), 0}, "Lat"},
		{"one step too far", Point{0, above(180)}, "Lng"},
		{"one step too far", Point{0, below(-180)}, "Lng"},
		{"swapped", Point{112.5, 37.8}, "Lat"},
		{"next round", Point{0, 361}, "Lng"},
		{"where a mantissa would fit again", Point{720, 0}, "Lat"},
		{"huge", Point{0, -math.MaxFloat64}, "Lng"},
	}
	for _, tt := range tests {
		k, err := Encode(tt.p)
		var e *CoordinateError
		if k != 0 || !is[*CoordinateError](err) || !errors.As(err, &e) || e.Field != tt.field ||
			!strings.Contains(err.Error(), tt.field) {
			t.Errorf("%s: Encode(%v) is %d, %v", tt.reason, tt.p, k, err)
		}
		for _, chars := range []int{1, 12} {
			dst, err := AppendEncode([]byte("at"), tt.p, chars)
			if string(dst) != "at" || !is[*CoordinateError](err) {
				t.Errorf("%s: AppendEncode(%v) is %q, %v", tt.reason, tt.p, dst, err)
			}
		}
	}
	if got := (&CoordinateError{
		Field: "Lat", Value: 91, Reason: "must be within -90 to 90",
	}).Error(); got != "geohash: Lat is 91: must be within -90 to 90" {
		t.Error(got)
	}
}

func TestAppendEncodeChars(t *testing.T) {
	p := Point{57.64911, 10.40744}
	for _, spare := range []int{0, 5, 12, 20} {
		for chars := 1; chars <= MaxChars; chars++ {
			dst := make([]byte, 3, 3+spare)
			rest := dst[3:cap(dst)]
			for i := range rest {
				rest[i] = '#'
			}
			got, err := AppendEncode(dst, p, chars)
			if err != nil || string(got[3:]) != "u4pruydqqvj8"[:chars] {
				t.Fatalf("%d characters: %s, %v", chars, got, err)
			}
			if spare > chars && rest[chars] != '#' {
				t.Fatalf("%d characters: wrote beyond them", chars)
			}
		}
		for _, chars := range []int{-1, 0, 13, 1 << 40 >> 8 & math.MaxInt32} {
			got, err := AppendEncode([]byte("at"), p, chars)
			if string(got) != "at" || !is[*SyntaxError](err) {
				t.Errorf("%d characters: %q, %v", chars, got, err)
			}
		}
	}
}

func TestNormalize(t *testing.T) {
	tests := []struct {
		reason   string
		in, want Point
	}{
		{"in range", Point{12, 34}, Point{12, 34}},
		{"the ends are in range", Point{90, 180}, Point{90, 180}},
		{"the ends are in range", Point{-90, -180}, Point{-90, -180}},
		{"east of 180", Point{0, 190}, Point{0, -170}},
		{"west of -180", Point{0, -190}, Point{0, 170}},
		{"around", Point{0, 720}, Point{0, 0}},
		{"one and a half times around", Point{0, 540}, Point{0, -180}},
		{"the same to the west", Point{0, -540}, Point{0, -180}},
		{"over the north pole", Point{95, 10}, Point{85, -170}},
		{"over the south pole", Point{-95, 10}, Point{-85, -170}},
		{"around through both poles", Point{360 + 12, 34}, Point{12, 34}},
		{"upside down", Point{180, 20}, Point{0, -160}},
		{"three quarters around", Point{270, 20}, Point{-90, 20}},
	}
	for _, tt := range tests {
		if got := tt.in.Normalize(); got != tt.want {
			t.Errorf("%s: %v is %v, not %v", tt.reason, tt.in, got, tt.want)
		}
	}
	for _, p := range []Point{{math.NaN(), 0}, {0, math.NaN()}, {math.Inf(1), 0}, {0, math.Inf(-1)}} {
		if _, err := Encode(p.Normalize()); !is[*CoordinateError](err) {
			t.Errorf("%v became %v", p, p.Normalize())
		}
	}
	r := newPoints(3)
	for range 10_000 {
		p := Point{r.NormFloat64() * 500, r.NormFloat64() * 1000}
		n := p.Normalize()
		if err := n.Validate(); err != nil || n.Normalize() != n {
			t.Fatalf("%v became %v", p, n)
		}
		if d := chord(p, n); d > 1e-12 {
			t.Fatalf("%v became %v, %g away", p, n, d)
		}
	}
}

// chord is the straight distance on the unit sphere, which takes any degrees.
func chord(a, b Point) float64 {
	ax, ay, az := vector(a)
	bx, by, bz := vector(b)
	return math.Sqrt((ax-bx)*(ax-bx) + (ay-by)*(ay-by) + (az-bz)*(az-bz))
}

func vector(p Point) (x, y, z float64) {
	lat, lng := p.Lat*math.Pi/180, p.Lng*math.Pi/180
	return math.Cos(lat) * math.Cos(lng), math.Cos(lat) * math.Sin(lng), math.Sin(lat)
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
