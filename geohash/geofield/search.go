package geofield

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// search is one run of a [Nearest].
type search struct {
	nearest
	limit  float64           // maximum distance in metres
	radius float64           // of the next circle
	read   [][]geohash.Range // ranges that needn't be read again
	known  map[string]bool   // _ids of documents that were read
	ahead  []located         // places that were read and not returned, in order
	near   int               // places within the last circle
	out    int               // places that were returned
}

const (
	everywhere   = math.Pi * geohash.EarthRadius // metres to the antipode
	defaultStart = 1000
	widest       = 8 // maximum growth of the radius
)

// run reads ring after ring, and yields the places within the circle read so far, in
// order.
//
// This is exact: a cover contains the keys of all points of its circle. So after a ring,
// all places up to the radius have been read, and unread places are farther. Places
// beyond the radius wait for the next ring. Once k places are within the radius, they are
// the nearest.
func (s *search) run(ctx context.Context, db model.DB, yield func(located) bool) error {
	if s.err != nil {
		return s.err
	}
	for s.begin(); ; s.grow() {
		if err := s.readRing(ctx, db); err != nil {
			return err
		}
		within := len(s.ahead)
		if s.radius < everywhere {
			within, _ = slices.BinarySearchFunc(s.ahead, s.radius, func(x located, r float64) int {
				if x.meters <= r {
					return -1
				}
				return 1
			})
		}
		for _, x := range s.ahead[:within] {
			s.out++
			x.rank = s.mark.Rank + s.out
			if !yield(x) || s.out == s.k {
				return nil
			}
		}
		s.ahead, s.near = slices.Delete(s.ahead, 0, within), s.near+within
		if s.radius >= s.limit {
			return nil
		}
	}
}

// begin sets the first circle.
func (s *search) begin() {
	s.limit, s.known = everywhere, map[string]bool{}
	if s.spec.Max > 0 {
		s.limit = min(s.limit, s.spec.Max)
	}
	s.radius = cmp.Or(s.spec.Start, defaultStart)
	if after := s.mark; after.ID.Type != 0 && after.Meters > 0 {
		s.read = append(s.read, interior(geohash.Circle{Center: s.from, Meters: after.Meters}, 2*s.f.ranges))
		if s.spec.Start == 0 || s.radius < after.Meters {
			more := 1.0 // the same area again, unless Rank is known
			if after.Rank > 0 && s.k > 0 {
				more = min(1.3*float64(s.k)/float64(after.Rank), widest)
			}
			s.radius = after.Meters * math.Sqrt(1+more)
		}
	}
	s.radius = min(s.radius, s.limit)
}

// grow sets the next circle: by the density so far, it contains one and a half times the
// missing places.
func (s *search) grow() {
	r := s.radius
	next := widest * r
	switch {
	case s.near == 0:
	case s.k == 0:
		next = 2 * r
	default:
		inner := s.mark.Meters
		next = math.Sqrt(r*r + 1.5*float64(s.k-s.out)*max(0, r*r-inner*inner)/float64(s.near))
	}
	s.radius = min(max(next, 1.2*r), widest*r, s.limit)
}

// ring returns the ranges of the circle that no ring has read.
func (s *search) ring() []geohash.Range {
	ranges := geohash.Circle{Center: s.from, Meters: s.radius}.Cover(nil, s.f.ranges)
	for _, done := range s.read {
		ranges = geohash.Subtract(nil, ranges, done)
	}
	return ranges
}

func (s *search) query(ranges []geohash.Range) model.Query {
	return s.find(bsondoc.JoinFilters(s.f.filter(ranges, s.own), s.rest))
}

// readRing reads the circle's ring into ahead.
func (s *search) readRing(ctx context.Context, db model.DB) error {
	ranges := s.ring()
	if len(ranges) == 0 {
		return nil
	}
	s.read = append(s.read, ranges)
	q := s.query(ranges)
	read := 0
	for raw, err := range (&model.Find[bson.Raw]{Query: q}).Each(ctx, db) {
		if err != nil {
			return err
		}
		read++
		x, ok, err := s.f.placeOf(&q, raw)
		if err != nil {
			return err
		}
		if ok {
			s.add(x)
		}
	}
	slices.SortFunc(s.ahead, func(a, b located) int { return compare(a.mark(), b.mark()) })
	if rest := s.k - s.out; s.k > 0 && len(s.ahead) > rest {
		clear(s.ahead[rest:])
		s.ahead = s.ahead[:rest]
	}
	if s.spec.Trace != nil {
		s.spec.Trace(Ring{Meters: s.radius, Ranges: len(ranges), Read: read})
	}
	return nil
}

// add keeps a place, unless it is too far, was on a previous page, or was read before
// because it moved.
func (s *search) add(x located) {
	x.meters = geohash.Distance(s.from, x.point)
	if s.spec.Max > 0 && x.meters > s.spec.Max || s.mark.ID.Type != 0 && compare(x.mark(), s.mark) <= 0 {
		return
	}
	id := bsonval.Key(x.id)
	if s.known[id] {
		return
	}
	s.known[id] = true
	s.ahead = append(s.ahead, x)
}
