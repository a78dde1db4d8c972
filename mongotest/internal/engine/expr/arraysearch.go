package expr

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// arraySearch are operators that compare elements: they find an element in an array, or sort the array. The comparisons
// are under the scope's collation.
//
//	{$in: [2.0, [3, 1, 2]]}                        →   true
//	{$indexOfArray: [[3, 1, 2], 2]}                →   2
//	{$sortArray: {input: [3, 1, 2], sortBy: -1}}   →   [3, 2, 1]
var arraySearch = table{
	"$in":           callUnder(2, 2, inArray),
	"$indexOfArray": parseIndexOfArray,
	"$sortArray":    parseSortArray,
}

// inArray is {$in: [value, array]}. Unlike the filter's $in, it doesn't match regular expressions.
func inArray(by *collation.Collator, args []any) (any, error) {
	a, ok := args[1].(bson.A)
	if !ok {
		return nil, mongoerr.New(40081,
			"$in requires an array as a second argument, found: %s", bsonval.TypeName(args[1]))
	}
	return slices.ContainsFunc(a, func(x any) bool { return by.Compare(x, args[0]) == 0 }), nil
}

// parseIndexOfArray parses {$indexOfArray: [array, value, start, end]}, of which start and end may be left out.
func parseIndexOfArray(name string, arg any, s Scope) (Expr, error) {
	return callIfGiven(2, 4, s.bindCollation(indexOfArray))(name, arg, s)
}

// indexOfArray returns the position of the first element that equals the value, -1 if there is none. Positions count
// from 0, and end is excluded.
func indexOfArray(by *collation.Collator, args []any) (any, error) {
	if bsonval.IsNullish(args[0]) {
		return nil, nil
	}
	a, ok := args[0].(bson.A)
	if !ok {
		return nil, mongoerr.New(40090, "$indexOfArray requires an array as a first argument, found: %s",
			bsonval.TypeName(args[0]))
	}
	from, to, err := readSearchRange("$indexOfArray", args, int64(len(a)))
	if err != nil {
		return nil, err
	}
	for i := from; i < to; i++ {
		if by.Compare(a[i], args[1]) == 0 {
			return int32(i), nil
		}
	}
	return int32(-1), nil
}

// readSearchRange reads the third and fourth argument of $indexOfArray, $indexOfBytes or $indexOfCP: the position at
// which the search begins, and the one before which it ends. size is the length of the searched value. The result may
// have from > to, for which nothing is found.
func readSearchRange(name string, args []any, size int64) (from, to int64, err error) {
	limits := [2]int64{0, size}
	for i, v := range args[2:] {
		n, ok := toInt32(v)
		switch {
		case !ok:
			return 0, 0, mongoerr.New(40096, "%s requires an integral index, found a value of type: %s",
				name, bsonval.TypeName(v))
		case n < 0:
			return 0, 0, mongoerr.New(40097, "%s requires a nonnegative index, found: %d", name, n)
		}
		limits[i] = n
	}
	return limits[0], min(limits[1], size), nil
}

// parseSortArray parses {$sortArray: {input: array, sortBy: order}}. sortBy isn't an expression: it is 1, -1 or the
// order of a $sort.
func parseSortArray(_ string, arg any, s Scope) (Expr, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(2942500,
			"$sortArray requires an object as an argument, found: %s", bsonval.TypeName(arg))
	}
	var input Expr
	var by any = bsonval.Missing
	for _, f := range d {
		switch f.Key {
		case "input":
			e, err := Parse(f.Value, s)
			if err != nil {
				return nil, err
			}
			input = e
		case "sortBy":
			by = f.Value
		default:
			return nil, mongoerr.New(2942501, "$sortArray found an unknown argument: %s", f.Key)
		}
	}
	switch {
	// Missing parts are found after unknown parts.
	case input == nil:
		return nil, mongoerr.New(2942502, "$sortArray requires 'input' to be specified")
	case bsonval.IsMissing(by):
		return nil, mongoerr.New(2942503, "$sortArray requires 'sortBy' to be specified")
	}
	compare, err := readElementOrder(by, s.collation)
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) { return sortElements(c, input, compare) }), nil
}

// sortElements evaluates $sortArray. It sorts a copy: the array may be a stored document's.
func sortElements(c *Context, input Expr, compare func(a, b any) int) (any, error) {
	v, err := input.Eval(c)
	if err != nil || bsonval.IsNullish(v) {
		return nil, err
	}
	a, ok := v.(bson.A)
	if !ok {
		return nil, mongoerr.New(2942504,
			"The input argument to $sortArray must be an array, but was of type: %s", bsonval.TypeName(v))
	}
	out := slices.Clone(a)
	return out, interrupt.SortStable(c.Watch, out, compare)
}

// readElementOrder reads the sortBy of $sortArray, and returns how to compare two elements. The order of a $sort, such
// as {x: 1}, compares embedded documents by their fields.
func readElementOrder(by any, under *collation.Collator) (func(a, b any) int, error) {
	if d, ok := by.(bson.D); ok && len(d) > 0 {
		s, err := order.Parse(d)
		if err != nil {
			return nil, err
		}
		return under.Sort(s).CompareElements, nil
	}
	n, ok := bsonval.Int64(by)
	if !ok || (n != 1 && n != -1) {
		return nil, mongoerr.New(mongoerr.BadValue,
			"The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields")
	}
	return func(a, b any) int { return int(n) * under.Compare(a, b) }, nil
}
