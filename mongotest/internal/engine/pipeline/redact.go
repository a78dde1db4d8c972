package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// redact is $redact: an expression says of each document, and of the documents within it, whether it is kept ($$KEEP),
// left out ($$PRUNE) or looked into ($$DESCEND).
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/redact/
//
//	{$redact: {$cond: [{$eq: ["$level", "secret"]}, "$$PRUNE", "$$DESCEND"]}}
//
//	{_id: 1, parts: [{a: 1}, {a: 2, level: "secret"}], x: {level: "secret"}}   gives   {_id: 1, parts: [{a: 1}]}
type redact struct{ e expr.Expr }

// wholeDocument is the variable for $$ROOT in a $redact. Expressions are evaluated on the document that is looked at,
// so that "$level" is its field. $$ROOT must stay the outermost document, and package expr would take it for the inner
// one. A user's variable can't have this name.
const wholeDocument = "ROOT of the stage"

// parseRedact parses the expression. The three verdicts are variables in it.
func parseRedact(p *parser, _ string, arg any) (stage, error) {
	e, err := expr.Parse(renameRoot(arg), p.scope.WithVariables("KEEP", "PRUNE", "DESCEND", wholeDocument))
	return redact{e}, err
}

// renameRoot returns the expression with $$wholeDocument in the place of $$ROOT, outside of $literal.
func renameRoot(v any) any {
	switch v := v.(type) {
	case string:
		if rest, ok := strings.CutPrefix(v, "$$ROOT"); ok && (rest == "" || rest[0] == '.') {
			return "$$" + wholeDocument + rest
		}
	case bson.A:
		out := make(bson.A, len(v))
		for i, x := range v {
			out[i] = renameRoot(x)
		}
		return out
	case bson.D:
		out := make(bson.D, len(v))
		for i, f := range v {
			if out[i] = f; f.Key != "$literal" {
				out[i].Value = renameRoot(f.Value)
			}
		}
		return out
	}
	return v
}

// run redacts each document, and drops a document if nothing is left of it.
func (s redact) run(r *run, in Docs) Docs {
	// The values of the verdicts are strings that redactDocument knows.
	base := r.base.WithVariable("KEEP", "keep").WithVariable("PRUNE", "prune").WithVariable("DESCEND", "descend")
	return func(yield func(bson.D, error) bool) {
		for d, err := range in {
			if err == nil {
				v, failed := s.redactDocument(base.WithVariable(wholeDocument, d), d)
				if err = failed; err == nil && bsonval.IsMissing(v) {
					continue
				}
				d, _ = v.(bson.D)
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// redactDocument returns what is left of a document, Missing if nothing is left.
func (s redact) redactDocument(c *expr.Context, d bson.D) (any, error) {
	if err := c.Step(); err != nil {
		return nil, err
	}
	v, err := s.e.Eval(c.ForDocument(d))
	if err != nil {
		return nil, err
	}
	switch verdict, _ := v.(string); verdict {
	case "keep":
		return d, nil
	case "prune":
		return bsonval.Missing, nil
	case "descend":
	default:
		return nil, mongoerr.New(17053,
			"$redact's expression should not return anything aside from the variables $$KEEP, $$DESCEND, and "+
				"$$PRUNE, but returned %s", bsonval.Show(v))
	}
	out := make(bson.D, 0, len(d))
	for _, f := range d {
		v, err := s.redactValue(c, f.Value)
		if err != nil {
			return nil, err
		}
		if !bsonval.IsMissing(v) {
			out = append(out, bson.E{Key: f.Key, Value: v})
		}
	}
	return out, nil
}

// redactValue returns what is left of a field's value or an array's element. Only documents have a verdict.
func (s redact) redactValue(c *expr.Context, v any) (any, error) {
	switch x := v.(type) {
	case bson.D:
		return s.redactDocument(c, x)
	case bson.A:
		out := make(bson.A, 0, len(x))
		for _, e := range x {
			v, err := s.redactValue(c, e)
			if err != nil {
				return nil, err
			}
			if !bsonval.IsMissing(v) {
				out = append(out, v)
			}
		}
		return out, nil
	}
	return v, nil
}
