package query

// This file has $geoWithin and $geoIntersects. Package geo has the shapes. near.go has conditions on distances.

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/geo"
)

// geoWithin is the predicate of $geoWithin, and of its older name $within. It passes for geometries that lie in an
// area. A value that is no geometry doesn't pass, and isn't an error.
// https://www.mongodb.com/docs/manual/reference/operator/query/geoWithin/
type geoWithin struct{ area geo.Area }

func (w geoWithin) test(v any, _ *int) bool {
	g, err := geo.Parse(v)
	return err == nil && w.area.Contains(g)
}

func (geoWithin) takesArrays() bool { return false }

// geoIntersects is the predicate of $geoIntersects. It passes for geometries on the sphere that have a point in common
// with another one.
// https://www.mongodb.com/docs/manual/reference/operator/query/geoIntersects/
type geoIntersects struct{ with *geo.Geometry }

func (m geoIntersects) test(v any, _ *int) bool {
	g, err := geo.Parse(v)
	return err == nil && g.OnSphere() && m.with.Intersects(g)
}

func (geoIntersects) takesArrays() bool { return false }

// Areas returns the names of the shapes that $geoWithin takes, such as "$box", sorted. Package operators tests each.
func Areas() []string { return slices.Sorted(maps.Keys(geo.Areas)) }

// parseGeoWithin parses {$geoWithin: {$box: [[0, 0], [2, 2]]}}. Points and lines are no areas, and are refused.
func parseGeoWithin(_ *parser, arg any, all bson.D) (cond, error) {
	area, err := parseArea(arg, all)
	if err != nil {
		return nil, err
	}
	if g, ok := area.(*geo.Geometry); ok && !g.HasArea() {
		return nil, mongoerr.New(mongoerr.BadValue,
			"$within not supported with provided geometry: %s", bsonval.Show(all))
	}
	return leaf{geoWithin{area}}, nil
}

// parseGeoIntersects parses {$geoIntersects: {$geometry: {type: "Point", coordinates: [1, 2]}}}. Shapes of the plane,
// such as $box, are refused.
func parseGeoIntersects(_ *parser, arg any, all bson.D) (cond, error) {
	area, err := parseArea(arg, all)
	if err != nil {
		return nil, err
	}
	g, ok := area.(*geo.Geometry)
	if !ok {
		return nil, mongoerr.New(mongoerr.BadValue,
			"$geoIntersect not supported with provided geometry: %s", bsonval.Show(all))
	}
	return leaf{geoIntersects{g}}, nil
}

// parseArea reads the one shape of an operator. all is the document of the operator, in which it must stand alone.
func parseArea(arg any, all bson.D) (geo.Area, error) {
	if len(all) > 1 {
		return nil, mongoerr.New(mongoerr.BadValue,
			"can't parse extra field: %s: %s", all[1].Key, bsonval.Show(all[1].Value))
	}
	d, ok := arg.(bson.D)
	switch {
	case !ok:
		return nil, mongoerr.New(mongoerr.BadValue, "geometry must be an object")
	case len(d) == 0:
		return nil, mongoerr.New(mongoerr.BadValue, "geo query doesn't have any geometry")
	case len(d) > 1:
		return nil, mongoerr.New(mongoerr.BadValue,
			"%s doesn't accept multiple shapes %s", all[0].Key, bsonval.Show(all))
	}
	parse := geo.Areas[d[0].Key]
	if parse == nil {
		return nil, mongoerr.New(mongoerr.BadValue, "unknown geo specifier: %s: %s", d[0].Key, bsonval.Show(d[0].Value))
	}
	return parse(d[0].Value)
}
