package pipeline

// This file has $geoNear. The stage itself only stores the distance: a filter with $near finds and orders the
// documents. The command aggregate does it in these steps:
//
//  1. Pipeline.GeoNear returns a NearQuery if the pipeline begins with the stage.
//  2. NearQuery.Filter makes the filter, with the path of the collection's geospatial index.
//  3. Package plan finds the documents by the filter.
//  4. NearQuery.MeasureBy gives the stage the parsed condition, by which it computes the distances again.

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// geoNear is $geoNear: documents in the order of their distances from a point, with the distance.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/geoNear/
//
//	{$geoNear: {near: {type: "Point", coordinates: [10, 50]}, distanceField: "d", maxDistance: 500}}
//
//	{_id: 7, at: {type: "Point", coordinates: [10.001, 50]}, d: 71.55}
type geoNear struct {
	near        expr.Expr   // a point; it may refer to variables of the command, not to a document
	least, most expr.Expr   // minDistance and maxDistance; nil without a limit
	spherical   bool        // a legacy point is measured on the sphere
	multiplier  float64     // distances are multiplied by it before they are stored
	filter      bson.D      // query: a further condition
	key         string      // the path of the geometries; "" means that of the collection's only geospatial index
	distance    []string    // the path at which the distance is stored
	place       []string    // the path at which the geometry is stored, nil: it isn't
	by          *query.Near // set by MeasureBy; if nil, documents are passed on as they are
}

// parseGeoNear parses the options. The stage can only be the first, and its filter can't be used within another stage.
func parseGeoNear(p *parser, _ string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(10065, "invalid parameter: expected an object ($geoNear)")
	}
	if p.depth > 0 {
		return nil, mongoerr.New(mongoerr.NotImplemented,
			"$geoNear in the pipeline of a %s isn't implemented by the embedded engine", p.owner)
	}
	s := &geoNear{multiplier: 1}
	for _, f := range d {
		if err := s.parseOption(p, f); err != nil {
			return nil, err
		}
	}
	switch {
	case s.near == nil:
		return nil, mongoerr.New(5860400, "$geoNear requires a 'near' argument")
	case s.distance == nil:
		return nil, mongoerr.New(16606, "$geoNear requires a 'distanceField' option as a String")
	}
	return s, nil
}

// movedOptions are options of earlier versions, with the codes of the errors by which MongoDB refuses them.
var movedOptions = map[string]int32{"limit": 50858, "num": 50857, "start": 50856}

// parseOption parses one option. Distances may depend on variables, so Filter checks them.
func (s *geoNear) parseOption(p *parser, f bson.E) (err error) {
	wrong := func(want string) error {
		return mongoerr.New(mongoerr.TypeMismatch, "$geoNear parameter '%s' must be of type %s but found type: %s",
			f.Key, want, bsonval.TypeName(f.Value))
	}
	switch f.Key {
	case "near":
		s.near, err = expr.Parse(f.Value, p.scope)
	case "minDistance":
		s.least, err = expr.Parse(f.Value, p.scope)
	case "maxDistance":
		s.most, err = expr.Parse(f.Value, p.scope)
	case "distanceField":
		s.distance, err = parseFieldPath(f, 16606, "$geoNear requires a 'distanceField' option as a String")
	case "includeLocs":
		s.place, err = parseFieldPath(f, 16607, "$geoNear requires that 'includeLocs' option is a String")
	case "spherical":
		s.spherical = bsonval.Truthy(f.Value)
	case "distanceMultiplier":
		x, ok := bsonval.Float(f.Value)
		if !ok {
			return wrong("number")
		}
		if s.multiplier = x; !(x >= 0) {
			return mongoerr.New(mongoerr.BadValue, "$geoNear parameter 'distanceMultiplier' must be non-negative")
		}
	case "query":
		var ok bool
		if s.filter, ok = f.Value.(bson.D); !ok {
			return wrong("object")
		}
		// Only to report a mistake: the filter becomes a part of the one that Filter returns.
		_, err = query.Parse(s.filter, query.Options{Scope: &p.scope})
	case "key":
		var ok bool
		if s.key, ok = f.Value.(string); !ok {
			return wrong("string")
		}
		if s.key == "" {
			return mongoerr.New(mongoerr.BadValue, "$geoNear parameter 'key' cannot be the empty string")
		}
	case "uniqueDocs": // changes nothing
	case "collation":
		return mongoerr.New(40227,
			"$geoNear does not accept the 'collation' parameter. Instead, specify a collation for the entire "+
				"aggregation command.")
	default:
		if code, moved := movedOptions[f.Key]; moved {
			return mongoerr.New(code,
				"$geoNear no longer supports the '%s' parameter. Use a $limit stage instead.", f.Key)
		}
		return mongoerr.New(mongoerr.BadValue, "unrecognized option to $geoNear: %s", f.Key)
	}
	return err
}

// parseFieldPath reads the path of an option, or returns the error of a value that is no string.
func parseFieldPath(f bson.E, code int32, problem string) ([]string, error) {
	name, ok := f.Value.(string)
	if !ok {
		return nil, mongoerr.New(code, "%s", problem)
	}
	return strings.Split(name, "."), expr.CheckPath(name)
}

// NearQuery is the query that a pipeline that begins with $geoNear makes on its collection.
type NearQuery struct{ stage *geoNear }

// GeoNear returns the query of a pipeline that begins with $geoNear, nil for another.
func (p *Pipeline) GeoNear() *NearQuery {
	if len(p.stages) == 0 {
		return nil
	}
	s, ok := p.stages[0].(*geoNear)
	if !ok {
		return nil
	}
	return &NearQuery{s}
}

// Key returns the path that the stage names, "" if it names none.
func (q *NearQuery) Key() string { return q.stage.key }

// Filter returns the filter that finds the documents: {path: {$near: point, $minDistance: 1, $maxDistance: 5}},
// together with the stage's query. path is Key, or the path that the caller has found in the collection's indexes. c
// has the command's variables. For a GeoJSON point, $near measures on the sphere too.
func (q *NearQuery) Filter(path string, c *expr.Context) (bson.D, error) {
	s := q.stage
	near, err := s.near.Eval(c)
	if err != nil {
		return nil, err
	}
	switch near.(type) {
	case bson.D, bson.A:
	default:
		return nil, mongoerr.New(5860401,
			"$geoNear requires the 'near' argument to be an object or array, found %s", bsonval.TypeName(near))
	}
	// spherical matters for a legacy point only.
	op := "$near"
	if s.spherical {
		op = "$nearSphere"
	}
	// In $near, $minDistance and $maxDistance stand beside the point, also a point of GeoJSON.
	condition := bson.D{{Key: op, Value: near}}
	for _, x := range []struct {
		name string
		e    expr.Expr
	}{{"minDistance", s.least}, {"maxDistance", s.most}} {
		if x.e == nil {
			continue
		}
		v, err := x.e.Eval(c)
		if err != nil {
			return nil, err
		}
		n, ok := bsonval.Float(v)
		switch {
		case !ok:
			return nil, mongoerr.New(mongoerr.TypeMismatch,
				"$geoNear requires that the '%s' option is a number, found %s",
				x.name, bsonval.TypeName(v))
		case !(n >= 0):
			return nil, mongoerr.New(mongoerr.BadValue, "$geoNear: %s must be nonnegative, found %v", x.name, n)
		}
		condition = append(condition, bson.E{Key: "$" + x.name, Value: n})
	}
	filter := bson.D{{Key: path, Value: condition}}
	if len(s.filter) > 0 {
		filter = bson.D{{Key: "$and", Value: bson.A{filter, s.filter}}}
	}
	return filter, nil
}

// MeasureBy returns the pipeline p for documents that a filter with the condition n has found, in the order of their
// distances. p must be the pipeline that returned q.
func (q *NearQuery) MeasureBy(p *Pipeline, n *query.Near) *Pipeline {
	next, s := *p, *q.stage
	s.by = n
	next.stages = append([]stage{&s}, p.stages[1:]...)
	return &next
}

// run stores the distance in each document. The documents come in the right order.
func (s *geoNear) run(_ *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		for d, err := range in {
			if err == nil && s.by != nil {
				d = s.setDistance(d)
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// setDistance returns a document with its distance, and with the geometry that it was measured from.
func (s *geoNear) setDistance(d bson.D) bson.D {
	distance, at, _ := s.by.Distance(d)
	d = setPath(d, s.distance, distance*s.multiplier)
	if s.place != nil {
		d = setPath(d, s.place, at)
	}
	return d
}
