package update

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// parseAddToSet parses $addToSet: one value, or several by {$each: […]}. A value is added unless the array has one that
// is equal under the collation. Documents are equal only if their fields have the same order.
func parseAddToSet(_ string, arg any, by *collation.Collator) (action, error) {
	items := bson.A{arg}
	if d, ok := arg.(bson.D); ok && len(d) > 0 && d[0].Key == "$each" {
		each, ok := d[0].Value.(bson.A)
		switch {
		case !ok:
			return action{}, mongoerr.New(mongoerr.TypeMismatch,
				"The argument to $each in $addToSet must be an array but it was of type %s",
				bsonval.TypeName(d[0].Value))
		case len(d) > 1:
			return action{}, mongoerr.New(mongoerr.BadValue,
				"Found unexpected fields after $each in $addToSet: %s", show(d))
		}
		items = each
	}
	return action{creates: true, apply: func(old any, s *state) (any, error) {
		a, ok := old.(bson.A)
		if !ok && !bsonval.IsMissing(old) {
			return nil, mongoerr.New(mongoerr.BadValue,
				"Cannot apply $addToSet to non-array field. Field named '%s' has non-array type %s",
				s.path[len(s.path)-1].Name, bsonval.TypeName(old))
		}
		out := a[:len(a):len(a)] // no capacity, so that append doesn't write into the stored array
		if out == nil {
			out = bson.A{}
		}
		for _, v := range items {
			if err := s.watch.Steps(1 + len(out)/longArray); err != nil {
				return nil, err
			}
			if !containsValue(out, v, by) {
				out = append(out, v)
			}
		}
		return out, nil
	}}, nil
}

// longArray is how many comparisons of elements count as a step of the command's watch.
const longArray = 16

// containsValue reports whether an array has a value that is equal under the collation.
func containsValue(a bson.A, v any, by *collation.Collator) bool {
	return slices.ContainsFunc(a, func(x any) bool { return by.Compare(x, v) == 0 })
}

// parsePop parses $pop: 1 removes the last element, -1 the first.
func parsePop(path string, arg any, _ *collation.Collator) (action, error) {
	if !bsonval.IsNumber(arg) {
		return action{}, mongoerr.New(mongoerr.FailedToParse, "Expected a number in: %s: %s", path, show(arg))
	}
	n, ok := bsonval.Int64(arg)
	if !ok || (n != 1 && n != -1) {
		return action{}, mongoerr.New(mongoerr.FailedToParse, "$pop expects 1 or -1, found: %s", show(arg))
	}
	return action{apply: func(old any, s *state) (any, error) {
		a, ok := old.(bson.A)
		switch {
		case bsonval.IsMissing(old):
			return old, nil
		case !ok:
			return nil, mongoerr.New(mongoerr.TypeMismatch, "Path '%s' contains an element of non-array type '%s'",
				s.path, bsonval.TypeName(old))
		case len(a) == 0:
			return a, nil
		case n < 0:
			return a[1:], nil
		}
		return a[: len(a)-1 : len(a)-1], nil // shares its elements with the old array, which never changes
	}}, nil
}

// parsePull parses $pull, which removes the elements that match a condition or equal a value. Of [1, 5, {n: 1}]
//
//	{$pull: {a: {$gt: 4}}}   removes 5
//	{$pull: {a: {n: 1}}}     removes {n: 1}, as a query on the element
//	{$pull: {a: 1}}          removes 1
func parsePull(_ string, arg any, by *collation.Collator) (action, error) {
	drop, err := parsePullCondition(arg, by)
	if err != nil {
		return action{}, err
	}
	return removeElements(drop, 1), nil
}

// parsePullCondition returns the function that reports whether $pull removes an element. A document of operators and a
// regular expression test the element. Another document is a query on elements that are documents. Anything else must
// be equal to the element.
func parsePullCondition(arg any, by *collation.Collator) (func(v any) (bool, error), error) {
	d, isDocument := arg.(bson.D)
	_, isRegex := arg.(bson.Regex)
	switch {
	// The element is matched as the field v of a document.
	case isRegex, isDocument && startsWithFieldOperator(d):
		m, err := query.Parse(bson.D{{Key: "v", Value: arg}}, query.Options{Collation: by})
		if err != nil {
			return nil, err
		}
		return func(v any) (bool, error) { return m.Match(bson.D{{Key: "v", Value: v}}) }, nil
	// Conditions on fields of an element: an element that isn't a document never matches.
	case isDocument:
		m, err := query.Parse(d, query.Options{Collation: by})
		if err != nil {
			return nil, err
		}
		return func(v any) (bool, error) {
			if x, ok := v.(bson.D); ok {
				return m.Match(x)
			}
			return false, nil
		}, nil
	}
	return func(v any) (bool, error) { return by.Compare(v, arg) == 0, nil }, nil
}

// startsWithFieldOperator reports whether a document has operators for a value ({$gt: 5}), rather than conditions on
// fields or a DBRef.
func startsWithFieldOperator(d bson.D) bool {
	if len(d) == 0 || len(d[0].Key) == 0 || d[0].Key[0] != '$' {
		return false
	}
	switch d[0].Key {
	case "$and", "$or", "$nor", "$expr", "$comment", "$ref", "$id", "$db":
		return false
	}
	return true
}

// parsePullAll parses $pullAll, which removes the elements that equal one of the values.
func parsePullAll(_ string, arg any, by *collation.Collator) (action, error) {
	all, ok := arg.(bson.A)
	if !ok {
		return action{}, mongoerr.New(mongoerr.BadValue,
			"$pullAll requires an array argument but was given a %s", bsonval.TypeName(arg))
	}
	drop := func(v any) (bool, error) { return containsValue(all, v, by), nil }
	return removeElements(drop, 1+len(all)/longArray), nil
}

// removeElements returns the action that removes the elements for which drop returns true. steps is what a call of drop
// counts for the command's watch.
func removeElements(drop func(v any) (bool, error), steps int) action {
	return action{apply: func(old any, s *state) (any, error) {
		a, ok := old.(bson.A)
		switch {
		case bsonval.IsMissing(old):
			return old, nil
		case !ok:
			return nil, mongoerr.New(mongoerr.BadValue, "Cannot apply $pull to a non-array value")
		}
		out := make(bson.A, 0, len(a))
		for _, v := range a {
			if err := s.watch.Steps(steps); err != nil {
				return nil, err
			}
			gone, err := drop(v)
			if err != nil {
				return nil, err
			}
			if !gone {
				out = append(out, v)
			}
		}
		if len(out) == len(a) {
			return a, nil
		}
		return out, nil
	}}
}
