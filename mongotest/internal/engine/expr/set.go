package expr

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// sets are operators that take arrays as sets: duplicates and order don't count, and an array within a set is one
// element. Unions and intersections are returned in the order of values, as MongoDB does although its manual leaves it
// open. A difference is returned in the order of the first array.
//
//	{$setUnion: [[3, 1], [1, 9]]}          →   [1, 3, 9]
//	{$setIntersection: [[3, 1], [1]]}      →   [1]
//	{$setDifference: [[3, 1, 2], [1]]}     →   [3, 2]
//	{$setEquals: [[3, 1], [1, 3, 3]]}      →   true
//	{$setIsSubset: [[1], [3, 1]]}          →   true
//	{$anyElementTrue: [[0, true]]}         →   true
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

// set is an array without duplicates, in the order in which the elements were added.
type set struct {
	list bson.A
	keys map[string]bool // the keys of the elements: two values have one key if they are equal under the collation
	by   *collation.Collator
}

// newSet returns an empty set.
func newSet(by *collation.Collator) *set {
	return &set{list: bson.A{}, keys: map[string]bool{}, by: by}
}

// add adds a value, unless the set has an equal one. Of 1 and 1.0 the first stays.
func (s *set) add(v any) {
	k := string(s.by.AppendKey(nil, v))
	if !s.keys[k] {
		s.keys[k] = true
		s.list = append(s.list, v)
	}
}

// contains reports whether the set has an equal value.
func (s *set) contains(v any) bool { return s.keys[string(s.by.AppendKey(nil, v))] }

// collectSet returns the set of an array's elements.
func collectSet(by *collation.Collator, a bson.A) *set {
	s := newSet(by)
	for _, v := range a {
		s.add(v)
	}
	return s
}

// readSetArgument returns an argument of $setUnion or $setIntersection as an array, or reports that it is nullish. code
// is the operator's code for another type.
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

// setUnion is {$setUnion: [array, …]}: the elements that any array has. It is null if an array is nullish.
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

// setIntersection is {$setIntersection: [array, …]}: the elements that all arrays have. It is null if an array is
// nullish.
func setIntersection(by *collation.Collator, args []any) (any, error) {
	s := newSet(by)
	for i, v := range args {
		a, null, err := readSetArgument("$setIntersection", 17047, v)
		if null || err != nil {
			return nil, err
		}
		other := collectSet(by, a)
		// The shorter set is the one that is walked.
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

// intersect returns the elements of s that the other set has too.
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

// setDifference is {$setDifference: [a, b]}: the elements of a that b doesn't have.
func setDifference(by *collation.Collator, args []any) (any, error) {
	if bsonval.IsNullish(args[0]) || bsonval.IsNullish(args[1]) {
		return nil, nil
	}
	a, ok := args[0].(bson.A)
	if !ok {
		return nil, mongoerr.New(17048,
			"both operands of $setDifference must be arrays. First argument is of type: %s", bsonval.TypeName(args[0]))
	}
	b, ok := args[1].(bson.A)
	if !ok {
		return nil, mongoerr.New(17049,
			"both operands of $setDifference must be arrays. Second argument is of type: %s", bsonval.TypeName(args[1]))
	}
	removed, out := collectSet(by, b), newSet(by)
	for _, v := range a {
		if !removed.contains(v) {
			out.add(v)
		}
	}
	return out.list, nil
}

// parseSetEquals parses {$setEquals: [array, array, …]}.
func parseSetEquals(name string, arg any, s Scope) (Expr, error) {
	items, err := parseArguments(name, arg, s, 2, -1)
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) { return compareSets(c, items, s.collation) }), nil
}

// compareSets reports whether all arguments are equal sets. After a set that differs from the first, no other argument
// is evaluated: it may be of a wrong type.
func compareSets(c *Context, items []Expr, by *collation.Collator) (any, error) {
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
		other := collectSet(by, a)
		if first == nil {
			first = other
		} else if !first.equals(other) {
			return false, nil
		}
	}
	return true, nil
}

// equals reports whether two sets have the same elements.
func (s *set) equals(other *set) bool {
	isForeign := func(v any) bool { return !s.contains(v) }
	return len(s.list) == len(other.list) && !slices.ContainsFunc(other.list, isForeign)
}

// setIsSubset is {$setIsSubset: [a, b]}: whether b has all elements of a. It refuses null.
func setIsSubset(by *collation.Collator, args []any) (any, error) {
	a, ok := args[0].(bson.A)
	if !ok {
		return nil, mongoerr.New(17046,
			"both operands of $setIsSubset must be arrays. First argument is of type: %s", bsonval.TypeName(args[0]))
	}
	b, ok := args[1].(bson.A)
	if !ok {
		return nil, mongoerr.New(17042,
			"both operands of $setIsSubset must be arrays. Second argument is of type: %s", bsonval.TypeName(args[1]))
	}
	all := collectSet(by, b)
	for _, v := range a {
		if !all.contains(v) {
			return false, nil
		}
	}
	return true, nil
}

// findElement is $anyElementTrue with want true, $allElementsTrue with want false. It stops at the first element that
// counts as want, which decides the result.
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
