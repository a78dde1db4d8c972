package main

import (
	"math"
	"slices"

	"github.com/docmodel/docmodel/geohash"
)

// geofire queries a circle in GeoFire's way, reimplemented from its description: the
// cells of the circle's center and of eight points of the box around it, each about as
// large as the circle. Distances are an ellipsoid's, cell sizes a mean ellipsoid's. Equal
// cells are asked once.
func geofire(c geohash.Circle) []geohash.Range {
	const metersPerDegree = 110574
	dLat := c.Meters / metersPerDegree
	north, south := math.Min(90, c.Center.Lat+dLat), math.Max(-90, c.Center.Lat-dLat)
	bits := int(min(
		2*math.Floor(geofireLatitudeBits(c.Meters)),
		2*math.Floor(geofireLongitudeBits(c.Meters, north))-1,
		2*math.Floor(geofireLongitudeBits(c.Meters, south))-1,
		geohash.MaxBits,
	))
	dLng := math.Max(geofireDegrees(c.Meters, north), geofireDegrees(c.Meters, south))
	ranges := make([]geohash.Range, 0, 9)
	for _, lat := range [...]float64{c.Center.Lat, north, south} {
		for _, lng := range [...]float64{c.Center.Lng, c.Center.Lng - dLng, c.Center.Lng + dLng} {
			key, err := geohash.Encode(geohash.Point{Lat: lat, Lng: lng}.Normalize())
			if r := key.Cell(max(1, bits)).Range(); err == nil && !slices.Contains(ranges, r) {
				ranges = append(ranges, r)
			}
		}
	}
	return ranges
}

// geofireDegrees is how many degrees of longitude so many metres are at a latitude.
func geofireDegrees(meters, lat float64) float64 {
	const equatorialRadius, eccentricity2 = 6378137, 0.00669447819799
	sin, cos := math.Sincos(lat * math.Pi / 180)
	perDegree := cos * equatorialRadius * math.Pi / 180 / math.Sqrt(1-eccentricity2*sin*sin)
	if perDegree < 1e-12 {
		if meters > 0 {
			return 360
		}
		return 0
	}
	return math.Min(360, meters/perDegree)
}

func geofireLongitudeBits(meters, lat float64) float64 {
	if degrees := geofireDegrees(meters, lat); degrees > 1e-6 {
		return math.Max(1, math.Log2(360/degrees))
	}
	return 1
}

func geofireLatitudeBits(meters float64) float64 {
	const meridian = 40007860 // around the Earth
	return math.Min(math.Log2(meridian/2/meters), 110)
}
