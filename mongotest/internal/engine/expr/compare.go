package expr

import "github.com/docmodel/docmodel/mongotest/internal/engine/collation"

// comparison compares values of any types, in MongoDB's order of types
// (https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/). Numbers of different types are compared
// by value. A missing value comes before null, so {$eq: ["$nope", null]} is false. A filter {nope: null} does match.
//
//	{$cmp: [1, 2.0]}       →   -1
//	{$eq: [1, 1.0]}        →   true
//	{$gt: ["x", 5]}        →   true: a string comes after all numbers
var comparison = table{
	"$cmp": callUnder(2, 2, func(by *collation.Collator, a []any) (any, error) {
		return int32(by.Compare(a[0], a[1])), nil
	}),
	"$eq":  parseComparison(func(c int) bool { return c == 0 }),
	"$ne":  parseComparison(func(c int) bool { return c != 0 }),
	"$gt":  parseComparison(func(c int) bool { return c > 0 }),
	"$gte": parseComparison(func(c int) bool { return c >= 0 }),
	"$lt":  parseComparison(func(c int) bool { return c < 0 }),
	"$lte": parseComparison(func(c int) bool { return c <= 0 }),
}

// parseComparison returns the parser of an operator. isTrue gets the order of the two arguments: -1, 0 or 1.
func parseComparison(isTrue func(c int) bool) parser {
	return callUnder(2, 2, func(by *collation.Collator, a []any) (any, error) {
		return isTrue(by.Compare(a[0], a[1])), nil
	})
}
