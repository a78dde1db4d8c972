package expr

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// sets take arrays for sets: duplicates and order don't count. Unions and
// intersections are returned in the order of values, as MongoDB does though its
// manual leaves it open; differences in that of the first array.
var sets = table{
	"$setUnion":        callToNullUnder(0, -1, setUnion),
	"$setIntersection": callToNullUnder(0, -1, setIntersection),
	"$setDifference":   callUnder(2, 2, setDifference),
	"$setEquals":       parseSetEquals,
	"$setIsSubset":     callUnder(2, 2, setIsSubset),
	"$anyElementTrue": call(1, 1, func(a []any) (any, error) {
		return findElement("$anyElementTrue", 17041, a[0], true)
	}),
	"$allElementsTrue": call(1, 1, func(a []any) (any, error) {
		return findElement("$allElementsTrue", 17040, a[0], false)
	}),
}

// set is an array without duplicates, and the keys of its elements.
type set struct {
	list bson.A
	keys map[string]bool
	by   *collation.Collator
}

func newSet(by *collation.Collator) *set {
	return &set{list: bson.A{}, keys: map[string]bool{}, by: by}
}

func (s *set) add(v any) {
	k := string(s.by.AppendKey(nil, v))
	if !s.keys[k] {
		s.keys[k] = true
		s.list = append(s.list, v)
	}
}

func (s *set) contains(v any) bool { return s.keys[string(s.by.AppendKey(nil, v))] }

func collectSet(by *collation.Collator, a bson.A) *set {
	s := newSet(by)
	for _, v := range a {
		s.add(v)
	}
	return s
}

// readSetArgument returns an argument as an array: nil and true when it is null.
func readSetArgument(name string, code int32, v any) (a bson.A, null bool, err error) {
	if bsonval.IsNullish(v) {
		return nil, true, nil
	}
	a, ok := v.(bson.A)
	if !ok {
		return nil, false, mongoerr.New(code, "All operands of %s must be arrays. One argument is of type: %s",
			name, bsonval.TypeName(v))
	}
	return a, false, nil
}

func setUnion(by *collation.Collator, args []any) (any, error) {
	s := newSet(by)
	for _, v := range args {
		a, null, err := readSetArgument("$setUnion", 17043, v)
		if null || err != nil {
			return nil, err
		}
		for _, x := range a {
			s.add(x)
		}
	}
	return s.sort(), nil
}

func setIntersection(by *collation.Collator, args []any) (any, error) {
	s := newSet(by)
	for i, v := range args {
		a, null, err := readSetArgument("$setIntersection", 17047, v)
		if null || err != nil {
			return nil, err
		}
		other := collectSet(by, a)
		switch {
		case i == 0:
			s = other
		case len(s.list) > len(other.list):
			s = other.intersect(s)
		default:
			s = s.intersect(other)
		}
	}
	return s.sort(), nil
}

// intersect returns those elements of s that the other set has too.
func (s *set) intersect(other *set) *set {
	both := newSet(s.by)
	for _, x := range s.list {
		if other.contains(x) {
			both.add(x)
		}
	}
	return both
}

// sort sorts the elements, and returns them.
func (s *set) sort() bson.A {
	slices.SortStableFunc(s.list, s.by.Compare)
	return s.list
}

func setDifference(by *collation.Collator, args []any) (any, error) {
	if bsonval.IsNullish(args[0]) || bsonval.IsNullish(args[1]) {
		return nil, nil
	}
	a, ok := args[0].(bson.A)
	if !ok {
		return nil, mongoerr.New(17048, "both operands of $setDifference must be arrays. First argument is of type: %s",
			bsonval.TypeName(args[0]))
	}
	b, ok := args[1].(bson.A)
	if !ok {
		return nil, mongoerr.New(17049, "both operands of $setDifference must be arrays. Second argument is of type: %s",
			bsonval.TypeName(args[1]))
	}
	without, out := collectSet(by, b), newSet(by)
	for _, v := range a {
		if !without.contains(v) {
			out.add(v)
		}
	}
	return out.list, nil
}

// parseSetEquals makes an expression that evaluates no more sets once one differs from the first.
func parseSetEquals(name string, arg any, s Scope) (Expr, error) {
	items, err := parseArguments(name, arg, s, 2, -1)
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) {
		var first *set
		for i, e := range items {
			v, err := e.Eval(c)
			if err != nil {
				return nil, err
			}
			a, ok := v.(bson.A)
			if !ok {
				return nil, mongoerr.New(17044, "All operands of $setEquals must be arrays. %d-th argument is of type: %s",
					i+1, bsonval.TypeName(v))
			}
			other := collectSet(s.collation, a)
			if first == nil {
				first = other
			} else if !first.equals(other) {
				return false, nil
			}
		}
		return true, nil
	}), nil
}

// equals reports whether two sets have the same elements.
func (s *set) equals(other *set) bool {
	return len(s.list) == len(other.list) && !slices.ContainsFunc(other.list, func(v any) bool { return !s.contains(v) })
}

func setIsSubset(by *collation.Collator, args []any) (any, error) {
	a, ok := args[0].(bson.A)
	if !ok {
		return nil, mongoerr.New(17046, "both operands of $setIsSubset must be arrays. First argument is of type: %s",
			bsonval.TypeName(args[0]))
	}
	b, ok := args[1].(bson.A)
	if !ok {
		return nil, mongoerr.New(17042, "both operands of $setIsSubset must be arrays. Second argument is of type: %s",
			bsonval.TypeName(args[1]))
	}
	all := collectSet(by, b)
	for _, v := range a {
		if !all.contains(v) {
			return false, nil
		}
	}
	return true, nil
}

// findElement reports whether an array has an element that counts as true, or as false if want is false.
func findElement(name string, code int32, v any, want bool) (any, error) {
	a, ok := v.(bson.A)
	if !ok {
		return nil, mongoerr.New(code, "%s's argument must be an array, but is %s", name, bsonval.TypeName(v))
	}
	for _, x := range a {
		if bsonval.Truthy(x) == want {
			return want, nil
		}
	}
	return !want, nil
}
