package geohash

import "math"

const (
	maxLat = 90
	maxLng = 180
)

// Point is a place on Earth, in degrees: Lat from -90 (south) to 90, Lng from -180 (west) to 180. The longitudes -180 and 180
// are one meridian, and at a pole all longitudes are one place; both are different keys. The zero value is on the equator, south
// of Ghana: as a rule, a place that somebody forgot to set.
type Point struct{ Lat, Lng float64 }

// Validate returns a [*CoordinateError] for a coordinate that is NaN, infinite or out of range: the error of [Encode].
func (p Point) Validate() error {
	if err := check("Lat", p.Lat, maxLat); err != nil {
		return err
	}
	return check("Lng", p.Lng, maxLng)
}

func (p Point) valid() bool { return math.Abs(p.Lat) <= maxLat && math.Abs(p.Lng) <= maxLng }

// Normalize wraps a point into range, as if one had walked there: a longitude goes around the Earth, into -180 to below 180; a
// latitude beyond a pole comes down on the other side. A point in range is returned as it is. What is NaN or infinite becomes
// NaN, which [Encode] refuses. Nothing else in this package wraps.
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

// wrap takes full turns off degrees, until they are in -180 to below 180.
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
