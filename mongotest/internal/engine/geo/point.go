// Package geo has the shapes of MongoDB's geospatial queries: how they are written in documents, and how they lie to
// each other on the sphere and in the plane.
//
// What a document stores, and what $geoWithin takes:
//
//	{type: "Point", coordinates: [lng, lat]}          GeoJSON, on the sphere: any of its seven types
//	[x, y], {lng: x, lat: y}                          a legacy pair: in the plane, and on the sphere if it fits
//	{$geometry: {type: "Polygon", coordinates: […]}}  an area of the sphere
//	{$centerSphere: [[lng, lat], radians]}            an area of the sphere
//	{$box: …}, {$center: …}, {$polygon: …}            areas of the plane
//
// The manual decides (https://www.mongodb.com/docs/manual/geospatial-queries/,
// https://www.mongodb.com/docs/manual/reference/geojson/). On the sphere an edge is the shorter arc of a great
// circle, and a ring encloses the smaller of its two sides. Distances are those of MongoDB, whose earth has a radius
// of [Radius].
//
// The steps:
//
//  1. [Parse] reads what a document stores, and [Areas] what a query asks for. Both refuse shapes that MongoDB
//     refuses (parse.go, area.go).
//  2. Points of the sphere become vectors of length 1 (vector.go). All that follows is done with vectors, so that
//     neither the poles nor the 180th meridian is a special case.
//  3. [Geometry.Contains], [Geometry.Intersects] and [Geometry.Distance] decide (relate.go, ring.go).
//  4. An index stores the numbers of the grid cells that a shape meets, and a query asks for the cells around its
//     region. That only finds candidates, which step 3 checks (grid.go).
//
// Invariants:
//
//   - Whether two arcs cross is decided without rounding errors (orient.go). A point on an edge that two polygons
//     share is in one of them.
//   - Points closer than a [tolerance] count as one where shapes only touch.
//   - The cells of a shape always include those of every point in it. Cells may be too many, never too few.
//   - A geometry never changes once it is parsed.
//
// Package query calls this package for its operators, plan for areas and cells, and indexes for the keys of documents.
package geo

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Radius is the radius of MongoDB's earth in meters.
const Radius = 6378100.0

// Point is a pair of coordinates. On the sphere X is the longitude and Y the latitude, in degrees.
type Point struct{ X, Y float64 }

// OnSphere reports whether the coordinates are a longitude and a latitude.
func (p Point) OnSphere() bool { return math.Abs(p.X) <= 180 && math.Abs(p.Y) <= 90 }

// check refuses coordinates that are not on the sphere.
func (p Point) check() error {
	if !p.OnSphere() {
		return mongoerr.New(mongoerr.BadValue, "longitude/latitude is out of bounds, lng: %v lat: %v", p.X, p.Y)
	}
	return nil
}

// vec returns the point on the unit sphere.
func (p Point) vec() vec {
	const degree = math.Pi / 180
	lng, lat := p.X*degree, p.Y*degree
	return vec{math.Cos(lng) * math.Cos(lat), math.Sin(lng) * math.Cos(lat), math.Sin(lat)}
}

// Angle returns the angle between two points of the sphere in radians.
func (p Point) Angle(q Point) float64 { return p.vec().angle(q.vec()) }

// Plain returns the distance of two points in the plane.
func (p Point) Plain(q Point) float64 { return math.Hypot(p.X-q.X, p.Y-q.Y) }

// Elements returns the values of an array, or of a document's fields.
func Elements(v any) (bson.A, error) {
	switch x := v.(type) {
	case bson.A:
		return x, nil
	case bson.D:
		a := make(bson.A, len(x))
		for i, f := range x {
			a[i] = f.Value
		}
		return a, nil
	}
	return nil, mongoerr.New(mongoerr.BadValue,
		"Point must be an array or object, instead got type %s", bsonval.TypeName(v))
}

// ParsePair reads a legacy coordinate pair: an array of two numbers, or a document of two.
func ParsePair(v any) (Point, error) { return parsePair(v, false) }

// parsePair reads a pair. With more, other values may follow the coordinates.
func parsePair(v any, more bool) (Point, error) {
	a, err := Elements(v)
	if err != nil {
		return Point{}, err
	}
	var c [2]float64
	for i := range c {
		var x any = bsonval.Missing
		if i < len(a) {
			x = a[i]
		}
		f, ok := bsonval.Float(x)
		switch {
		case !ok:
			return Point{}, mongoerr.New(mongoerr.BadValue,
				"Point must only contain numeric elements, instead got type %s", bsonval.TypeName(x))
		case math.IsNaN(f) || math.IsInf(f, 0):
			return Point{}, mongoerr.New(mongoerr.BadValue, "Point coordinates must be finite numbers")
		}
		c[i] = f
	}
	if len(a) > 2 && !more {
		return Point{}, mongoerr.New(mongoerr.BadValue, "Point must only contain two numeric elements")
	}
	return Point{c[0], c[1]}, nil
}
