package geohash

import "math"

// EarthRadius is the radius in metres of the sphere that distances are measured on: the mean of Earth's. Earth is flattened, so
// that true distances differ by up to 0.6 %. MongoDB's 2dsphere takes a radius of 6378100 m, which makes its distances 0.11 %
// longer.
const EarthRadius = 6371008.8

const (
	radians  = math.Pi / 180
	halfTurn = math.Pi * EarthRadius // metres to the antipode
)

// Distance returns the metres between two points along a great circle: the haversine formula on a sphere of [EarthRadius]. It
// is good to a few units in the last place, antipodes and poles included; it may differ by those between architectures. It is
// symmetric, and 0 for a point and itself, on both sides of the antimeridian and with any longitudes at a pole. Points out of
// range are wrapped; NaN gives NaN.
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
	// The far half, from the antipode of b: there the formula above loses half of the digits.
	lat = math.Sin((a.Lat + b.Lat) * (radians / 2))
	half = math.Sin((180 - lng) * (radians / 2))
	h := float64(lat*lat) + float64(cosines*half*half)
	return halfTurn - 2*EarthRadius*math.Asin(math.Sqrt(h))
}

// cosine is that of degrees from -90 to 90, with all digits near the poles, and 0 at them.
func cosine(lat float64) float64 {
	lat = math.Abs(lat)
	if lat < 45 {
		return math.Cos(lat * radians)
	}
	return math.Sin((90 - lat) * radians)
}

// Diameter returns the greatest distance in metres between two points of the cell, its edges included: a bound on the distance of
// all that have the cell in common, as [CommonCell] finds it.
func (c Cell) Diameter() float64 {
	c = c.clean()
	if c.Bits < 2 { // the world, or half of it between the poles
		return halfTurn
	}
	b := c.Box()
	wide, narrow := b.South, b.North
	if b.South < 0 {
		wide, narrow = b.North, b.South
	}
	// Between corners on the edge next to the equator, or across: within, the distance is a sinusoid of the difference in
	// latitude that falls before it rises.
	along := Distance(Point{wide, b.West}, Point{wide, b.East})
	return max(along, Distance(Point{wide, b.West}, Point{narrow, b.East}))
}
