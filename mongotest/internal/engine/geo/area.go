package geo

// This file has the areas of $geoWithin. Those of the plane take the coordinates of GeoJSON's points as they are.

import (
	"math"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Area is what $geoWithin takes: geometries lie in it or don't. In an area of the plane only points can lie, of which
// those of GeoJSON are taken by their coordinates. Every area is a [Region] too, for indexes.
type Area interface{ Contains(g *Geometry) bool }

// Areas is the table of what $geoWithin takes.
var Areas = map[string]func(arg any) (Area, error){
	"$box": parseBox, "$center": parseCenter, "$centerSphere": parseCenterSphere,
	"$geometry": parseGeometry, "$polygon": parsePlain,
}

// parseGeometry reads an area of GeoJSON.
func parseGeometry(arg any) (Area, error) { return ParseGeoJSON(arg) }

// box is a rectangle in the plane, with its edges.
type box struct{ low, high Point }

// parseBox reads two opposite corners, in any order.
func parseBox(arg any) (Area, error) {
	corners, err := Elements(arg)
	if err != nil {
		return nil, err
	}
	corners = append(slices.Clip(corners), bsonval.Missing, bsonval.Missing)
	a, err := ParsePair(corners[0])
	if err != nil {
		return nil, err
	}
	b, err := ParsePair(corners[1])
	return box{Point{min(a.X, b.X), min(a.Y, b.Y)}, Point{max(a.X, b.X), max(a.Y, b.Y)}}, err
}

// Contains compares the coordinates of a point. The edges belong to the box.
func (b box) Contains(g *Geometry) bool {
	p, ok := g.Point()
	return ok && b.low.X <= p.X && p.X <= b.high.X && b.low.Y <= p.Y && p.Y <= b.high.Y
}

// plain is a polygon in the plane.
type plain []Point

// parsePlain reads the corners of a polygon in the plane, which is closed by itself.
func parsePlain(arg any) (Area, error) {
	list, err := Elements(arg)
	if err != nil {
		return nil, err
	}
	var p plain
	for _, x := range list {
		corner, err := ParsePair(x)
		if err != nil {
			return nil, err
		}
		p = append(p, corner)
	}
	if len(p) < 3 {
		return nil, failValue("Polygon must have at least 3 points")
	}
	return p, nil
}

// Contains counts the edges to the right of the point. Of the edges, which may cross, the upper and the right ones
// belong to the polygon. A point between an odd number of edges is inside.
func (s plain) Contains(g *Geometry) bool {
	p, ok := g.Point()
	inside := false
	a := s[len(s)-1]
	for _, b := range s {
		if p.Y > min(a.Y, b.Y) && p.Y <= max(a.Y, b.Y) && p.X <= max(a.X, b.X) &&
			(a.X == b.X || p.X <= (p.Y-a.Y)*(b.X-a.X)/(b.Y-a.Y)+a.X) {
			inside = !inside
		}
		a = b
	}
	return ok && inside
}

// parseCircle reads a center and a radius.
func parseCircle(arg any) (center Point, radius float64, err error) {
	parts, err := Elements(arg)
	if err != nil {
		return center, 0, err
	}
	parts = append(slices.Clip(parts), bsonval.Missing, bsonval.Missing)
	if center, err = ParsePair(parts[0]); err != nil {
		return center, 0, err
	}
	radius, ok := bsonval.Float(parts[1])
	switch {
	case !ok || !(radius >= 0):
		err = failValue("radius must be a non-negative number")
	case len(parts) > 4:
		err = failValue("Only 2 fields allowed for circular region")
	}
	return center, radius, err
}

// disk is a circle in the plane with what is in it.
type disk struct {
	center Point
	radius float64
}

// parseCenter reads a circle of the plane, whose radius is in the units of its coordinates.
func parseCenter(arg any) (Area, error) {
	center, radius, err := parseCircle(arg)
	return disk{center, radius}, err
}

// Contains compares the distance in the plane. The rim belongs to the disk.
func (d disk) Contains(g *Geometry) bool {
	p, ok := g.Point()
	return ok && p.Plain(d.center) <= d.radius
}

// circle is a cap on the sphere: what is no farther from the center than a chord.
type circle struct {
	center vec
	chord2 float64 // squared; the sphere's diameter is 2
}

// parseCenterSphere reads a circle of the sphere, whose radius is an angle in radians. A chord takes its place: to
// compare squared lengths needs no trigonometry for each document.
func parseCenterSphere(arg any) (Area, error) {
	center, radius, err := parseCircle(arg)
	if outside := center.check(); outside != nil {
		err = outside
	}
	half := math.Sin(min(radius, math.Pi) / 2)
	return circle{center.vec(), 4 * half * half}, err
}

// Contains reports whether all points and corners of a geometry are in the cap. The arcs between them are then too,
// unless the cap is more than half of the sphere.
func (c circle) Contains(g *Geometry) bool {
	if !g.OnSphere() {
		return false
	}
	for _, list := range [][]Point{g.points, g.corners} {
		for _, p := range list {
			d := p.vec().plus(c.center, -1)
			if d.dot(d) > c.chord2 {
				return false
			}
		}
	}
	return true
}
