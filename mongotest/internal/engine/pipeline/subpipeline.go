package pipeline

// This file has what stages with a pipeline over another collection share: $lookup, $unionWith, and in part
// $graphLookup, $merge and $out. It reads the collection's name, the variables and the pipeline, and runs the pipeline.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// subpipeline is a pipeline over another collection. A $match at its beginning is taken off, so that an index of the
// collection can serve it. $lookup runs a subpipeline for each document of its input.
type subpipeline struct {
	filter *query.Matcher // nil: all documents
	stages []stage        // behind the $match
}

// parseSubpipeline parses the stages of a subpipeline. p is the parser that enterCollection returned.
func (p *parser) parseSubpipeline(list bson.A) (*subpipeline, error) {
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

// runOver runs the pipeline over the documents of a collection that match m too. The variables of the run must be those
// of the pipeline. A nil pipeline has no stages, a nil matcher lets all documents through. A pipeline that begins with
// $documents reads no collection, and m applies to its documents.
//
// Of {$lookup: {localField: "a", foreignField: "b", pipeline: [{$match: {c: 1}}, {$sort: {d: 1}}]}}, m is the condition
// on b, the filter is {c: 1}, and the stages are the $sort. One query finds the documents by both conditions.
func (s *subpipeline) runOver(r *run, db, coll string, m *query.Matcher) Docs {
	var stages []stage
	if s != nil {
		stages = s.stages
		if s.filter != nil {
			m = query.RequireBoth(m, s.filter.Bind(r.base))
		}
	}
	if len(stages) > 0 {
		if own, ok := stages[0].(literalDocuments); ok {
			return runStages(r, stages[1:], filterDocs(own.run(r, nil), m))
		}
	}
	if m == nil {
		m = everything
	}
	return runStages(r, stages, r.env.Find(db, coll, m))
}

// everything matches all documents.
var everything = query.MustParse(nil)

// variable is a variable of let: its name without $$, and the expression that gives its value for each document.
type variable struct {
	name string
	e    expr.Expr
}

// parseLet parses the variables of $lookup and $merge, in the order in which they are given.
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
		out = append(out, variable{name: f.Key, e: e})
	}
	return out, nil
}

// parseTarget parses the collection of a stage: its name, or a document {db: "d", coll: "c"}. db is "" for the
// pipeline's database. stage is for errors.
func parseTarget(stage string, v any) (db, coll string, err error) {
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
					"BSON field '%s.%s' is the wrong type '%s', expected type 'string'",
					stage, f.Key, bsonval.TypeName(f.Value))
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
