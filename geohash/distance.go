package geohash

import "math"

// EarthRadius is the Earth's mean radius in metres. Because the Earth is flattened, true
// distances differ by up to 0.6 %. MongoDB's 2dsphere uses 6378100 m, which makes
// distances 0.11 % longer.
const EarthRadius = 6371008.8

const (
	radians  = math.Pi / 180
	halfTurn = math.Pi * EarthRadius // metres to the antipode
)

// Distance returns the great-circle distance of two points in metres (haversine formula).
// The last digits can differ between CPU architectures. The order of a and b doesn't
// matter. Two longitudes of the same place (±180, or any at a pole) give 0.
// [Point.Normalize] wraps points that are out of range. NaN gives NaN.
func Distance(a, b Point) float64 {
	if !a.valid() || !b.valid() {
		a, b = a.Normalize(), b.Normalize()
	}
	lng := math.Abs(a.Lng - b.Lng)
	if lng > 180 {
		lng = 360 - lng
	}
	cosines := cosine(a.Lat) * cosine(b.Lat)
	lat := math.Sin((a.Lat - b.Lat) * (radians / 2))
	half := math.Sin(lng * (radians / 2))
	if h := float64(lat*lat) + float64(cosines*half*half); h <= 0.5 {
		return 2 * EarthRadius * math.Asin(math.Sqrt(h))
	}
	// Beyond a quarter turn the formula above loses half of the digits: measure from the
	// antipode of b.
	lat = math.Sin((a.Lat + b.Lat) * (radians / 2))
	half = math.Sin((180 - lng) * (radians / 2))
	h := float64(lat*lat) + float64(cosines*half*half)
	return halfTurn - 2*EarthRadius*math.Asin(math.Sqrt(h))
}

// cosine returns the cosine of -90 to 90 degrees, exact near the poles and 0 at the
// poles.
func cosine(lat float64) float64 {
	lat = math.Abs(lat)
	if lat < 45 {
		return math.Cos(lat * radians)
	}
	return math.Sin((90 - lat) * radians)
}

// Diameter returns the maximum distance in metres of two points in the cell, edges
// included.
func (c Cell) Diameter() float64 {
	c = c.clean()
	if c.Bits < 2 { // the world, or a half from pole to pole
		return halfTurn
	}
	b := c.Box()
	wide, narrow := b.South, b.North
	if b.South < 0 {
		wide, narrow = b.North, b.South
	}
	// The maximum is between corners: along the edge next to the equator, or diagonal.
	// Inside, the distance is a sinusoid of the latitude difference that falls before it
	// rises.
	along := Distance(Point{wide, b.West}, Point{wide, b.East})
	return max(along, Distance(Point{wide, b.West}, Point{narrow, b.East}))
}
