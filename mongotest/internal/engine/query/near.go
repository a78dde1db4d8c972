package query

// This file has the conditions on a distance: $near, $nearSphere and $geoNear in a filter. The stage $geoNear makes
// such a filter. Package plan finds the documents by an index and sorts them by their distances.

import (
	"errors"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/geo"
)

// Near is the condition of $near, $nearSphere and $geoNear: a distance from a point. Documents that fulfill it come in
// the order of their distances. The operator and the kind of the point decide how distances are measured:
//
//	{at: {$near: {$geometry: {type: "Point", coordinates: [10, 50]}, $maxDistance: 500}}}   meters on the sphere
//	{at: {$nearSphere: [10, 50], $maxDistance: 0.001}}                                      radians on the sphere
//	{at: {$near: [10, 50], $maxDistance: 5}}                                                units of the plane
//
// https://www.mongodb.com/docs/manual/reference/operator/query/near/
type Near struct {
	Path    string // of the geometry, with dots
	Point   geo.Point
	Sphere  bool // distances are on the sphere, not in the plane
	Radians bool // distances on the sphere are in radians, not in meters
	GeoJSON bool // the point is one of GeoJSON, which a 2d index doesn't serve

	// Min and Max are distances in meters, radians or the unit of the plane. Both are included. Max is +Inf without
	// $maxDistance.
	Min, Max float64
}

// Distance returns the distance of the nearest geometry that the document has at the path, and this geometry as it is
// stored. ok is false if the document has no geometry there. An array at the path is a pair of coordinates, or several
// geometries.
func (n *Near) Distance(d bson.D) (distance float64, at any, ok bool) {
	var found collector
	leaf{&found}.matchPath(bsonval.ParsePath(n.Path), d, nil)
	distance = math.Inf(1)
	for _, v := range found.values {
		list := bson.A{v}
		if a, isArray := v.(bson.A); isArray && len(a) > 0 && !bsonval.IsNumber(a[0]) {
			list = a
		}
		for _, v := range list {
			if x, there := n.measure(v); there && x < distance {
				distance, at, ok = x, v, true
			}
		}
	}
	return distance, at, ok
}

// measure returns the distance of one geometry, in the unit of Min and Max. Only a geometry of the kind that the
// condition measures has a distance.
func (n *Near) measure(v any) (float64, bool) {
	g, err := geo.Parse(v)
	switch {
	case err != nil:
		return 0, false
	case !n.Sphere:
		return g.PlainDistance(n.Point)
	case !g.OnSphere():
		return 0, false
	case n.Radians:
		return g.Distance(n.Point), true
	}
	return g.Distance(n.Point) * geo.Radius, true
}

// UsesSphere reports whether a 2dsphere index serves the condition.
func (n *Near) UsesSphere() bool { return n.Sphere }

// UsesPlain reports whether a 2d index serves the condition. It also serves $nearSphere with a legacy point.
func (n *Near) UsesPlain() bool { return !n.GeoJSON }

// nearMatch is Near as a condition. It looks at all geometries of a path together, so it is no predicate.
type nearMatch struct{ n *Near }

func (c nearMatch) matchValue(any, *int) bool { return false }

func (c nearMatch) matchPath(_ bsonval.Path, d bson.D, _ *int) bool {
	x, _, ok := c.n.Distance(d)
	return ok && c.n.Min <= x && x <= c.n.Max
}

// FindNear returns the filter's condition on a distance, or nil. checkSpecial has made sure that every match must
// fulfill it.
func (m *Matcher) FindNear() *Near {
	for _, n := range appendConjuncts(nil, m.root) {
		if p, ok := n.(onPath); ok {
			if c, ok := p.cond.(nearMatch); ok {
				return c.n
			}
		}
	}
	return nil
}

// isNear reports whether an operator begins a condition on a distance.
func isNear(name string) bool { return name == "$near" || name == "$nearSphere" || name == "$geoNear" }

// parseNear parses the document at a path whose first operator is $near, $nearSphere or $geoNear.
func (p *parser) parseNear(path string, all bson.D) (cond, error) {
	switch {
	case p.inMatch && (p.special == nil || p.special.NoNears):
		return nil, mongoerr.New(5626500,
			"$geoNear, $near, and $nearSphere are not allowed in this context, as these operators "+
				"require sorting geospatial data. If you do not need sort, consider using $geoWithin instead.")
	case p.special == nil || p.depth > 0:
		return nil, mongoerr.New(mongoerr.BadValue, "$geoNear, $near, and $nearSphere are not allowed in this context")
	}
	p.nears++
	// As in MongoDB, the form is found by trying: what isn't a legacy point must be the form with $geometry.
	n := &Near{Path: path, Max: math.Inf(1)}
	done, err := n.parseLegacy(all)
	if err == nil && !done {
		*n = Near{Path: path, Max: math.Inf(1)}
		err = n.parseGeoJSON(all)
	}
	if err != nil {
		return nil, err
	}
	if n.Sphere && !n.Point.OnSphere() {
		return nil, mongoerr.New(mongoerr.BadValue, "Legacy point is out of bounds for spherical query")
	}
	return nearMatch{n}, nil
}

// parseLegacy reads {$near: point, $minDistance: 1, $maxDistance: 5}. done is false if the document has the form that
// parseGeoJSON reads. The point may be a pair of coordinates, a pair with the greatest distance behind it, or GeoJSON.
func (n *Near) parseLegacy(all bson.D) (done bool, err error) {
	for _, f := range all {
		switch f.Key {
		case "$near", "$nearSphere", "$geoNear":
			switch f.Value.(type) {
			case bson.D, bson.A:
			default:
				return false, nil
			}
			point, legacy, failed := geo.ParseQueryPoint(f.Value)
			if failed != nil {
				if point, done = n.parseWithMax(f.Value); !done {
					continue
				}
				legacy = true
			}
			if n.Max < 0 {
				return false, mongoerr.New(18522, "max distance must be non-negative")
			}
			done = true
			n.Point, n.GeoJSON = point, !legacy
			n.Sphere = f.Key == "$nearSphere" || !legacy
			n.Radians = legacy && n.Sphere
		case "$minDistance":
			n.Min, err = readLimit(f, 16893, 16894)
		case "$maxDistance":
			n.Max, err = readLimit(f, 16895, 16896)
		default:
			err = mongoerr.New(34413, "invalid argument in geo near query: %s", f.Key)
		}
		if err != nil {
			return false, err
		}
	}
	return done, nil
}

// parseWithMax reads [longitude, latitude, greatest distance].
func (n *Near) parseWithMax(v any) (geo.Point, bool) {
	list, err := geo.Elements(v)
	if err != nil || len(list) != 3 {
		return geo.Point{}, false
	}
	most, ok := bsonval.Float(list[2])
	if !ok {
		return geo.Point{}, false
	}
	point, err := geo.ParsePair(list[:2])
	if err != nil {
		return geo.Point{}, false
	}
	n.Max = most
	return point, true
}

// readLimit reads $minDistance or $maxDistance. The codes of its errors depend on the form.
func readLimit(f bson.E, noNumber, negative int32) (float64, error) {
	x, ok := bsonval.Float(f.Value)
	switch {
	case !ok:
		return 0, mongoerr.New(noNumber, "%s must be a number", f.Key)
	case !(x >= 0):
		return 0, mongoerr.New(negative, "%s must be non-negative", f.Key)
	}
	return x, nil
}

// parseGeoJSON reads {$near: {$geometry: point, $minDistance: 1, $maxDistance: 5}}.
func (n *Near) parseGeoJSON(all bson.D) error {
	if len(all) > 1 {
		return mongoerr.New(mongoerr.BadValue,
			"geo near accepts just one argument when querying for a GeoJSON point. Extra field found: %s: %s",
			all[1].Key, bsonval.Text(all[1].Value))
	}
	d, isDoc := all[0].Value.(bson.D)
	if list, isArray := all[0].Value.(bson.A); isArray {
		if _, _, err := geo.ParseQueryPoint(list); err != nil {
			return err
		}
	}
	if !isDoc {
		return mongoerr.New(mongoerr.BadValue, "geo near query argument is not an object")
	}
	given := false
	for _, f := range d {
		var err error
		switch f.Key {
		case "$geometry":
			given = true
			err = n.parsePoint(f.Value)
		case "$minDistance":
			n.Min, err = readLimit(f, mongoerr.BadValue, mongoerr.BadValue)
		case "$maxDistance":
			n.Max, err = readLimit(f, mongoerr.BadValue, mongoerr.BadValue)
		default:
			err = mongoerr.New(mongoerr.BadValue, "invalid argument in geo near query: %s", f.Key)
		}
		if err != nil {
			return err
		}
	}
	if !given {
		return mongoerr.New(mongoerr.BadValue, "$geometry is required for geo near query")
	}
	return nil
}

// parsePoint reads the argument of $geometry, which must be a point of GeoJSON.
func (n *Near) parsePoint(v any) error {
	point, legacy, err := geo.ParseQueryPoint(v)
	switch {
	case err != nil && mongoerr.CodeOf(err) != mongoerr.BadValue:
		return err
	case err != nil:
		return mongoerr.New(mongoerr.BadValue, "invalid point in geo near query $geometry argument: %s  %s",
			bsonval.Text(v), readMessage(err))
	case legacy:
		return mongoerr.New(mongoerr.BadValue, "$near requires geojson point, given %s", bsonval.Text(v))
	}
	n.Point, n.GeoJSON, n.Sphere = point, true, true
	return nil
}

// parseBesideNear returns a parser that refuses the operator: $maxDistance without a $near before it, or a $near that
// doesn't stand first. parseNear reads all other places of these operators.
func parseBesideNear(name string) func(p *parser, arg any, all bson.D) (cond, error) {
	return func(_ *parser, _ any, all bson.D) (cond, error) {
		if isNear(name) {
			return nil, mongoerr.New(mongoerr.BadValue, "near must be first in: %s", bsonval.Text(all))
		}
		return nil, mongoerr.New(mongoerr.BadValue, "unknown operator: %s", name)
	}
}

// readMessage returns the message of an error without its code, as part of another error.
func readMessage(err error) string {
	var x *mongoerr.Error
	if errors.As(err, &x) {
		return x.Message
	}
	return err.Error()
}
