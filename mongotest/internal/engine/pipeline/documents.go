package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// literalDocuments is $documents: the documents of an expression.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/documents/
type literalDocuments struct{ e expr.Expr }

func parseDocuments(p *parser, name string, arg any) (stage, error) {
	if p.coll != "" {
		return nil, OnlyCollectionless(name)
	}
	e, err := expr.Parse(arg, p.scope)
	return literalDocuments{e}, err
}

// OnlyCollectionless is the error of a stage that has documents of its own, where it is given those of a collection.
func OnlyCollectionless(stage string) error {
	return mongoerr.New(mongoerr.InvalidNamespace, "'%s' can only be run with {aggregate: 1}", stage)
}

// IsCollectionless reports whether a pipeline begins with a stage that has documents of its own.
func IsCollectionless(stages bson.A) bool { return hasOwnDocuments(getFirstStage(stages)) }

// checkDocuments refuses a pipeline within a stage that names no collection, unless it has documents of its own.
func checkDocuments(stage string, stages bson.A) error {
	if getFirstStage(stages) == "$documents" {
		return nil
	}
	return mongoerr.New(mongoerr.FailedToParse,
		"%s stage without explicit collection must have a pipeline with $documents as first stage", stage)
}

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
					expr.Show(x), bsonval.TypeName(x))
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}
