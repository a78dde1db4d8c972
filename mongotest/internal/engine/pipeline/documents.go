package pipeline

// This file has $documents, and the checks of pipelines that need no collection.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// literalDocuments is $documents: the documents of an expression, such as [{a: 1}, {a: 2}].
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/documents/
type literalDocuments struct{ e expr.Expr }

// parseDocuments parses the expression, which can't refer to a document. The stage is allowed in {aggregate: 1}, and in
// a pipeline of $lookup or $unionWith without a collection.
func parseDocuments(p *parser, name string, arg any) (stage, error) {
	if p.coll != "" {
		return nil, NewCollectionlessError(name)
	}
	e, err := expr.Parse(arg, p.scope)
	return literalDocuments{e}, err
}

// NewCollectionlessError returns the error of a stage that has documents of its own, in a command on a collection.
// Command aggregate returns it too.
func NewCollectionlessError(stage string) error {
	return mongoerr.New(mongoerr.InvalidNamespace, "'%s' can only be run with {aggregate: 1}", stage)
}

// IsCollectionless reports whether a pipeline needs no collection. Its command must be {aggregate: 1} then.
func IsCollectionless(stages bson.A) bool { return hasOwnDocuments(getFirstStage(stages)) }

// checkDocuments refuses the pipeline of a $lookup or $unionWith that names no collection, unless it begins with
// $documents.
func checkDocuments(stage string, stages bson.A) error {
	if getFirstStage(stages) == "$documents" {
		return nil
	}
	return mongoerr.New(mongoerr.FailedToParse,
		"%s stage without explicit collection must have a pipeline with $documents as first stage", stage)
}

// run evaluates the expression without a document. MongoDB makes a $replaceRoot of an element, which is why the error
// of an element that is no document is as it is.
func (s literalDocuments) run(r *run, _ Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		v, err := s.e.Eval(r.base.ForDocument(bson.D{}))
		list, ok := v.(bson.A)
		if err == nil && !ok {
			err = mongoerr.New(5858203, "an array is expected")
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for _, x := range list {
			d, ok := x.(bson.D)
			if !ok {
				err = mongoerr.New(40228,
					"'newRoot' expression must evaluate to an object, but resulting value was: %s of type: %s",
					bsonval.Show(x), bsonval.TypeName(x))
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}
