package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// arrayRanking are the accumulators that keep n of a group, over the elements of an array.
var arrayRanking = table{"$firstN": parseNOfArray, "$lastN": parseNOfArray, "$minN": parseNOfArray, "$maxN": parseNOfArray}

func parseNOfArray(name string, arg any, s Scope) (Expr, error) {
	input, count, err := parseInputAndCount(name, arg, s)
	if err != nil {
		return nil, err
	}
	start := newKeeping(name, s.collation)
	return function(func(c *Context) (any, error) {
		n, err := count.Eval(c)
		if err != nil {
			return nil, err
		}
		k := start
		if k.n, err = readCount(replaceMissing(n)); err != nil {
			return nil, err
		}
		v, err := input.Eval(c)
		if err != nil {
			return nil, err
		}
		list, ok := v.(bson.A)
		if !ok {
			return nil, mongoerr.New(5788200, "Input must be an array")
		}
		if err := countSteps(c, []any{v}); err != nil {
			return nil, err
		}
		for _, x := range list {
			if err := k.add(x); err != nil {
				return nil, err
			}
		}
		return k.result(), nil
	}), nil
}
