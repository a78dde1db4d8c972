package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// values is what an operator does with its evaluated arguments.
type values func(args []any) (any, error)

// call returns a parser for an operator that takes from least to most
// arguments (most < 0: any number), all of them evaluated first.
func call(least, most int, f values) parser {
	return callIn(least, most, func(_ *Context, args []any) (any, error) { return f(args) })
}

// callIn is call for a function that needs the context.
func callIn(least, most int, f func(c *Context, args []any) (any, error)) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		items, err := parseArguments(name, arg, s, least, most)
		if err != nil {
			return nil, err
		}
		return function(func(c *Context) (any, error) {
			args, err := evalAll(c, items)
			if err == nil {
				err = countSteps(c, args)
			}
			if err != nil {
				return nil, err
			}
			return f(c, args)
		}), nil
	}
}

// callUnder is call for a function that compares under a collation.
func callUnder(least, most int, f func(by *collation.Collator, args []any) (any, error)) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		return call(least, most, s.bindCollation(f))(name, arg, s)
	}
}

// callToNull is call for an operator that returns null as soon as an argument is null or missing: what comes after that
// isn't evaluated, and f doesn't get it.
func callToNull(least, most int, f values) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		items, err := parseArguments(name, arg, s, least, most)
		if err != nil {
			return nil, err
		}
		return function(func(c *Context) (any, error) {
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
			if err := countSteps(c, args); err != nil {
				return nil, err
			}
			return f(args)
		}), nil
	}
}

// callToNullUnder is callToNull for a function that compares under a collation.
func callToNullUnder(least, most int, f func(by *collation.Collator, args []any) (any, error)) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		return callToNull(least, most, s.bindCollation(f))(name, arg, s)
	}
}

// callIfGiven is call for an operator that returns null if its first argument is null or missing, without evaluating
// the others.
func callIfGiven(least, most int, f values) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		items, err := parseArguments(name, arg, s, least, most)
		if err != nil {
			return nil, err
		}
		return function(func(c *Context) (any, error) {
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
		}), nil
	}
}

// perStep is how many elements of an array an operator looks at in a step.
const perStep = 64

// countSteps counts the steps of an operator that looks at the elements of its arguments.
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

// parseArguments parses an operator's arguments: an array, or a single one that isn't in an array.
func parseArguments(name string, arg any, s Scope, least, most int) ([]Expr, error) {
	a, ok := arg.(bson.A)
	if !ok {
		a = bson.A{arg}
	}
	if len(a) < least || (most >= 0 && len(a) > most) {
		switch {
		case least == most:
			return nil, mongoerr.New(16020, "Expression %s takes exactly %d arguments. %d were passed in.", name, least, len(a))
		case most < 0:
			return nil, mongoerr.New(28667,
				"Expression %s takes at least %d arguments, but %d were passed in.", name, least, len(a))
		}
		return nil, mongoerr.New(28667, "Expression %s takes at least %d arguments, and at most %d, but %d were passed in.",
			name, least, most, len(a))
	}
	return parseAll(a, s)
}

// evalAll evaluates all arguments.
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

// replaceMissing returns null for Missing, else v.
func replaceMissing(v any) any {
	if bsonval.IsMissing(v) {
		return nil
	}
	return v
}
