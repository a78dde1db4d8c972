package pipeline

// This file says how $lookup and $graphLookup join by the values of a field: which values a document has at a path, and
// the filter that finds other documents by them.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// makeEquality returns a filter for documents whose field equals one of the values under a collation. A regular
// expression in the values is a value like any other, so $in can't be used then: it would match by it.
func makeEquality(field string, values bson.A, by *collation.Collator) (*query.Matcher, error) {
	isRegex := func(v any) bool { _, ok := v.(bson.Regex); return ok }
	if !slices.ContainsFunc(values, isRegex) {
		filter := bson.D{{Key: field, Value: bson.D{{Key: "$in", Value: values}}}}
		return query.Parse(filter, query.Options{Collation: by})
	}
	branches := make(bson.A, len(values))
	for i, v := range values {
		branches[i] = bson.D{{Key: field, Value: bson.D{{Key: "$eq", Value: v}}}}
	}
	return query.Parse(bson.D{{Key: "$or", Value: branches}}, query.Options{Collation: by})
}

// listLocalValues returns the values of a $lookup's localField: each element of an array, and null if there is no
// value, so that a document without the field finds documents whose foreign field is null or missing.
func listLocalValues(d bson.D, path bsonval.Path) bson.A {
	var out bson.A
	visitValues(d, path, func(v any) { out = append(out, v) })
	if len(out) == 0 {
		return bson.A{nil}
	}
	return out
}

// visitValues calls f with each value at a path: each element of an array at its end, and of arrays on the way each
// document's value. A number in the path is a position of an array, or a field's name.
//
//	"a"     {a: [1, 2]}               1, 2
//	"a.b"   {a: [{b: 1}, {b: [2]}]}   1, 2
//	"a.0"   {a: [5, 6]}               5
//
// It isn't the walk of filters (package query): an array is never a value itself, and a missing value is left out.
func visitValues(d bson.D, path bsonval.Path, f func(v any)) {
	v, _ := bsonval.Get(d, path[0].Name)
	path = path[1:]
	// Positions of arrays, which may follow each other.
	for len(path) > 0 && path[0].Index >= 0 {
		a, ok := v.(bson.A)
		if !ok {
			break
		}
		v = bsonval.Missing
		if path[0].Index < len(a) {
			v = a[path[0].Index]
		}
		path = path[1:]
	}
	a, isArray := v.(bson.A)
	switch {
	case bsonval.IsMissing(v):
	case len(path) == 0 && isArray:
		for _, x := range a {
			f(x)
		}
	case len(path) == 0:
		f(v)
	case isArray:
		for _, x := range a {
			if d, ok := x.(bson.D); ok {
				visitValues(d, path, f)
			}
		}
	default:
		if d, ok := v.(bson.D); ok {
			visitValues(d, path, f)
		}
	}
}
