package pipeline

// This file has $unionWith and $facet, which combine the results of several pipelines.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// unionWith is $unionWith: the documents of the input, and then the documents of a pipeline over another
// collection.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/unionWith/
//
//	[{$match: {open: true}}, {$unionWith: {coll: "archive", pipeline: [{$match: {open: true}}]}}]
//
// The pipeline has no variables of its own. It runs when the input has ended.
type unionWith struct {
	db, coll string // see parseTarget; "" if the pipeline has documents of its own
	inner    *subpipeline
}

// NewTransactionError returns the error of a stage that a transaction doesn't allow. The engine returns it for
// statistics.
func NewTransactionError(stage string) error {
	return mongoerr.New(mongoerr.OperationNotSupportedInTransaction,
		"Stage not supported inside of a multi-document transaction: %s", stage)
}

// parseUnionWith parses {$unionWith: "c"} and {$unionWith: {coll: "c", pipeline: [...]}}. A collection isn't needed if
// the pipeline begins with $documents.
func parseUnionWith(p *parser, name string, arg any) (stage, error) {
	if p.env != nil && p.env.InTransaction() {
		return nil, NewTransactionError(name)
	}
	// A string is the collection, with no stages. In a document, db and coll are checked by parseTarget.
	s := &unionWith{}
	list := bson.A{}
	var from any = arg
	named := true
	if d, ok := arg.(bson.D); ok {
		from = nil
		names := bson.D{}
		for _, f := range d {
			switch f.Key {
			case "coll", "db":
				names = append(names, f)
			case "pipeline":
				if list, ok = f.Value.(bson.A); !ok {
					return nil, mongoerr.New(mongoerr.TypeMismatch,
						"BSON field '$unionWith.pipeline' is the wrong type '%s', expected type 'array'",
						bsonval.TypeName(f.Value))
				}
			default:
				return nil, mongoerr.New(mongoerr.IDLUnknownField,
					"BSON field '$unionWith.%s' is an unknown field.", f.Key)
			}
		}
		from, named = names, len(names) > 0
	}
	var err error
	if named {
		s.db, s.coll, err = parseTarget(name, from)
	} else {
		err = checkDocuments(name, list)
	}
	if err != nil {
		return nil, err
	}
	inside, err := p.enterCollection(name, s.db, s.coll)
	if err != nil {
		return nil, err
	}
	s.inner, err = inside.parseSubpipeline(list)
	return s, err
}

func (s *unionWith) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		for _, part := range []Docs{in, s.inner.runOver(r, s.db, s.coll, nil)} {
			for d, err := range part {
				if !yield(d, err) || err != nil {
					return
				}
			}
		}
	}
}

// facet is $facet: several pipelines over the same documents. The result is one document with an array for each
// pipeline. https://www.mongodb.com/docs/manual/reference/operator/aggregation/facet/
//
//	{$facet: {byTag: [{$sortByCount: "$tag"}], cheapest: [{$sort: {price: 1}}, {$limit: 1}]}}
//
//	{byTag: [{_id: "a", count: 2}, {_id: "b", count: 1}], cheapest: [{_id: 7, price: 1}]}
type facet []struct {
	name   string
	stages []stage
}

// parseFacet parses the pipelines, which have the variables of the outer one. parser.checkPlace refuses stages that a
// facet can't have.
func parseFacet(p *parser, _ string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok || len(d) == 0 {
		return nil, mongoerr.New(40169, "the $facet specification must be a non-empty object")
	}
	s := make(facet, len(d))
	inner := p.enterPipeline("$facet")
	for i, f := range d {
		list, ok := f.Value.(bson.A)
		if !ok {
			return nil, mongoerr.New(40170, "arguments to $facet must be arrays, %s is type %s", f.Key,
				bsonval.TypeName(f.Value))
		}
		if err := expr.CheckPath(f.Key); err != nil {
			return nil, err
		}
		stages, err := inner.parseStages(list)
		if err != nil {
			return nil, err
		}
		s[i].name, s[i].stages = f.Key, stages
	}
	return s, nil
}

// run reads the whole input, because each pipeline begins with its first document. The result may have 100 MB. It may
// be larger than a stored document, if later stages make it smaller.
func (s facet) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		all, err := collectDocs(in, r.newMeter("$facet", nil))
		if err != nil {
			yield(nil, err)
			return
		}
		d := make(bson.D, len(s))
		used := 0
		for i, f := range s {
			list := bson.A{}
			for x, err := range runStages(r, f.stages, replay(all)) {
				if err != nil {
					yield(nil, err)
					return
				}
				if used += bsonval.SizeOf(x, expr.MaxMemory); used > expr.MaxMemory {
					yield(nil, mongoerr.New(4031700,
						"document constructed by $facet is %d bytes, which exceeds the limit of %d bytes",
						used, expr.MaxMemory))
					return
				}
				list = append(list, x)
			}
			d[i] = bson.E{Key: f.name, Value: list}
		}
		yield(d, nil)
	}
}
