package geohash

import "math"

// Cover appends at most max ranges of keys to dst, sorted and disjoint. The ranges
// contain the keys of all points that [Circle.Contains] accepts, and of some points
// around the circle. The circle can cross the antimeridian or contain a pole. If max is
// below 1, Cover appends at most one range.
func (c Circle) Cover(dst []Range, max int) []Range {
	if !c.valid() {
		return dst
	}
	k := newRound(c)
	if k.reach >= 180-blindSpot {
		return append(dst, Range{0, 1 << MaxBits})
	}
	var g grid
	k.draw(&g, max)
	return g.run(dst, max)
}

const (
	padMeters = 1e-6 // added to the radius, against rounding errors of some nanometres
	// A circle that leaves out at most blindSpot degrees around its antipode is the
	// world.
	blindSpot = 1e-4
)

// round is a circle, prepared to compute its width in each row.
type round struct {
	lat, lng     float64
	reach        float64 // degrees to the rim, with padMeters
	sin, cos     float64 // of half of reach
	cosLat       float64
	north, south bool    // the circle contains this pole
	widest       float64 // degrees from the center's meridian to the easternmost point
	turning      float64 // latitude of that point, without a pole in the circle
}

func newRound(c Circle) round {
	k := round{lat: c.Center.Lat, lng: c.Center.Lng, cosLat: cosine(c.Center.Lat), widest: 180}
	k.reach = (c.Meters + padMeters) / (EarthRadius * radians)
	k.sin, k.cos = math.Sincos(k.reach * (radians / 2))
	k.north, k.south = k.lat+k.reach >= maxLat, k.lat-k.reach <= -maxLat
	if k.north || k.south {
		return k
	}
	k.widest = math.Asin(math.Min(1, 2*k.sin*k.cos/k.cosLat)) / radians
	// cos(fromPole) is cos(center's distance from the pole)/cos(reach), in a form that is
	// exact near the pole.
	center := 90 - math.Abs(k.lat)
	sines := math.Sin((center+k.reach)*(radians/2)) * math.Sin((center-k.reach)*(radians/2))
	fromPole := 2 * math.Asin(math.Min(1, math.Sqrt(math.Max(0, sines)/math.Cos(k.reach*radians)))) / radians
	k.turning = math.Copysign(90-fromPole, k.lat)
	return k
}

// draw sets the grid's span of each row to the circle's width on the row's lower or upper
// edge, whichever is wider. The row of the widest latitude gets the widest width.
func (k *round) draw(g *grid, max int) {
	low := index(math.Max(k.lat-k.reach, -maxLat) * (1 << 28))
	high := index(math.Min(k.lat+k.reach, maxLat) * (1 << 28))
	g.fit(int64(low), int64(high), int64(k.widest*(2*axis/360.0)), max)
	columns := float64(int64(1) << g.bits)
	height := 180 / columns // exact, as its multiples are
	turning := -1
	if !k.north && !k.south {
		turning = int((k.turning+90)/height) - int(g.first)
	}
	below := k.width(float64(g.first)*height - 90)
	for i := range g.count {
		above := k.width(float64(g.first+int64(i)+1)*height - 90)
		w := math.Max(below, above)
		if i == turning || k.south && i == 0 || k.north && i == g.count-1 {
			w = k.widest
		}
		below = above
		switch {
		case w < 0:
			g.rows[i] = span{0, -1}
		case w >= 180:
			g.rows[i] = span{0, int64(columns) - 1}
		default: // a column may be negative, so a turn is added before truncation
			g.rows[i] = span{
				int64((k.lng-w+540)*(columns/360)) - int64(columns),
				int64((k.lng+w+540)*(columns/360)) - int64(columns),
			}
		}
	}
}

// width returns the degrees of longitude from the center's meridian to the rim at a
// latitude: 180 if the circle contains the whole parallel, -1 if it contains nothing of
// it. Haversines are exact for small circles. Large circles are computed from the
// antipode.
func (k *round) width(lat float64) float64 {
	cosines := cosine(lat) * k.cosLat
	if k.reach >= 90 {
		s := math.Sin((lat + k.lat) * (radians / 2))
		switch h := (k.cos - s) * (k.cos + s); {
		case h <= 0:
			return 180
		case h >= cosines:
			return -1
		default:
			return 180 - math.Asin(math.Sqrt(h/cosines))*(2/radians)
		}
	}
	s := math.Sin((lat - k.lat) * (radians / 2))
	switch h := (k.sin - s) * (k.sin + s); {
	case h < 0:
		return -1
	case h >= cosines:
		return 180
	default:
		return math.Asin(math.Sqrt(h/cosines)) * (2 / radians)
	}
}
