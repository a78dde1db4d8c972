package query

// This file explains operators on a field: the texts for their results, and the values that they looked at. The texts
// are MongoDB's (https://github.com/mongodb/mongo/blob/master/src/mongo/db/matcher/doc_validation_error.cpp).

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/geo"
)

// reasons are the texts of one operator, and which values it looks at.
type reasons struct {
	failed, matched string
	negated         bool        // the texts are those of the opposite operator: $nin has those of $in
	whole           bool        // an array is one value, and its elements aren't considered
	types           []bson.Type // the types of values that the operator looks at; nil means all
}

// operatorReasons has the operators that don't just compare. $eq, $gt and the like have the texts of $ne, not negated.
var operatorReasons = map[string]reasons{
	"$ne":  {failed: "comparison failed", matched: "comparison succeeded", negated: true},
	"$in":  {failed: "no matching value found in array", matched: "matching value found in array"},
	"$nin": {failed: "no matching value found in array", matched: "matching value found in array", negated: true},
	"$size": {failed: "array length was not equal to given size", matched: "array length was equal to given size",
		whole: true, types: []bson.Type{bson.TypeArray}},
	"$all": {
		failed:  "array did not contain all specified values",
		matched: "array did contain all specified values",
		whole:   true,
	},
	"$elemMatch": {
		failed:  "array did not satisfy the child predicate",
		matched: "array did satisfy the child predicate",
		whole:   true, types: []bson.Type{bson.TypeArray},
	},
	"$mod": {failed: "$mod did not evaluate to expected remainder", matched: "$mod did evaluate to expected remainder",
		types: numberTypes},
	"$regex": {failed: "regular expression did not match", matched: "regular expression did match",
		types: []bson.Type{bson.TypeString, bson.TypeSymbol, bson.TypeRegex}},
	"$geoWithin": {failed: "none of the considered geometries were contained within the expression’s geometry",
		matched: "at least one of considered geometries was contained within the expression’s geometry"},
	"$geoIntersects": {failed: "none of the considered geometries intersected the expression’s geometry",
		matched: "at least one of the considered geometries intersected the expression’s geometry"},
	"$type":       {failed: "type did not match", matched: "type did match"},
	"$bitsAllSet": bitReasons, "$bitsAllClear": bitReasons, "$bitsAnySet": bitReasons, "$bitsAnyClear": bitReasons,
}

var bitReasons = reasons{
	failed: "bitwise operator failed to match", matched: "bitwise operator matched successfully",
	types: append(slices.Clone(numberTypes), bson.TypeBinary),
}

// explainField returns the rest of the explanation of an operator on a field: the reason, and the values or types that
// the operator considered.
func (x explainer) explainField(c clause, inverted bool) bson.D {
	if c.op == "$exists" {
		// The document fails because the field is there, or because it isn't.
		there := inverted == bsonval.Truthy(c.arg)
		return bson.D{{Key: "reason", Value: chooseText(there, "path does not exist", "path does exist")}}
	}
	if all, _ := c.arg.(bson.A); c.op == "$all" && len(all) == 0 {
		return bson.D{{Key: "reason", Value: "expression always evaluates to false"}}
	}
	r, ok := operatorReasons[c.op]
	if !ok {
		r = reasons{failed: "comparison failed", matched: "comparison succeeded"}
	}
	values, there := x.findValues(c.path, r.whole)
	if !there {
		return bson.D{{Key: "reason", Value: "field was missing"}}
	}
	out := bson.D{{Key: "reason", Value: chooseText(inverted != r.negated, r.failed, r.matched)}}
	considered, truncated := values[:min(len(values), maxConsidered)], len(values) > maxConsidered
	switch {
	// Values of types that the operator doesn't look at are a reason of their own.
	case r.types != nil &&
		!slices.ContainsFunc(considered, func(v any) bool { return slices.Contains(r.types, bsonval.Type(v)) }):
		out = bson.D{{Key: "reason", Value: "type did not match"}}
		out = append(out, nameTypes("considered", listTypes(considered))...)
		out = append(out, nameTypes("expected", r.types)...)
	case (c.op == "$geoWithin" || c.op == "$geoIntersects") && !x.hasGeometry(c.path, considered):
		out = bson.D{{Key: "reason", Value: "could not find a valid geometry at the given path"}}
	}
	if len(considered) == 1 {
		out = append(out, bson.E{Key: "consideredValue", Value: considered[0]})
	} else {
		out = append(out, bson.E{Key: "consideredValues", Value: considered})
	}
	if truncated {
		out = append(out, bson.E{Key: "consideredValuesTruncated", Value: true})
	}
	if c.op == "$type" {
		out = append(out, nameTypes("considered", listTypes(considered))...)
	}
	return out
}

// maxConsidered is the number of values that an explanation shows. It is the default of MongoDB's parameter
// internalQueryMaxDocValidationErrorConsideredValues.
const maxConsidered = 10

// findValues returns the values that an operator considers at a path: the elements of arrays, or the arrays if whole is
// set. there is false if the path leads to no value. An empty array is there, and has no values.
func (x explainer) findValues(path string, whole bool) (values bson.A, there bool) {
	var found collector
	leaf{&found}.matchPath(bsonval.ParsePath(path), x.doc, nil)
	if whole {
		return found.values, len(found.values) > 0
	}
	values = bson.A{}
	for _, v := range found.values {
		if a, ok := v.(bson.A); ok {
			values = append(values, a...)
		} else {
			values = append(values, v)
		}
	}
	return values, len(found.values) > 0
}

// hasGeometry reports whether one of the values is a geometry, or the field as a whole: a legacy point is an array of
// two numbers, and a number alone is no geometry.
func (x explainer) hasGeometry(path string, values bson.A) bool {
	field, _ := bsonval.Get(x.doc, path)
	return slices.ContainsFunc(append(values[:len(values):len(values)], field), func(v any) bool {
		_, err := geo.Parse(v)
		return err == nil
	})
}

// listTypes returns the types of the values, in their order.
func listTypes(values bson.A) []bson.Type {
	types := make([]bson.Type, len(values))
	for i, v := range values {
		types[i] = bsonval.Type(v)
	}
	return types
}

// nameTypes returns the field {consideredType: "int"}, or {consideredTypes: ["int", "string"]} for several types. what
// is the field's name without "Type".
func nameTypes(what string, types []bson.Type) bson.D {
	var names []string
	for _, t := range types {
		names = append(names, bsonval.TypeAlias(t))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil
	}
	if len(names) == 1 {
		return bson.D{{Key: what + "Type", Value: names[0]}}
	}
	list := make(bson.A, len(names))
	for i, name := range names {
		list[i] = name
	}
	return bson.D{{Key: what + "Types", Value: list}}
}
