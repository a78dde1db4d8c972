package expr

import "github.com/docmodel/docmodel/internal/bsonval"

// comparison compares values of any types; a missing one comes before null.
var comparison = table{
	"$cmp": call(2, 2, func(a []any) (any, error) { return int32(bsonval.Compare(a[0], a[1])), nil }),
	"$eq":  compareWith(func(c int) bool { return c == 0 }),
	"$ne":  compareWith(func(c int) bool { return c != 0 }),
	"$gt":  compareWith(func(c int) bool { return c > 0 }),
	"$gte": compareWith(func(c int) bool { return c >= 0 }),
	"$lt":  compareWith(func(c int) bool { return c < 0 }),
	"$lte": compareWith(func(c int) bool { return c <= 0 }),
}

func compareWith(holds func(c int) bool) parser {
	return call(2, 2, func(a []any) (any, error) { return holds(bsonval.Compare(a[0], a[1])), nil })
}
