package expr

import (
	"math/rand/v2"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// literals are operators whose argument isn't an expression. {$literal: "$n"} is the string "$n".
var literals = table{
	"$rand":    parseRand,
	"$literal": func(_ string, arg any, _ Scope) (Expr, error) { return constant{arg}, nil },
}

// parseRand parses {$rand: {}}, a double from 0 to below 1. It is another number at each evaluation, so it isn't a
// constant.
func parseRand(_ string, arg any, _ Scope) (Expr, error) {
	d, isDocument := arg.(bson.D)
	a, isArray := arg.(bson.A)
	switch {
	case !isDocument && !isArray:
		return nil, mongoerr.New(10065, "invalid parameter: expected an object ($rand)")
	case len(d) > 0 || len(a) > 0:
		return nil, mongoerr.New(3040501, "$rand does not currently accept arguments")
	}
	return function(func(*Context) (any, error) { return rand.Float64(), nil }), nil
}
