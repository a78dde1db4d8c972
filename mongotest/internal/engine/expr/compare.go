package expr

import "github.com/docmodel/docmodel/mongotest/internal/engine/collation"

// comparison compares values of any types; a missing one comes before null.
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

func parseComparison(holds func(c int) bool) parser {
	return callUnder(2, 2, func(by *collation.Collator, a []any) (any, error) {
		return holds(by.Compare(a[0], a[1])), nil
	})
}
