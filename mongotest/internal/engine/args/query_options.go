package args

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// Matcher parses a filter under a collation. let is the name of the field that defines variables, "" for none. now is
// what $$NOW means.
func (a *Reader) Matcher(filter bson.D, now time.Time, let string, by *collation.Collator) *query.Matcher {
	vars := a.Variables(let, now, by)
	if a.Err != nil {
		return nil
	}
	m, err := query.Parse(filter, query.Options{
		Now: now, Vars: vars, Watch: a.Watch, Special: a.Special, Collation: by,
	})
	if err != nil {
		a.Fail(err)
	}
	return m
}

// Variables returns the variables that a document such as let defines, by name without $$. Their expressions are
// evaluated at once, without a document: they can't refer to fields, as in MongoDB.
func (a *Reader) Variables(name string, now time.Time, by *collation.Collator) map[string]any {
	let := a.Document(name)
	if len(let) == 0 {
		return nil
	}
	vars := make(map[string]any, len(let))
	for _, e := range let {
		v, err := evaluateConstant(e.Value, a.Watch, now, by)
		if err != nil {
			a.Fail(err)
		}
		vars[e.Key] = v
	}
	return vars
}

// evaluateConstant evaluates an expression without a document. A missing result becomes null, because a variable of let
// always has a value.
func evaluateConstant(v any, w *interrupt.Watch, now time.Time, by *collation.Collator) (any, error) {
	e, err := expr.Parse(v, expr.NewScope().WithCollation(by))
	if err != nil {
		return nil, err
	}
	out, err := e.Eval(expr.NewContext(bson.D{}, now, w, nil))
	if bsonval.IsMissing(out) {
		out = nil
	}
	return out, err
}

// Hint returns the name (a string) or the key (a document) of the index to use, nil for none. Package plan looks for
// the index.
func (a *Reader) Hint() any {
	v, ok := a.Get("hint")
	if !ok {
		return nil
	}
	switch v := v.(type) {
	case string, bson.D:
		return v
	}
	a.Fail(mongoerr.New(mongoerr.FailedToParse, "hint must be a string or an object, not %s", bsonval.TypeName(v)))
	return nil
}
