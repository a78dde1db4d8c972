package pipeline

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// lookup is $lookup: by equality of two fields, by a pipeline, or by both.
type lookup struct {
	db, from       string
	as             []string
	local, foreign string // "" without equality
	let            []variable
	inner          *subpipeline // nil without a pipeline
}

type variable struct {
	name string
	e    expr.Expr
}

// subpipeline is a pipeline over another collection, whose leading $match the
// collection can serve.
type subpipeline struct {
	filter *query.Matcher // nil: all
	stages []stage
}

func (p *parser) subpipeline(list bson.A) (*subpipeline, error) {
	stages, err := p.parseStages(list)
	if err != nil {
		return nil, err
	}
	s := &subpipeline{stages: stages}
	if len(stages) > 0 {
		if m, ok := stages[0].(*match); ok {
			s.filter, s.stages = m.m, stages[1:]
		}
	}
	return s, nil
}

func parseLookup(p *parser, name string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(mongoerr.FailedToParse,
			"the $lookup specification must be an object, but found %s", bsonval.TypeName(arg))
	}
	s := &lookup{}
	var list any
	var let bson.D
	for _, f := range d {
		var err error
		switch f.Key {
		case "from":
			s.db, s.from, err = target(name, f.Value)
		case "as", "localField", "foreignField":
			err = s.text(f)
		case "let":
			if let, ok = f.Value.(bson.D); !ok {
				err = mongoerr.New(mongoerr.FailedToParse, "$lookup argument 'let: %s' must be an object, is type %s",
					expr.Show(f.Value), bsonval.TypeName(f.Value))
			}
		case "pipeline":
			list = f.Value
		default:
			err = mongoerr.New(mongoerr.FailedToParse, "unknown argument to $lookup: %s", f.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := s.check(list != nil, let != nil); err != nil {
		return nil, err
	}
	if list == nil {
		_, err := p.enterCollection(name, s.db, s.from)
		return s, err
	}
	return s, s.parsePipeline(p, list, let)
}

func (s *lookup) text(f bson.E) error {
	v, ok := f.Value.(string)
	if !ok {
		return mongoerr.New(mongoerr.FailedToParse, "$lookup argument '%s' must be a string, found %s", f.Key,
			bsonval.TypeName(f.Value))
	}
	if err := expr.CheckPath(v); err != nil {
		return err
	}
	switch f.Key {
	case "as":
		s.as = strings.Split(v, ".")
	case "localField":
		s.local = v
	default:
		s.foreign = v
	}
	return nil
}

func (s *lookup) check(pipeline, let bool) error {
	switch {
	case s.as == nil:
		return mongoerr.New(mongoerr.FailedToParse, "must specify 'as' field for a $lookup")
	case s.from == "" && !pipeline:
		return mongoerr.New(mongoerr.FailedToParse, "must specify 'from' field for a $lookup")
	case (s.local == "") != (s.foreign == ""):
		return mongoerr.New(mongoerr.FailedToParse,
			"$lookup requires both or neither of 'localField' and 'foreignField' to be specified")
	case s.local == "" && !pipeline:
		return mongoerr.New(mongoerr.FailedToParse,
			"$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified")
	case let && !pipeline:
		return mongoerr.New(mongoerr.FailedToParse, "$lookup with a 'let' argument must also specify 'pipeline'")
	}
	return nil
}

func (s *lookup) parsePipeline(p *parser, list any, let bson.D) error {
	stages, ok := list.(bson.A)
	if !ok {
		return mongoerr.New(mongoerr.TypeMismatch, "'pipeline' option must be specified as an array")
	}
	if s.from == "" {
		if err := checkDocuments("$lookup", stages); err != nil {
			return err
		}
	}
	var err error
	if s.let, err = parseLet(p, let); err != nil {
		return err
	}
	names := make([]string, len(s.let))
	for i, v := range s.let {
		names[i] = v.name
	}
	inside, err := p.enterCollection("$lookup", s.db, s.from, names...)
	if err == nil {
		s.inner, err = inside.subpipeline(stages)
	}
	if err == nil && s.local != "" && len(s.inner.stages) > 0 {
		switch s.inner.stages[0].(type) {
		case *collStats, indexStats: // the join would be before it
			err = newNotFirstError(stages[0].(bson.D)[0].Key)
		}
	}
	return err
}

func parseLet(p *parser, let bson.D) ([]variable, error) {
	var out []variable
	for _, f := range let {
		if err := expr.CheckVariable(f.Key); err != nil {
			return nil, err
		}
		e, err := expr.Parse(f.Value, p.scope)
		if err != nil {
			return nil, err
		}
		out = append(out, variable{f.Key, e})
	}
	return out, nil
}

// target parses the name of a collection, or {db, coll}.
func target(stage string, v any) (db, coll string, err error) {
	switch x := v.(type) {
	case string:
		coll = x
	case bson.D:
		for _, f := range x {
			s, ok := f.Value.(string)
			switch {
			case ok && f.Key == "db":
				db = s
			case ok && f.Key == "coll":
				coll = s
			case f.Key == "db" || f.Key == "coll":
				return "", "", mongoerr.New(mongoerr.TypeMismatch,
					"BSON field '%s.%s' is the wrong type '%s', expected type 'string'", stage, f.Key, bsonval.TypeName(f.Value))
			default:
				return "", "", mongoerr.New(mongoerr.FailedToParse,
					"%s: unknown or wrong field in the collection's name: %s", stage, f.Key)
			}
		}
	default:
		return "", "", mongoerr.New(mongoerr.FailedToParse,
			"%s: a collection must be a string or an object with db and coll, found %s", stage, bsonval.TypeName(v))
	}
	if coll == "" {
		return "", "", mongoerr.New(mongoerr.InvalidNamespace, "%s: the collection's name is empty", stage)
	}
	return db, coll, nil
}

func (s *lookup) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		var same bson.A // what every document gets when nothing depends on it
		constant := s.local == "" && len(s.let) == 0
		for d, err := range in {
			found := same
			if err == nil && (found == nil || !constant) {
				found, err = s.find(r, d)
				same = found
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(setPath(d, s.as, found), nil) {
				return
			}
		}
	}
}

func (s *lookup) find(r *run, d bson.D) (bson.A, error) {
	inner := *r
	c := r.base.On(d)
	for _, v := range s.let {
		x, err := v.e.Eval(c)
		if err != nil {
			return nil, err
		}
		inner.base = inner.base.With(v.name, x)
	}
	var m *query.Matcher
	if s.local != "" {
		var err error
		if m, err = equality(s.foreign, localValues(d, bsonval.ParsePath(s.local)), r.by); err != nil {
			return nil, err
		}
		m = m.Bind(inner.base)
	}
	out, used := bson.A{}, 0
	for x, err := range s.inner.over(&inner, s.db, s.from, m) {
		if err != nil {
			return nil, err
		}
		if used += bsonval.SizeOf(x, expr.MaxMemory); used > expr.MaxMemory {
			return nil, mongoerr.New(4568, "Total size of documents in %s matching pipeline's $lookup stage exceeds %d bytes",
				s.from, expr.MaxMemory)
		}
		out = append(out, x)
	}
	return out, nil
}

// over runs the pipeline over the documents of a collection that match m too.
// A nil pipeline has no stages, a nil matcher lets everything through.
func (s *subpipeline) over(r *run, db, coll string, m *query.Matcher) Docs {
	var stages []stage
	if s != nil {
		stages = s.stages
		if s.filter != nil {
			m = query.RequireBoth(m, s.filter.Bind(r.base))
		}
	}
	if len(stages) > 0 {
		if own, ok := stages[0].(literalDocuments); ok {
			return runStages(r, stages[1:], matching(own.run(r, nil), m))
		}
	}
	if m == nil {
		m = everything
	}
	return runStages(r, stages, r.env.Find(db, coll, m))
}

// matching returns the documents that match, all if m is nil.
func matching(in Docs, m *query.Matcher) Docs {
	if m == nil {
		return in
	}
	return func(yield func(bson.D, error) bool) {
		for d, err := range in {
			matched := err == nil
			if matched {
				matched, err = m.Match(d)
			}
			if (matched || err != nil) && !yield(d, err) || err != nil {
				return
			}
		}
	}
}

var everything = query.MustParse(nil)

// equality matches documents whose field equals one of the values under a collation.
func equality(field string, values bson.A, by *collation.Collator) (*query.Matcher, error) {
	isRegex := func(v any) bool { _, ok := v.(bson.Regex); return ok }
	if !slices.ContainsFunc(values, isRegex) {
		return query.Parse(bson.D{{Key: field, Value: bson.D{{Key: "$in", Value: values}}}}, query.Options{Collation: by})
	}
	branches := make(bson.A, len(values))
	for i, v := range values {
		branches[i] = bson.D{{Key: field, Value: bson.D{{Key: "$eq", Value: v}}}}
	}
	return query.Parse(bson.D{{Key: "$or", Value: branches}}, query.Options{Collation: by})
}

// localValues returns the values to join by: each element of an array, null when there is none.
func localValues(d bson.D, path bsonval.Path) bson.A {
	var out bson.A
	visit(d, path, func(v any) { out = append(out, v) })
	if len(out) == 0 {
		return bson.A{nil}
	}
	return out
}

func visit(d bson.D, path bsonval.Path, f func(v any)) {
	v, _ := bsonval.Get(d, path[0].Name)
	path = path[1:]
	for len(path) > 0 && path[0].Index >= 0 {
		a, ok := v.(bson.A)
		if !ok {
			break
		}
		v = bsonval.Missing
		if path[0].Index < len(a) {
			v = a[path[0].Index]
		}
		path = path[1:]
	}
	a, isArray := v.(bson.A)
	switch {
	case bsonval.IsMissing(v):
	case len(path) == 0 && isArray:
		for _, x := range a {
			f(x)
		}
	case len(path) == 0:
		f(v)
	case isArray:
		for _, x := range a {
			if d, ok := x.(bson.D); ok {
				visit(d, path, f)
			}
		}
	default:
		if d, ok := v.(bson.D); ok {
			visit(d, path, f)
		}
	}
}
