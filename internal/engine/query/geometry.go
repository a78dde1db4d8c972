package query

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// place is a pair of coordinates: longitude and latitude on the sphere.
type place struct{ x, y float64 }

func (p place) onSphere() bool { return math.Abs(p.x) <= 180 && math.Abs(p.y) <= 90 }

// vector is the place on the unit sphere.
func (p place) vector() [3]float64 {
	lng, lat := p.x*math.Pi/180, p.y*math.Pi/180
	return [3]float64{math.Cos(lat) * math.Cos(lng), math.Cos(lat) * math.Sin(lng), math.Sin(lat)}
}

// geometry is what a document stores: a point, or something that has several corners.
type geometry struct {
	point   bool
	corners []place // never empty
}

// geometryOf reads a stored geometry, false for what is none.
// https://www.mongodb.com/docs/manual/geospatial-queries/#geospatial-data
func geometryOf(v any) (geometry, bool) {
	d, isDocument := v.(bson.D)
	kind, _ := bsonval.Get(d, "type")
	if depth, isGeoJSON := geoJSON[kind]; isDocument && isGeoJSON {
		c, _ := bsonval.Get(d, "coordinates")
		list, ok := corners(nil, c, depth)
		return geometry{kind == "Point", list}, ok && len(list) > 0
	}
	if _, isArray := v.(bson.A); !isDocument && !isArray {
		return geometry{}, false
	}
	list, _ := elements(v)
	if len(list) > 2 { // what follows the coordinates is data
		list = list[:2]
	}
	p, err := parsePlace(list)
	return geometry{true, []place{p}}, err == nil
}

// geoJSON has the types of GeoJSON, with the depth of the arrays around their positions.
var geoJSON = map[any]int{"Point": 0, "MultiPoint": 1, "LineString": 1, "MultiLineString": 2, "Polygon": 2, "MultiPolygon": 3}

// corners appends the positions in arrays of a depth, false when something isn't one on the sphere.
func corners(list []place, v any, depth int) ([]place, bool) {
	a, ok := v.(bson.A)
	if depth == 0 {
		if len(a) > 2 { // an altitude
			a = a[:2]
		}
		p, err := parsePlace(a)
		return append(list, p), ok && err == nil && p.onSphere()
	}
	for _, x := range a {
		if list, ok = corners(list, x, depth-1); !ok {
			return nil, false
		}
	}
	return list, ok
}

// elements returns the values of an array, or of a document's fields.
func elements(v any) (bson.A, error) {
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
	return nil, mongoerr.New(mongoerr.BadValue, "Point must be an array or object, instead got type %s", bsonval.TypeName(v))
}

// parsePlace reads a pair of coordinates.
func parsePlace(v any) (place, error) {
	a, err := elements(v)
	if err != nil {
		return place{}, err
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
			return place{}, mongoerr.New(mongoerr.BadValue, "Point must only contain numeric elements, instead got type %s", bsonval.TypeName(x))
		case math.IsNaN(f) || math.IsInf(f, 0):
			return place{}, mongoerr.New(mongoerr.BadValue, "Point coordinates must be finite numbers")
		}
		c[i] = f
	}
	if len(a) > 2 {
		return place{}, mongoerr.New(mongoerr.BadValue, "Point must only contain two numeric elements")
	}
	return place{c[0], c[1]}, nil
}
