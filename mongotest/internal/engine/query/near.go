package query

import (
	"errors"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/geo"
)

// Near is the condition of $near, $nearSphere and $geoNear: a distance from a point. Documents that fulfill it come in
// the order of their distances.
// https://www.mongodb.com/docs/manual/reference/operator/query/near/
type Near struct {
	Path    string
	Point   geo.Point
	Sphere  bool // distances are on the sphere, not in the plane
	Radians bool // they are in radians, not in meters
	GeoJSON bool // the point is one of GeoJSON, for which a 2d index won't do

	Min, Max float64
}

// Distance returns the least distance of what the document has at the path, and that geometry; false if it has none.
func (n *Near) Distance(d bson.D) (distance float64, at any, ok bool) {
	var found collector
	leaf{&found}.onPath(bsonval.ParsePath(n.Path), d, nil)
	distance = math.Inf(1)
	for _, v := range found.values {
		list := bson.A{v}
		if a, isArray := v.(bson.A); isArray && len(a) > 0 && !bsonval.IsNumber(a[0]) {
			list = a
		}
		for _, v := range list {
			if x, there := n.to(v); there && x < distance {
				distance, at, ok = x, v, true
			}
		}
	}
	return distance, at, ok
}

func (n *Near) to(v any) (float64, bool) {
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

// UsesSphere reports whether a 2dsphere index serves the condition; a 2d index serves those that are no GeoJSON.
func (n *Near) UsesSphere() bool { return n.Sphere }

// UsesPlain reports whether a 2d index serves the condition.
func (n *Near) UsesPlain() bool { return !n.GeoJSON }

// nearby is Near as a condition.
type nearby struct{ n *Near }

func (c nearby) onValue(any, *int) bool { return false }

func (c nearby) onPath(_ bsonval.Path, d bson.D, _ *int) bool {
	x, _, ok := c.n.Distance(d)
	return ok && c.n.Min <= x && x <= c.n.Max
}

// Near returns the condition on a distance that every match must fulfill, or nil.
func (m *Matcher) Near() *Near {
	for _, n := range appendConjuncts(nil, m.root) {
		if p, ok := n.(onPath); ok {
			if c, ok := p.cond.(nearby); ok {
				return c.n
			}
		}
	}
	return nil
}

// isNear reports whether an operator's argument and what stands beside it are a condition on a distance.
func isNear(name string) bool { return name == "$near" || name == "$nearSphere" || name == "$geoNear" }

// parseNear reads all that stands at a path whose first operator is $near or one like it.
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
	n := &Near{Path: path, Max: math.Inf(1)}
	done, err := n.parseLegacy(all)
	if err == nil && !done {
		*n = Near{Path: path, Max: math.Inf(1)}
		err = n.parse(all)
	}
	if err != nil {
		return nil, err
	}
	if n.Sphere && !n.Point.OnSphere() {
		return nil, mongoerr.New(mongoerr.BadValue, "Legacy point is out of bounds for spherical query")
	}
	return nearby{n}, nil
}

// parseLegacy reads {$near: point, $minDistance, $maxDistance}, false if it is written in the other way.
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
				if point, done = n.withMax(f.Value); !done {
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
			n.Min, err = limit(f, 16893, 16894)
		case "$maxDistance":
			n.Max, err = limit(f, 16895, 16896)
		default:
			err = mongoerr.New(34413, "invalid argument in geo near query: %s", f.Key)
		}
		if err != nil {
			return false, err
		}
	}
	return done, nil
}

// withMax reads a pair of coordinates that the greatest distance follows.
func (n *Near) withMax(v any) (geo.Point, bool) {
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

func limit(f bson.E, noNumber, negative int32) (float64, error) {
	x, ok := bsonval.Float(f.Value)
	switch {
	case !ok:
		return 0, mongoerr.New(noNumber, "%s must be a number", f.Key)
	case !(x >= 0):
		return 0, mongoerr.New(negative, "%s must be non-negative", f.Key)
	}
	return x, nil
}

// parse reads {$near: {$geometry, $minDistance, $maxDistance}}.
func (n *Near) parse(all bson.D) error {
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
			n.Min, err = limit(f, mongoerr.BadValue, mongoerr.BadValue)
		case "$maxDistance":
			n.Max, err = limit(f, mongoerr.BadValue, mongoerr.BadValue)
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

// parseBesideNear refuses an operator that only $near has beside it, and one that must stand first.
func parseBesideNear(name string) func(p *parser, arg any, all bson.D) (cond, error) {
	return func(_ *parser, _ any, all bson.D) (cond, error) {
		if isNear(name) {
			return nil, mongoerr.New(mongoerr.BadValue, "near must be first in: %s", bsonval.Text(all))
		}
		return nil, mongoerr.New(mongoerr.BadValue, "unknown operator: %s", name)
	}
}

// readMessage returns the message of an error without its code.
func readMessage(err error) string {
	var x *mongoerr.Error
	if errors.As(err, &x) {
		return x.Message
	}
	return err.Error()
}
