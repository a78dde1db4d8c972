package engine

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
)

// runPlan returns the documents that a plan finds, as the input of a pipeline. Each range over them runs the plan
// again, on the same version of the collection. Aggregations, distinct and views read by it. A find reads by
// cursor.Found.
func runPlan(p *plan.Plan) pipeline.Docs {
	return func(yield func(bson.D, error) bool) {
		for e := p.Open(); ; {
			r, err := e.Next()
			if err != nil {
				yield(nil, err)
				return
			}
			if r == nil || !yield(r.Doc, nil) {
				return
			}
		}
	}
}
