package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// logic are operators on truth. A value counts as false if it is false, nullish or a number equal to 0: the empty
// string and the empty array count as true. These operators evaluate no argument after the one that decides.
//
//	{$and: [1, "$b"]}                                          →   true if b counts as true
//	{$not: [0]}                                                →   true
//	{$cond: [{$gt: ["$n", 1]}, "many", "one"]}                 →   "many" for {n: 7}
//	{$ifNull: ["$nope", 5]}                                    →   5
//	{$switch: {branches: [{case: true, then: 1}], default: 2}} →   1
var logic = table{
	"$and":    parseUntil(false),
	"$or":     parseUntil(true),
	"$not":    call(1, 1, func(a []any) (any, error) { return !bsonval.Truthy(a[0]), nil }),
	"$cond":   parseCond,
	"$ifNull": parseIfNull,
	"$switch": parseSwitch,
}

// parseUntil returns the parser of $and (stop is false) or $or (stop is true). The first argument that counts as stop
// decides. Without such an argument, and without any argument, the value is the opposite.
func parseUntil(stop bool) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		items, err := parseArguments(name, arg, s, 0, -1)
		if err != nil {
			return nil, err
		}
		evalUntil := func(c *Context) (any, error) {
			for _, e := range items {
				v, err := e.Eval(c)
				if err != nil {
					return nil, err
				}
				if bsonval.Truthy(v) == stop {
					return stop, nil
				}
			}
			return !stop, nil
		}
		return function(evalUntil), nil
	}
}

// parseCond parses {$cond: [if, then, else]} or {$cond: {if: …, then: …, else: …}}.
func parseCond(name string, arg any, s Scope) (Expr, error) {
	var parts [3]Expr // if, then, else
	if d, ok := arg.(bson.D); ok {
		for _, f := range d {
			i := map[string]int{"if": 1, "then": 2, "else": 3}[f.Key]
			if i == 0 {
				return nil, mongoerr.New(17083, "Unrecognized parameter to $cond: %s", f.Key)
			}
			e, err := Parse(f.Value, s)
			if err != nil {
				return nil, err
			}
			parts[i-1] = e
		}
		// The codes are 17080 for a missing if, 17081 for then, 17082 for else.
		for i, part := range []string{"if", "then", "else"} {
			if parts[i] == nil {
				return nil, mongoerr.New(int32(17080+i), "Missing '%s' parameter to $cond", part)
			}
		}
	} else {
		items, err := parseArguments(name, arg, s, 3, 3)
		if err != nil {
			return nil, err
		}
		copy(parts[:], items)
	}
	return function(func(c *Context) (any, error) { return choose(c, parts) }), nil
}

// choose evaluates $cond: the condition, and one of the two others.
func choose(c *Context, parts [3]Expr) (any, error) {
	v, err := parts[0].Eval(c)
	if err != nil {
		return nil, err
	}
	if bsonval.Truthy(v) {
		return parts[1].Eval(c)
	}
	return parts[2].Eval(c)
}

// parseIfNull parses {$ifNull: [value, …, replacement]}.
func parseIfNull(name string, arg any, s Scope) (Expr, error) {
	a, ok := arg.(bson.A)
	if !ok || len(a) < 2 {
		return nil, mongoerr.New(1257300, "$ifNull needs at least two arguments, had: %d", max(len(a), 1))
	}
	items, err := parseAll(a, s)
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) { return findGiven(c, items) }), nil
}

// findGiven evaluates $ifNull: the first value that isn't nullish, or else the last value, which may be Missing.
func findGiven(c *Context, items []Expr) (any, error) {
	var v any
	for _, e := range items {
		var err error
		if v, err = e.Eval(c); err != nil || !bsonval.IsNullish(v) {
			return v, err
		}
	}
	return v, nil
}

// branch is a case of $switch.
type branch struct{ test, then Expr }

// parseSwitch parses {$switch: {branches: [{case: …, then: …}], default: …}}.
func parseSwitch(_ string, arg any, s Scope) (Expr, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(40060, "$switch requires an object as an argument, found: %s", bsonval.TypeName(arg))
	}
	var branches []branch
	var otherwise Expr // nil without a default
	for _, f := range d {
		var err error
		switch f.Key {
		case "branches":
			branches, err = parseBranches(f.Value, s)
		case "default":
			otherwise, err = Parse(f.Value, s)
		default:
			err = mongoerr.New(40067, "$switch found an unknown argument: %s", f.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(branches) == 0 {
		return nil, mongoerr.New(40068, "$switch requires at least one branch.")
	}
	return function(func(c *Context) (any, error) { return chooseBranch(c, branches, otherwise) }), nil
}

// chooseBranch evaluates $switch: the first branch whose case is true, or else the default, which may be nil.
func chooseBranch(c *Context, branches []branch, otherwise Expr) (any, error) {
	for _, b := range branches {
		v, err := b.test.Eval(c)
		if err != nil {
			return nil, err
		}
		if bsonval.Truthy(v) {
			return b.then.Eval(c)
		}
	}
	if otherwise == nil {
		return nil, mongoerr.New(40066,
			"$switch could not find a matching branch for an input, and no default was specified.")
	}
	return otherwise.Eval(c)
}

// parseBranches parses the part branches of $switch.
func parseBranches(v any, s Scope) ([]branch, error) {
	a, ok := v.(bson.A)
	if !ok {
		return nil, mongoerr.New(40061, "$switch expected an array for 'branches', found: %s", bsonval.TypeName(v))
	}
	out := make([]branch, len(a))
	for i, item := range a {
		d, ok := item.(bson.D)
		if !ok {
			return nil, mongoerr.New(40062,
				"$switch expected each branch to be an object, found: %s", bsonval.TypeName(item))
		}
		for _, f := range d {
			e, err := Parse(f.Value, s)
			switch {
			case err != nil:
				return nil, err
			case f.Key == "case":
				out[i].test = e
			case f.Key == "then":
				out[i].then = e
			default:
				return nil, mongoerr.New(40063, "$switch found an unknown argument to a branch: %s", f.Key)
			}
		}
		switch {
		case out[i].test == nil:
			return nil, mongoerr.New(40064, "$switch requires each branch have a 'case' expression")
		case out[i].then == nil:
			return nil, mongoerr.New(40065, "$switch requires each branch have a 'then' expression.")
		}
	}
	return out, nil
}
