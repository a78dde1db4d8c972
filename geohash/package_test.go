// The definition of keys by bisection, and random points: shared by the tests of package geohash.

package geohash_test

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	. "github.com/docmodel/docmodel/geohash"
)

// long is set where random tests go through many more points, by hand: a few minutes.
var long = os.Getenv("DOCMODEL_LONG") != ""

// scale returns how many cases a random test has: n, or many times as many; a quarter with -short, as under the race
// detector.
func scale(n, times int) int {
	switch {
	case long:
		return n * times
	case testing.Short():
		return n / 4
	}
	return n
}

// bisect is what a key is defined by.
func bisect(p Point) Key {
	south, west, north, east := -90.0, -180.0, 90.0, 180.0
	var k Key
	for i := range MaxBits {
		value, low, high := p.Lng, &west, &east
		if i%2 == 1 {
			value, low, high = p.Lat, &south, &north
		}
		k <<= 1
		if middle := (*low + *high) / 2; value >= middle {
			k |= 1
			*low = middle
		} else {
			*high = middle
		}
	}
	return k
}

// bisectBack returns the edges that bisection ends with.
func bisectBack(c Cell) Box {
	b := Box{-90, -180, 90, 180}
	for i := range int(c.Bits) {
		low, high := &b.West, &b.East
		if i%2 == 1 {
			low, high = &b.South, &b.North
		}
		middle := (*low + *high) / 2
		if c.Key>>(MaxBits-1-i)&1 == 1 {
			*low = middle
		} else {
			*high = middle
		}
	}
	return b
}

// points makes places of all kinds that have been got wrong.
type points struct{ *rand.Rand }

func newPoints(seed uint64) points { return points{rand.New(rand.NewPCG(seed, 1))} }

// next returns an even mix: anywhere, decimal numbers, and next to or on corners of cells, poles and the antimeridian.
func (r points) next() Point {
	switch r.IntN(8) {
	case 0, 1:
		return r.anywhere()
	case 2:
		digits := math.Pow(10, float64(r.IntN(8)))
		p := r.anywhere()
		return Point{math.Round(p.Lat*digits) / digits, math.Round(p.Lng*digits) / digits}
	case 3:
		return inside(Point{r.near(r.pick(-90, 90)), r.near(r.pick(-180, 180, 0))})
	case 4:
		return inside(Point{r.anywhere().Lat, r.near(r.pick(-180, 180))})
	case 5:
		return inside(Point{r.near(r.pick(-90, 90, 0)), r.anywhere().Lng})
	default: // corners of cells of all sizes, and edges
		b := r.key().Cell(r.IntN(MaxBits + 1)).Box()
		p := Point{r.near(r.pick(b.South, b.North)), r.near(r.pick(b.West, b.East))}
		switch r.IntN(4) {
		case 0:
			p.Lat = r.anywhere().Lat
		case 1:
			p.Lng = r.anywhere().Lng
		}
		return inside(p)
	}
}

// anywhere is even over the sphere.
func (r points) anywhere() Point {
	return Point{math.Asin(2*r.Float64()-1) * 180 / math.Pi, r.Float64()*360 - 180}
}

func (r points) key() Key { return Key(r.Int64N(1 << MaxBits)) }

func (r points) pick(values ...float64) float64 { return values[r.IntN(len(values))] }

// near returns a number itself, those next to it, or one from there to a metre away.
func (r points) near(degrees float64) float64 {
	switch r.IntN(5) {
	case 0:
		return degrees
	case 1:
		return math.Nextafter(degrees, -1000)
	case 2:
		return math.Nextafter(degrees, 1000)
	case 3:
		for range r.IntN(5) {
			degrees = math.Nextafter(degrees, r.pick(-1000, 1000))
		}
		return degrees
	default:
		return degrees + r.pick(-1, 1)*math.Pow(10, -5-11*r.Float64())
	}
}

// inside takes what is out of range to the next number that isn't.
func inside(p Point) Point {
	return Point{max(-90, min(p.Lat, 90)), max(-180, min(p.Lng, 180))}
}
