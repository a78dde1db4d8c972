package geo

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// failValue is the error of a value that is no shape.
func failValue(format string, args ...any) error {
	return mongoerr.New(mongoerr.BadValue, format, args...)
}

// shapes are the types of GeoJSON but for GeometryCollection.
var shapes = map[string]func(g *Geometry, v any) error{
	"Point": parsePoint, "MultiPoint": parsePoints, "LineString": parseLine,
	"MultiLineString": listOf("MultiLineString", parseLine), "Polygon": parsePolygon,
	"MultiPolygon": listOf("MultiPolygon", parsePolygon),
}

// typeOf returns the type of GeoJSON that a document says it is of.
func typeOf(v any) (d bson.D, name string, ok bool) {
	d, _ = v.(bson.D)
	t, _ := bsonval.Get(d, "type")
	name, _ = t.(string)
	return d, name, shapes[name] != nil || name == "GeometryCollection"
}

// Parse reads what a document stores: a shape of GeoJSON, or a legacy coordinate pair that other values may follow.
func Parse(v any) (*Geometry, error) {
	switch v.(type) {
	case bson.D, bson.A:
	default:
		return nil, failValue("geo element must be an array or object: %s", bsonval.Text(v))
	}
	if _, _, ok := typeOf(v); ok {
		return ParseGeoJSON(v)
	}
	p, err := parsePair(v, true)
	if err != nil {
		return nil, err
	}
	return newPair(p), nil
}

// ParseQueryPoint reads the point of a query: of GeoJSON, or a legacy coordinate pair.
func ParseQueryPoint(v any) (p Point, legacy bool, err error) {
	if _, _, ok := typeOf(v); !ok {
		p, err = ParsePair(v)
		return p, true, err
	}
	g, err := ParseGeoJSON(v)
	if err != nil {
		return p, false, err
	}
	p, ok := g.Point()
	if !ok {
		return p, false, failValue("geo query point must be a Point, not %s", bsonval.Text(v))
	}
	return p, false, nil
}

// ParseGeoJSON reads a shape of GeoJSON.
func ParseGeoJSON(v any) (*Geometry, error) {
	d, name, ok := typeOf(v)
	if !ok {
		return nil, failValue("unknown GeoJSON type: %s", bsonval.Text(v))
	}
	if err := checkCRS(d); err != nil {
		return nil, err
	}
	g := &Geometry{}
	if name == "GeometryCollection" {
		return g, parseCollection(g, d)
	}
	c, _ := bsonval.Get(d, "coordinates")
	return g, shapes[name](g, c)
}

// StrictCRS is MongoDB's reference system in which a ring encloses what is to its left. The engine refuses it.
const StrictCRS = "urn:x-mongodb:crs:strictwinding:EPSG:4326"

// checkCRS refuses reference systems other than MongoDB's default, by its two names.
func checkCRS(d bson.D) error {
	v, ok := bsonval.Get(d, "crs")
	if !ok {
		return nil
	}
	crs, ok := v.(bson.D)
	if !ok {
		return failValue("GeoJSON CRS must be an object")
	}
	if t, _ := bsonval.Get(crs, "type"); t != "name" {
		return failValue("GeoJSON CRS must have field \"type\": \"name\"")
	}
	v, _ = bsonval.Get(crs, "properties")
	properties, ok := v.(bson.D)
	if !ok {
		return failValue("CRS must have field \"properties\" which is an object")
	}
	v, _ = bsonval.Get(properties, "name")
	switch name, ok := v.(string); {
	case !ok:
		return failValue("In CRS, \"properties.name\" must be a string")
	case name == "EPSG:4326", name == "urn:ogc:def:crs:OGC:1.3:CRS84":
		return nil
	case name == StrictCRS:
		return mongoerr.New(mongoerr.NotImplemented, "The CRS %s isn't implemented by the embedded engine", name)
	default:
		return failValue("Unknown CRS name: %s", name)
	}
}

// parsePoint reads one position.
func parsePoint(g *Geometry, v any) error {
	p, err := parsePair(v, true)
	if err == nil {
		err = p.check()
	}
	if err == nil {
		g.addPoint(p)
	}
	return err
}

// parseCoordinates reads an array of positions.
func parseCoordinates(v any) ([]Point, error) {
	a, ok := v.(bson.A)
	if !ok {
		return nil, failValue("GeoJSON coordinates must be an array of coordinates")
	}
	list := make([]Point, 0, len(a))
	for _, x := range a {
		p, err := parsePair(x, true)
		if err == nil {
			err = p.check()
		}
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// parsePoints reads a list of positions, at least one.
func parsePoints(g *Geometry, v any) error {
	list, err := parseCoordinates(v)
	if err == nil && len(list) == 0 {
		err = failValue("MultiPoint coordinates must have at least 1 element")
	}
	for _, p := range list {
		g.addPoint(p)
	}
	return err
}

// parseLine reads a line of at least two different positions. Between opposite points of the sphere there is no
// shortest arc.
func parseLine(g *Geometry, v any) error {
	list, err := parseCoordinates(v)
	if err != nil {
		return err
	}
	at := slices.Compact(toVecs(list))
	if len(at) < 2 {
		return failValue("GeoJSON LineString must have at least 2 vertices: %s", bsonval.Text(v))
	}
	for i := 1; i < len(at); i++ {
		if at[i].plus(at[i-1], 1).norm() < 1e-15 {
			return failValue("Vertices %d and %d of a GeoJSON LineString are antipodal: %s", i-1, i, bsonval.Text(v))
		}
	}
	g.lines = append(g.lines, at)
	g.corners = append(g.corners, list...)
	return nil
}

// listOf returns a function that reads a list of shapes, at least one.
func listOf(name string, parse func(g *Geometry, v any) error) func(g *Geometry, v any) error {
	return func(g *Geometry, v any) error {
		a, ok := v.(bson.A)
		switch {
		case !ok:
			return failValue("%s coordinates must be an array", name)
		case len(a) == 0:
			return failValue("%s coordinates must have at least 1 element", name)
		}
		for _, x := range a {
			if err := parse(g, x); err != nil {
				return err
			}
		}
		return nil
	}
}

// parsePolygon reads a shell and the holes in it. A hole must lie in the shell, and may touch it.
func parsePolygon(g *Geometry, v any) error {
	a, ok := v.(bson.A)
	switch {
	case !ok:
		return failValue("Polygon coordinates must be an array")
	case len(a) == 0:
		return failValue("Polygon has no loops.")
	}
	var p polygon
	for i, x := range a {
		list, r, err := parseRing(x)
		if err != nil {
			return err
		}
		g.corners = append(g.corners, list...)
		if i == 0 {
			p.shell = r
			continue
		}
		if !p.shell.encloses(r) {
			return failValue("Secondary loops not contained by first exterior loop - secondary loops must be holes: "+
				"%s first loop: %s",
				bsonval.Text(x), bsonval.Text(a[0]))
		}
		p.holes = append(p.holes, r)
	}
	g.polygons = append(g.polygons, p)
	return nil
}

// parseRing reads a closed line of at least three different positions that doesn't cross itself.
func parseRing(v any) ([]Point, ring, error) {
	list, err := parseCoordinates(v)
	switch {
	case err != nil:
		return nil, ring{}, err
	case len(list) == 0:
		return nil, ring{}, failValue("Loop has no vertices: %s", bsonval.Text(v))
	case list[0] != list[len(list)-1]:
		return nil, ring{}, failValue("Loop is not closed: %s", bsonval.Text(v))
	}
	at := slices.Compact(toVecs(list))
	at = at[:len(at)-1]
	if len(at) < 3 {
		return nil, ring{}, failValue("Loop must have at least 3 different vertices: %s", bsonval.Text(v))
	}
	if p := describeProblem(at); p != "" {
		return nil, ring{}, failValue("Loop is not valid: %s %s", bsonval.Text(v), p)
	}
	if math.Abs(signedArea(at)) < 1e-16 {
		return nil, ring{}, failValue("Loop is not valid: %s it has no area", bsonval.Text(v))
	}
	return list, newRing(at), nil
}

// parseCollection reads a list of shapes that are no collections.
func parseCollection(g *Geometry, d bson.D) error {
	v, _ := bsonval.Get(d, "geometries")
	list, ok := v.(bson.A)
	switch {
	case !ok:
		return failValue("GeometryCollection geometries must be an array")
	case len(list) == 0:
		return failValue("GeometryCollection geometries must have at least 1 element")
	}
	for i, x := range list {
		_, name, _ := typeOf(x)
		if _, ok := x.(bson.D); !ok {
			return failValue("Element %d of \"geometries\" is not an object", i)
		}
		if name == "GeometryCollection" {
			return failValue("GeometryCollections cannot be nested: %s", bsonval.Text(x))
		}
		part, err := ParseGeoJSON(x)
		if err != nil {
			return err
		}
		g.add(part)
	}
	return nil
}
