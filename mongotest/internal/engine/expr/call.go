package expr

// This file makes parsers for operators whose argument is a list: {$subtract: [3, 1]}, or a single value where one is
// enough: {$abs: -1}. The makers differ in how they evaluate the arguments:
//
//   - call and callIn evaluate all arguments, and then call the operator's function. This is the usual case.
//   - callToNull evaluates arguments up to the first nullish one.
//   - callIfGiven evaluates the first argument, and the others only if it isn't nullish.
//
// What is evaluated matters if an argument has an error: {$concat: [null, {$divide: ["$n", 0]}]} is null, and
// {$subtract: [null, {$divide: ["$n", 0]}]} fails.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// values is an operator's function of its evaluated arguments. args has as many elements as the parser allows, and may
// hold Missing.
type values func(args []any) (any, error)

// call returns a parser for an operator that takes from least to most arguments (most < 0: any number). All are
// evaluated before f is called.
func call(least, most int, f values) parser {
	return callIn(least, most, func(_ *Context, args []any) (any, error) { return f(args) })
}

// callIn is call for a function that needs the context: $range counts its own steps.
func callIn(least, most int, f func(c *Context, args []any) (any, error)) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		items, err := parseArguments(name, arg, s, least, most)
		if err != nil {
			return nil, err
		}
		evalCall := func(c *Context) (any, error) {
			args, err := evalAll(c, items)
			if err == nil {
				err = countSteps(c, args)
			}
			if err != nil {
				return nil, err
			}
			return f(c, args)
		}
		return function(evalCall), nil
	}
}

// callUnder is call for a function that compares values under the collation of the scope.
func callUnder(least, most int, f func(by *collation.Collator, args []any) (any, error)) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		return call(least, most, s.bindCollation(f))(name, arg, s)
	}
}

// callToNull is call for an operator that is null as soon as an argument is nullish. Later arguments aren't evaluated.
// f gets the arguments up to the nullish one, which is then the last. f checks the types before it: {$add: ["x", null]}
// is an error.
func callToNull(least, most int, f values) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		items, err := parseArguments(name, arg, s, least, most)
		if err != nil {
			return nil, err
		}
		return function(func(c *Context) (any, error) {
			args, err := evalToNull(c, items)
			if err != nil {
				return nil, err
			}
			return f(args)
		}), nil
	}
}

// evalToNull evaluates the arguments up to the first nullish one, and counts their steps.
func evalToNull(c *Context, items []Expr) ([]any, error) {
	args := make([]any, 0, len(items))
	for _, e := range items {
		v, err := e.Eval(c)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
		if bsonval.IsNullish(v) {
			break
		}
	}
	return args, countSteps(c, args)
}

// callToNullUnder is callToNull for a function that compares under a collation.
func callToNullUnder(least, most int, f func(by *collation.Collator, args []any) (any, error)) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		return callToNull(least, most, s.bindCollation(f))(name, arg, s)
	}
}

// callIfGiven is call for an operator that is null if its first argument is nullish. The other arguments are evaluated
// only if it isn't. The searches call it: $indexOfArray, $indexOfBytes, $indexOfCP.
func callIfGiven(least, most int, f values) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		items, err := parseArguments(name, arg, s, least, most)
		if err != nil {
			return nil, err
		}
		evalCall := func(c *Context) (any, error) {
			first, err := items[0].Eval(c)
			if err != nil || bsonval.IsNullish(first) {
				return nil, err
			}
			args, err := evalAll(c, items[1:])
			if err != nil {
				return nil, err
			}
			args = append([]any{first}, args...)
			if err := countSteps(c, args); err != nil {
				return nil, err
			}
			return f(args)
		}
		return function(evalCall), nil
	}
}

// perStep is how many elements of an array are one step. A look at an element is short beside a turn of $map, which
// evaluates an expression and is a step of its own.
const perStep = 64

// countSteps counts the steps of an operator that looks at each element of its arguments once. It is called before the
// operator runs, so that the operators' loops needn't count.
func countSteps(c *Context, args []any) error {
	for _, v := range args {
		if a, ok := v.(bson.A); ok && len(a) >= perStep {
			if err := c.Watch.Steps(len(a) / perStep); err != nil {
				return err
			}
		}
	}
	return nil
}

// parseArguments parses an operator's arguments: an array, or a single one that isn't in an array. So {$size: ["$a"]}
// is the size of a, and {$size: [[1, 2]]} is 2.
func parseArguments(name string, arg any, s Scope, least, most int) ([]Expr, error) {
	a, ok := arg.(bson.A)
	if !ok {
		a = bson.A{arg}
	}
	if len(a) < least || (most >= 0 && len(a) > most) {
		switch {
		case least == most:
			return nil, mongoerr.New(16020,
				"Expression %s takes exactly %d arguments. %d were passed in.", name, least, len(a))
		case most < 0:
			return nil, mongoerr.New(28667,
				"Expression %s takes at least %d arguments, but %d were passed in.", name, least, len(a))
		}
		return nil, mongoerr.New(28667,
			"Expression %s takes at least %d arguments, and at most %d, but %d were passed in.",
			name, least, most, len(a))
	}
	return parseAll(a, s)
}

// evalAll evaluates all arguments in their order. A missing value stays Missing.
func evalAll(c *Context, items []Expr) ([]any, error) {
	args := make([]any, len(items))
	for i, e := range items {
		v, err := e.Eval(c)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	return args, nil
}

// replaceMissing returns null for Missing, else v. Elements of arrays pass through it.
func replaceMissing(v any) any {
	if bsonval.IsMissing(v) {
		return nil
	}
	return v
}
