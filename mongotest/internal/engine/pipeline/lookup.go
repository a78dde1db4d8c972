package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// lookup is $lookup: it adds an array of documents of another collection to each document. They are found by the
// equality of two fields, by a pipeline, or by both.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/lookup/
//
//	{$lookup: {from: "parts", localField: "part", foreignField: "_id", as: "found"}}
//	{$lookup: {from: "parts", let: {n: "$n"}, pipeline: [{$match: {$expr: {$gt: ["$w", "$$n"]}}}], as: "found"}}
//
//	{_id: 1, part: "x"}   gives   {_id: 1, part: "x", found: [{_id: "x", w: 5}]}
//
// A document that finds nothing gets an empty array. Null and a missing localField find documents whose foreignField is
// null or missing.
type lookup struct {
	db, from       string   // see parseTarget
	as             []string // the path of the array
	local, foreign string   // paths; "" without equality
	let            []variable
	inner          *subpipeline // nil without a pipeline
}

// parseLookup parses the options. The pipeline is parsed last, because it needs the collection and the variables.
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
			s.db, s.from, err = parseTarget(name, f.Value)
		case "as", "localField", "foreignField":
			err = s.parseField(f)
		case "let":
			if let, ok = f.Value.(bson.D); !ok {
				err = mongoerr.New(mongoerr.FailedToParse, "$lookup argument 'let: %s' must be an object, is type %s",
					bsonval.Show(f.Value), bsonval.TypeName(f.Value))
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
	if err := s.checkOptions(list != nil, let != nil); err != nil {
		return nil, err
	}
	if list == nil {
		_, err := p.enterCollection(name, s.db, s.from)
		return s, err
	}
	return s, s.parsePipeline(p, list, let)
}

// parseField parses one of the options that are strings. All three are paths.
func (s *lookup) parseField(f bson.E) error {
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

// checkOptions refuses options that don't go together. pipeline and let say whether these options are given.
func (s *lookup) checkOptions(pipeline, let bool) error {
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

// parsePipeline parses the variables and the pipeline. The expressions of the variables see the outer document, and the
// pipeline sees the variables of let and those of the command. Without a from, it must begin with $documents.
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
		s.inner, err = inside.parseSubpipeline(stages)
	}
	if err == nil && s.local != "" && len(s.inner.stages) > 0 {
		switch s.inner.stages[0].(type) {
		// The equality is a $match before the pipeline, and these stages must be the first.
		case *collStats, indexStats:
			err = newNotFirstError(stages[0].(bson.D)[0].Key)
		}
	}
	return err
}

// run queries the collection for each document. An index on foreignField serves the equality.
func (s *lookup) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		// Without equality and variables, all documents get the same array, which is computed once.
		var same bson.A
		constant := s.local == "" && len(s.let) == 0
		for d, err := range in {
			found := same
			if err == nil && (found == nil || !constant) {
				found, err = s.findMatches(r, d)
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

// findMatches returns the array of one document. The variables of let are evaluated on it, and bound for the pipeline.
// All documents together may have 100 MB.
func (s *lookup) findMatches(r *run, d bson.D) (bson.A, error) {
	// The pipeline has a run of its own, with the variables of this document.
	inner := *r
	c := r.base.ForDocument(d)
	for _, v := range s.let {
		x, err := v.e.Eval(c)
		if err != nil {
			return nil, err
		}
		inner.base = inner.base.WithVariable(v.name, x)
	}
	var m *query.Matcher
	if s.local != "" {
		var err error
		if m, err = makeEquality(s.foreign, listLocalValues(d, bsonval.ParsePath(s.local)), r.by); err != nil {
			return nil, err
		}
		m = m.Bind(inner.base)
	}
	// used is in bytes. The documents are only measured up to the limit.
	out, used := bson.A{}, 0
	for x, err := range s.inner.runOver(&inner, s.db, s.from, m) {
		if err != nil {
			return nil, err
		}
		if used += bsonval.SizeOf(x, expr.MaxMemory); used > expr.MaxMemory {
			return nil, mongoerr.New(4568,
				"Total size of documents in %s matching pipeline's $lookup stage exceeds %d bytes",
				s.from, expr.MaxMemory)
		}
		out = append(out, x)
	}
	return out, nil
}
