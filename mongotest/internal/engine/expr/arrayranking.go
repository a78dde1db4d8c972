package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// arrayRanking are operators that keep n elements of an array, by the same code as the accumulators of ranking.go:
// {$maxN: {input: [1, 3, 2], n: 2}} is [3, 2].
//
//	{$firstN: {input: [3, 1, 2], n: 2}}      →   [3, 1]
//	{$lastN: {input: [3, 1, 2], n: 2}}       →   [1, 2]
//	{$minN: {input: [1, null, "x"], n: 5}}   →   [1, "x"]
var arrayRanking = table{
	"$firstN": parseNOfArray, "$lastN": parseNOfArray, "$minN": parseNOfArray, "$maxN": parseNOfArray,
}

// parseNOfArray parses one of these operators. Unlike the n of an accumulator, n may depend on the document.
func parseNOfArray(name string, arg any, s Scope) (Expr, error) {
	input, count, err := parseInputAndCount(name, arg, s)
	if err != nil {
		return nil, err
	}
	start := newKeeping(name, s.collation)
	return function(func(c *Context) (any, error) { return keepElements(c, start, input, count) }), nil
}

// keepElements evaluates one of these operators. k is a copy of the empty state. MongoDB evaluates n before the input.
func keepElements(c *Context, k keeping, input, count Expr) (any, error) {
	n, err := count.Eval(c)
	if err != nil {
		return nil, err
	}
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
}
