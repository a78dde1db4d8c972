package model

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/direction"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// The filter by which a sorted query continues after a document: see [Find.After].

// nextPage sets q to the next page of from: see [Find.After].
//
//go:noinline
func nextPage(q, from *Query, values []any) {
	*q = *from
	if totalOrder(q); len(values) > 0 {
		startAfter(q, values)
	}
}

func startAfter(q *Query, values []any) {
	q.Skip = 0
	if len(values) != len(q.Sort) {
		refuse(q, "After", len(values),
			fmt.Sprintf("needs %d values, one for each field of the sort %s", len(q.Sort), shell(q.Sort)))
		return
	}
	var branches bson.A
	equal := bson.D{}
	for i, s := range q.Sort {
		v, err := q.codec.Value(values[i])
		if err != nil {
			refuse(q, "After", nil, err.Error())
			return
		}
		if f64, isFloat := v.(float64); v == nil || isFloat && math.IsNaN(f64) {
			refuse(q, "After", nil,
				fmt.Sprintf("can't continue after a %s that is null or NaN: documents of other types would be lost", s.Key))
			return
		}
		if why := refuseSortType(q.known(), s.Key); why != "" {
			refuse(q, "Sort", s.Key, why)
			return
		}
		if q.Err = cmp.Or(q.Err, q.known().CheckFilter(bson.D{{Key: s.Key, Value: mql.Eq(v)}})); q.Err != nil {
			return
		}
		op, bound, ok := directed(s.Value)
		if !ok {
			refuse(q, "Sort", s.Value, "must be 1 or -1: After needs such an order")
			return
		}
		if i == 0 {
			beyond := bson.D{{Key: pick(len(values) == 1, op, bound), Value: v}}
			q.Filter = bsondoc.JoinFilters(q.Filter, bson.D{{Key: s.Key, Value: beyond}})
		}
		branches = append(branches, append(slices.Clone(equal), bson.E{Key: s.Key, Value: bson.D{{Key: op, Value: v}}}))
		equal = append(equal, bson.E{Key: s.Key, Value: mql.Eq(v)})
	}
	if len(branches) > 1 {
		q.Filter = bsondoc.JoinFilters(q.Filter, bson.D{{Key: "$or", Value: branches}})
	}
}

// totalOrder appends _id to a sort without _id.
func totalOrder(q *Query) {
	if !slices.ContainsFunc(q.Sort, func(e bson.E) bool { return e.Key == "_id" }) {
		dir := any(1)
		if n := len(q.Sort); n > 0 {
			dir = q.Sort[n-1].Value
		}
		q.Sort = append(slices.Clone(q.Sort), bson.E{Key: "_id", Value: dir})
	}
}

// directed returns the operators for values strictly after a value, and for values equal
// to it or after it.
func directed(dir any) (op, bound string, ok bool) {
	switch direction.Parse(dir) {
	case 1:
		return "$gt", "$gte", true
	case -1:
		return "$lt", "$lte", true
	}
	return "", "", false
}

// refuseSortType returns the reason why the field's Go type can't sort pages, or "".
func refuseSortType(docs *core.Docs, path string) string {
	if docs == nil || docs.IsZero() {
		return ""
	}
	f, err := docs.Lookup(path)
	switch {
	case err != nil: // CheckSort has accepted the path: a technique stores it, or an older version
		return ""
	case f.Arrays > 0:
		return "is in an array, so a document has several values to sort by"
	case orderlessTypes[f.Type]:
		return noOrder
	}
	return ""
}

const (
	severalValues = "is an array, so a document has several values to sort by"
	noOrder       = "is a pattern or code, which queries can't compare"
)

var orderlessTypes = map[reflect.Type]bool{
	reflect.TypeFor[bson.Regex](): true, reflect.TypeFor[bson.JavaScript](): true,
	reflect.TypeFor[bson.CodeWithScope](): true, reflect.TypeFor[bson.DBPointer](): true,
}
