package query

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/engine/expr"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// within passes for geometries that lie in an area: legacy coordinates ([x, y], or a document that begins with two numbers) and
// GeoJSON points. Other geometries of GeoJSON lie in a circle when their corners do; a box takes points alone.
// https://www.mongodb.com/docs/manual/reference/operator/query/geoWithin/
type within struct{ area area }

type area interface{ contains(g geometry) bool }

// areas is the table of what $geoWithin takes.
var areas = map[string]func(arg any) (area, error){"$box": parseBox, "$centerSphere": parseCenterSphere}

// absentAreas names what else MongoDB's $geoWithin takes.
var absentAreas = []string{"$center", "$geometry", "$polygon"}

func (w within) test(v any, _ *int) bool {
	g, ok := geometryOf(v)
	return ok && w.area.contains(g)
}

func (within) whole() bool { return false }

func parseGeoWithin(_ *parser, arg any, all bson.D) (cond, error) {
	if len(all) > 1 {
		return nil, mongoerr.New(mongoerr.BadValue, "can't parse extra field: %s: %s", all[1].Key, expr.Show(all[1].Value))
	}
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(mongoerr.BadValue, "geometry must be an object")
	}
	var w within
	for _, f := range d {
		parse := areas[f.Key]
		var err error
		switch {
		case parse != nil && w.area != nil:
			err = mongoerr.New(mongoerr.BadValue, "$geoWithin takes one geometry, not %s too", f.Key)
		case parse != nil:
			w.area, err = parse(f.Value)
		case slices.Contains(absentAreas, f.Key):
			err = mongoerr.New(mongoerr.NotImplemented, "%s of $geoWithin isn't implemented by the embedded engine", f.Key)
		default:
			err = mongoerr.New(mongoerr.BadValue, "unknown geo specifier: %s: %s", f.Key, expr.Show(f.Value))
		}
		if err != nil {
			return nil, err
		}
	}
	if w.area == nil {
		return nil, mongoerr.New(mongoerr.BadValue, "geo query doesn't have any geometry")
	}
	return leaf{w}, nil
}

// box is a rectangle in the plane, with its edges.
type box struct{ low, high place }

func parseBox(arg any) (area, error) {
	corners, err := elements(arg)
	if err != nil {
		return nil, err
	}
	var p [2]place
	for i := range p {
		var v any = bsonval.Missing
		if i < len(corners) {
			v = corners[i]
		}
		if p[i], err = parsePlace(v); err != nil {
			return nil, err
		}
	}
	a, b := p[0], p[1]
	return box{place{min(a.x, b.x), min(a.y, b.y)}, place{max(a.x, b.x), max(a.y, b.y)}}, nil
}

func (b box) contains(g geometry) bool {
	p := g.corners[0]
	return g.point && b.low.x <= p.x && p.x <= b.high.x && b.low.y <= p.y && p.y <= b.high.y
}

// circle is a cap on the sphere: what is no farther from the center than a chord.
type circle struct {
	center [3]float64
	chord2 float64 // squared; the sphere's diameter is 2
}

func parseCenterSphere(arg any) (area, error) {
	parts, err := elements(arg)
	if err != nil {
		return nil, err
	}
	parts = append(slices.Clip(parts), bsonval.Missing, bsonval.Missing)
	center, err := parsePlace(parts[0])
	if err != nil {
		return nil, err
	}
	radius, ok := bsonval.Float(parts[1])
	switch {
	case !center.onSphere():
		return nil, mongoerr.New(mongoerr.BadValue, "longitude/latitude is out of bounds, lng: %v lat: %v", center.x, center.y)
	case !ok || !(radius >= 0):
		return nil, mongoerr.New(mongoerr.BadValue, "radius must be a non-negative number")
	case len(parts) > 4:
		return nil, mongoerr.New(mongoerr.BadValue, "Only 2 fields allowed for circular region")
	}
	half := math.Sin(min(radius, math.Pi) / 2)
	return circle{center.vector(), 4 * half * half}, nil
}

func (c circle) contains(g geometry) bool {
	for _, p := range g.corners {
		if !p.onSphere() {
			return false
		}
		v := p.vector()
		x, y, z := v[0]-c.center[0], v[1]-c.center[1], v[2]-c.center[2]
		if x*x+y*y+z*z > c.chord2 {
			return false
		}
	}
	return true
}
