package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// totals are accumulators as operators. The values come from the arguments, or from the elements of a single argument
// that is an array: {$sum: ["$n", 1]}, {$sum: "$a"}. An array among several arguments isn't taken apart. $sum, $avg and
// the deviations leave out values that aren't numbers.
//
//	{$sum: [1, 2.5, "x"]}    →   3.5
//	{$avg: [[7, 2]]}         →   4.5
//	{$min: [7, null, 9]}     →   7
//	{$stdDevPop: [[7, 2]]}   →   2.5
var totals = table{
	"$sum": call(0, -1, takeList(func(list []any) any {
		var s sum
		for _, v := range list {
			s.add(v)
		}
		return s.total()
	})),
	"$avg": call(0, -1, takeList(func(list []any) any {
		var s sum
		for _, v := range list {
			s.add(v)
		}
		return s.average()
	})),
	"$min":        parseExtreme(-1),
	"$max":        parseExtreme(+1),
	"$stdDevPop":  call(0, -1, takeList(computeDeviation(deviation{}))),
	"$stdDevSamp": call(0, -1, takeList(computeDeviation(deviation{sample: true}))),
}

// takeList returns an operator on the list of its arguments, or on the elements of a single argument that is an array.
func takeList(f func(list []any) any) values {
	return func(args []any) (any, error) {
		if len(args) == 1 {
			if a, ok := args[0].(bson.A); ok {
				args = a
			}
		}
		return f(args), nil
	}
}

// parseExtreme returns the parser of $min or $max.
func parseExtreme(sign int) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		return call(0, -1, takeList(findExtreme(s.collation, sign)))(name, arg, s)
	}
}

// findExtreme returns a function that finds the least value of a list (sign -1) or the greatest (sign 1). Nullish
// values don't count. Without any other value the result is null. Of equal values the first is found.
func findExtreme(by *collation.Collator, sign int) func(list []any) any {
	return func(list []any) any {
		var best any
		for _, v := range list {
			if !bsonval.IsNullish(v) && (best == nil || by.Compare(v, best) == sign) {
				best = v
			}
		}
		return best
	}
}
