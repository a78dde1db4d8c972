package projection

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// firstMatch is the $elemMatch projection: the first element that matches, as an array of one. It is an expression,
// so that it is computed from the document as it was.
type firstMatch struct {
	// name is the array's field, m the query that has the $elemMatch on it.
	name string
	m    *query.Matcher
}

// Eval returns Missing when the field is no array or nothing in it matches.
func (f firstMatch) Eval(c *expr.Context) (any, error) {
	d, _ := c.Root.(bson.D)
	matched, i, err := f.m.MatchArrayIndex(d)
	if !matched || err != nil {
		return bsonval.Missing, err
	}
	v, _ := bsonval.Get(d, f.name)
	a, _ := v.(bson.A)
	if i < 0 || i >= len(a) {
		return bsonval.Missing, nil
	}
	return bson.A{a[i]}, nil
}

// window is the $slice projection: skip from the start, or from the end when negative, then at most limit elements. A
// window beyond the array gives an empty array.
type window struct{ skip, limit int64 }

// parseWindow reads the argument of $slice. It returns false when the argument isn't find's form but may be the
// expression's, such as an array of three. One number is the count of elements from the start, or from the end when
// negative; two are the elements to skip and the limit.
func parseWindow(arg any) (window, bool, error) {
	if n, ok := bsonval.TruncInt64(arg); ok {
		n = min(max(n, -1<<31), 1<<31)
		if n < 0 {
			return window{skip: n, limit: -n}, true, nil
		}
		return window{limit: n}, true, nil
	}
	a, ok := arg.(bson.A)
	if !ok {
		return window{}, false, mongoerr.New(28667,
			"Invalid $slice syntax. The given syntax did not match the find() syntax, nor that of the expression")
	}
	if len(a) != 2 {
		return window{}, false, nil
	}
	skip, ok1 := bsonval.TruncInt64(a[0])
	limit, ok2 := bsonval.TruncInt64(a[1])
	if !ok1 || !ok2 {
		return window{}, false, nil
	}
	if limit <= 0 {
		return window{}, false, mongoerr.New(28724,
			"Invalid $slice syntax: the limit must be positive, found %d", limit)
	}
	return window{skip, limit}, true, nil
}

// cutArray applies the window to an array. Any other value stays as it is.
func (w window) cutArray(v any) any {
	a, ok := v.(bson.A)
	if !ok {
		return v
	}
	n := int64(len(a))
	from := w.skip
	if from < 0 {
		from = max(n+from, 0)
	}
	from = min(from, n)
	to := n
	if w.limit < n-from {
		to = from + w.limit
	}
	return a[from:to:to]
}
