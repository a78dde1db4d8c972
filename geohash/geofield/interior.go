package geofield

import (
	"cmp"
	"math"
	"slices"

	"github.com/docmodel/docmodel/geohash"
)

// interior returns at most max ranges of keys, sorted and disjoint: the largest ranges
// with cells entirely in the circle. A place with such a key is nearer than the circle's
// radius. A search that continues after a page leaves these ranges out, because it has
// returned their places. A missing range only costs reads, and a wrong one loses places.
func interior(c geohash.Circle, max int) []geohash.Range {
	i := inner{center: c.Center, within: c.Meters*(1-1e-12) - 1e-3, cover: c.Cover(nil, 2*max)}
	if i.within <= 0 {
		return nil
	}
	level := []geohash.Cell{{}}
	for len(level) > 0 && len(level) <= most {
		level = i.divide(level)
	}
	slices.SortFunc(i.out, func(a, b geohash.Range) int { return cmp.Compare(a.Lo, b.Lo) })
	i.out = joined(i.out)
	if len(i.out) > max {
		slices.SortStableFunc(i.out, func(a, b geohash.Range) int { return cmp.Compare(b.Hi-b.Lo, a.Hi-a.Lo) })
		i.out = i.out[:max]
		slices.SortFunc(i.out, func(a, b geohash.Range) int { return cmp.Compare(a.Lo, b.Lo) })
	}
	return i.out
}

// inner collects the cells of a circle.
type inner struct {
	center geohash.Point
	within float64 // metres: the radius minus a millimetre, against rounding errors
	cover  []geohash.Range
	out    []geohash.Range
}

// most is how many cells on the rim are divided again. With cells of an eighth of the
// radius, the rim has some hundred cells, or many narrow cells near a pole.
const most = 256

// divide keeps the cells that are entirely in the circle, and returns the halves of cells
// on the rim.
func (i *inner) divide(level []geohash.Cell) (next []geohash.Cell) {
	for _, c := range level {
		r := c.Range()
		switch {
		case !slices.ContainsFunc(i.cover, func(x geohash.Range) bool { return x.Lo < r.Hi && r.Lo < x.Hi }):
		case i.holds(c):
			i.out = append(i.out, r)
		case c.Bits < geohash.MaxBits && c.Diameter() > i.within/8:
			bits := int(c.Bits) + 1
			next = append(next, c.Key.Cell(bits), (c.Key | 1<<(geohash.MaxBits-bits)).Cell(bits))
		}
	}
	return next
}

// joined joins adjacent ranges.
func joined(list []geohash.Range) []geohash.Range {
	out := list[:0]
	for _, r := range list {
		if n := len(out); n > 0 && out[n-1].Hi == r.Lo {
			out[n-1].Hi = r.Hi
		} else {
			out = append(out, r)
		}
	}
	return out
}

// holds reports whether a cell is entirely in the circle. On a parallel, the distance
// grows with the longitude difference. On a meridian less than a quarter turn away, its
// cosine is that of the difference to some latitude, so the maximum is at an end. So
// corners decide. For other cells it returns false.
func (i *inner) holds(c geohash.Cell) bool {
	b := c.Box()
	for _, lng := range [...]float64{b.West, b.East} {
		if turn := math.Abs(lng - i.center.Lng); turn > 90 && turn < 270 {
			return false
		}
		for _, lat := range [...]float64{b.South, b.North} {
			if geohash.Distance(i.center, geohash.Point{Lat: lat, Lng: lng}) > i.within {
				return false
			}
		}
	}
	return b.East-b.West <= 90
}
