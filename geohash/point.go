package geohash

import "math"

const (
	maxLat = 90
	maxLng = 180
)

// Point is a place on Earth in degrees: Lat from -90 (south) to 90, Lng from -180 (west)
// to 180. [Distance] and [Circle] treat longitudes -180 and 180 as equal, and all
// longitudes at a pole as equal. [Encode] can give these points different keys.
type Point struct{ Lat, Lng float64 }

// Validate returns a [*CoordinateError] if a coordinate is NaN, infinite or out of range.
func (p Point) Validate() error {
	if err := check("Lat", p.Lat, maxLat); err != nil {
		return err
	}
	return check("Lng", p.Lng, maxLng)
}

func (p Point) valid() bool { return math.Abs(p.Lat) <= maxLat && math.Abs(p.Lng) <= maxLng }

// Normalize wraps a point into range. A longitude wraps around the Earth, into -180 to
// 180. A latitude beyond a pole continues on the other side. A point in range stays as it
// is. NaN and infinity give NaN, which [Encode] refuses.
func (p Point) Normalize() Point {
	if math.Abs(p.Lat) > maxLat {
		p.Lat = wrap(p.Lat)
		switch {
		case p.Lat > maxLat:
			p = Point{Lat: 180 - p.Lat, Lng: p.Lng + 180}
		case p.Lat < -maxLat:
			p = Point{Lat: -180 - p.Lat, Lng: p.Lng + 180}
		}
	}
	if math.Abs(p.Lng) > maxLng {
		p.Lng = wrap(p.Lng)
	}
	return p
}

// wrap adds or subtracts full turns, for -180 ≤ result < 180.
func wrap(degrees float64) float64 {
	d := math.Mod(degrees, 360)
	switch {
	case d >= 180:
		return d - 360
	case d < -180:
		return d + 360
	}
	return d
}
