package projection

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// ParseReplaceRoot parses the argument of $replaceRoot or $replaceWith and returns what the stage does with a
// document. The new root is the value of an expression, which must be a document: nothing of the old one stays.
func ParseReplaceRoot(name string, arg any, s expr.Scope) (func(c *expr.Context, d bson.D) (bson.D, error), error) {
	root := arg
	if name == "$replaceRoot" {
		d, ok := arg.(bson.D)
		if !ok {
			return nil, mongoerr.New(40229,
				"expected an object as specification for $replaceRoot stage, got %s", bsonval.TypeName(arg))
		}
		root = bsonval.Missing
		for _, f := range d {
			if f.Key != "newRoot" {
				return nil, mongoerr.New(mongoerr.IDLUnknownField,
					"BSON field '$replaceRoot.%s' is an unknown field.", f.Key)
			}
			root = f.Value
		}
		if bsonval.IsMissing(root) {
			return nil, mongoerr.New(mongoerr.IDLFailedToParse,
				"BSON field '$replaceRoot.newRoot' is missing but a required field")
		}
	}
	e, err := expr.Parse(root, s)
	if err != nil {
		return nil, err
	}
	return func(c *expr.Context, _ bson.D) (bson.D, error) {
		v, err := e.Eval(c)
		if err != nil {
			return nil, err
		}
		d, ok := v.(bson.D)
		if !ok {
			return nil, mongoerr.New(40228,
				"'newRoot' expression must evaluate to an object, but resulting value was: %s of type: %s",
				bsonval.Show(v), bsonval.TypeName(v))
		}
		return d, nil
	}, nil
}
