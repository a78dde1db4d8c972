package engine

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// constant evaluates an expression of a let document, which has no document to
// refer to.
func constant(v any, w *interrupt.Watch, now time.Time, by *collation.Collator) (any, error) {
	e, err := expr.Parse(v, expr.NewScope().Under(by))
	if err != nil {
		return nil, err
	}
	out, err := e.Eval(expr.NewContext(bson.D{}, now, w, nil))
	if bsonval.IsMissing(out) {
		out = nil
	}
	return out, err
}
