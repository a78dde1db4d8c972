package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// redact is $redact: an expression says of each document, and of those within it, whether it is kept, left out or
// looked into. https://www.mongodb.com/docs/manual/reference/operator/aggregation/redact/
type redact struct{ e expr.Expr }

// wholeDocument is the variable that $$ROOT is in a $redact, where $$CURRENT is the document that is looked at. A
// user's variable can't have this name.
const wholeDocument = "ROOT of the stage"

func parseRedact(p *parser, _ string, arg any) (stage, error) {
	e, err := expr.Parse(withRoot(arg), p.scope.WithVariables("KEEP", "PRUNE", "DESCEND", wholeDocument))
	return redact{e}, err
}

// withRoot gives $$ROOT its other name.
func withRoot(v any) any {
	switch v := v.(type) {
	case string:
		if rest, ok := strings.CutPrefix(v, "$$ROOT"); ok && (rest == "" || rest[0] == '.') {
			return "$$" + wholeDocument + rest
		}
	case bson.A:
		out := make(bson.A, len(v))
		for i, x := range v {
			out[i] = withRoot(x)
		}
		return out
	case bson.D:
		out := make(bson.D, len(v))
		for i, f := range v {
			if out[i] = f; f.Key != "$literal" {
				out[i].Value = withRoot(f.Value)
			}
		}
		return out
	}
	return v
}

func (s redact) run(r *run, in Docs) Docs {
	base := r.base.WithVariable("KEEP", "keep").WithVariable("PRUNE", "prune").WithVariable("DESCEND", "descend")
	return func(yield func(bson.D, error) bool) {
		for d, err := range in {
			if err == nil {
				v, failed := s.document(base.WithVariable(wholeDocument, d), d)
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

// document returns what is left of a document, Missing for nothing.
func (s redact) document(c *expr.Context, d bson.D) (any, error) {
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
				"$$PRUNE, but returned %s", expr.Show(v))
	}
	out := make(bson.D, 0, len(d))
	for _, f := range d {
		v, err := s.value(c, f.Value)
		if err != nil {
			return nil, err
		}
		if !bsonval.IsMissing(v) {
			out = append(out, bson.E{Key: f.Key, Value: v})
		}
	}
	return out, nil
}

func (s redact) value(c *expr.Context, v any) (any, error) {
	switch x := v.(type) {
	case bson.D:
		return s.document(c, x)
	case bson.A:
		out := make(bson.A, 0, len(x))
		for _, e := range x {
			v, err := s.value(c, e)
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
