package pipeline

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// geoNear is $geoNear: documents by their distance from a point, with the distance.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/geoNear/
type geoNear struct {
	near, least, most expr.Expr // constants, or variables of the command
	spherical         bool
	multiplier        float64
	filter            bson.D
	key               string // "" means that of the collection's only geospatial index
	distance, place   []string
	by                *query.Near // set once the documents come from the index
}

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
		if err := s.option(p, f); err != nil {
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

// movedOptions are options of earlier versions, which MongoDB refuses.
var movedOptions = map[string]int32{"limit": 50858, "num": 50857, "start": 50856}

func (s *geoNear) option(p *parser, f bson.E) (err error) {
	wrong := func(want string) error {
		return mongoerr.New(mongoerr.TypeMismatch, "$geoNear parameter '%s' must be of type %s but found type: %s", f.Key,
			want, bsonval.TypeName(f.Value))
	}
	switch f.Key {
	case "near":
		s.near, err = expr.Parse(f.Value, p.scope)
	case "minDistance":
		s.least, err = expr.Parse(f.Value, p.scope)
	case "maxDistance":
		s.most, err = expr.Parse(f.Value, p.scope)
	case "distanceField":
		s.distance, err = fieldPath(f, 16606, "$geoNear requires a 'distanceField' option as a String")
	case "includeLocs":
		s.place, err = fieldPath(f, 16607, "$geoNear requires that 'includeLocs' option is a String")
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
			"$geoNear does not accept the 'collation' parameter. Instead, specify a collation for the entire aggregation command.")
	default:
		if code, moved := movedOptions[f.Key]; moved {
			return mongoerr.New(code, "$geoNear no longer supports the '%s' parameter. Use a $limit stage instead.", f.Key)
		}
		return mongoerr.New(mongoerr.BadValue, "unrecognized option to $geoNear: %s", f.Key)
	}
	return err
}

func fieldPath(f bson.E, code int32, problem string) ([]string, error) {
	name, ok := f.Value.(string)
	if !ok {
		return nil, mongoerr.New(code, "%s", problem)
	}
	return strings.Split(name, "."), expr.CheckPath(name)
}

// NearQuery is what a pipeline that begins with $geoNear asks of its collection.
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

// Filter returns the filter of the documents, whose geometry is at a path.
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
	op := "$near"
	if s.spherical {
		op = "$nearSphere"
	}
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
			return nil, mongoerr.New(mongoerr.TypeMismatch, "$geoNear requires that the '%s' option is a number, found %s",
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

// After returns the pipeline for the documents that the condition finds, in the order of their distances.
func (q *NearQuery) After(p *Pipeline, n *query.Near) *Pipeline {
	next, s := *p, *q.stage
	s.by = n
	next.stages = append([]stage{&s}, p.stages[1:]...)
	return &next
}

func (s *geoNear) run(_ *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		for d, err := range in {
			if err == nil && s.by != nil {
				d = s.note(d)
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

func (s *geoNear) note(d bson.D) bson.D {
	distance, at, _ := s.by.Distance(d)
	d = put(slices.Clone(d), s.distance, distance*s.multiplier)
	if s.place != nil {
		d = put(d, s.place, at)
	}
	return d
}

// put sets a field of a document, and of documents within, which it makes where there are none.
func put(d bson.D, path []string, v any) bson.D {
	if len(path) > 1 {
		old, _ := bsonval.Get(d, path[0])
		inner, _ := old.(bson.D)
		v = put(slices.Clone(inner), path[1:], v)
	}
	return bsonval.SetField(d, path[0], v)
}
