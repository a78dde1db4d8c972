package expr

import "github.com/docmodel/docmodel/mongotest/internal/engine/collation"

// comparison compares values of any types; a missing one comes before null.
var comparison = table{
	"$cmp": callUnder(2, 2, func(by *collation.Collator, a []any) (any, error) {
		return int32(by.Compare(a[0], a[1])), nil
	}),
	"$eq":  compareWith(func(c int) bool { return c == 0 }),
	"$ne":  compareWith(func(c int) bool { return c != 0 }),
	"$gt":  compareWith(func(c int) bool { return c > 0 }),
	"$gte": compareWith(func(c int) bool { return c >= 0 }),
	"$lt":  compareWith(func(c int) bool { return c < 0 }),
	"$lte": compareWith(func(c int) bool { return c <= 0 }),
}

func compareWith(holds func(c int) bool) parser {
	return callUnder(2, 2, func(by *collation.Collator, a []any) (any, error) {
		return holds(by.Compare(a[0], a[1])), nil
	})
}
