package expr

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// variables are operators with variables of their own, which an inner expression sees: {$map: {input: "$a", as: "x",
// in: {$add: ["$$x", 1]}}}. Names of variables are without $$ here.
//
//	{$let: {vars: {x: 7}, in: {$add: ["$$x", 1]}}}                         →   8
//	{$map: {input: [3, 1], as: "x", in: {$add: ["$$x", 1]}}}               →   [4, 2]
//	{$filter: {input: [3, 1, 2], cond: {$gt: ["$$this", 1]}, limit: 1}}    →   [3]
var variables = table{
	"$let":    parseLet,
	"$map":    parseMap,
	"$filter": parseFilter,
	"$reduce": parseReduce,
}

// parseLet parses {$let: {vars: {x: …, y: …}, in: …}}. The values of vars don't see each other, only outer variables.
func parseLet(_ string, arg any, s Scope) (Expr, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(16874, "$let only supports an object as its argument")
	}
	var vars bson.D
	body := bsonval.Missing
	for _, f := range d {
		switch f.Key {
		case "vars":
			if vars, ok = f.Value.(bson.D); !ok {
				return nil, mongoerr.New(10065, "invalid parameter: expected an object (vars)")
			}
		case "in":
			body = f.Value
		default:
			return nil, mongoerr.New(16875, "Unrecognized parameter to $let: %s", f.Key)
		}
	}
	switch {
	case vars == nil:
		return nil, mongoerr.New(16876, "Missing 'vars' parameter to $let")
	case bsonval.IsMissing(body):
		return nil, mongoerr.New(16877, "Missing 'in' parameter to $let")
	}
	// The i-th name has the value of the i-th expression. They are parsed with the outer scope.
	names := make([]string, len(vars))
	exprs := make([]Expr, len(vars))
	for i, f := range vars {
		if err := CheckVariable(f.Key); err != nil {
			return nil, err
		}
		e, err := Parse(f.Value, s)
		if err != nil {
			return nil, err
		}
		names[i], exprs[i] = f.Key, e
	}
	in, err := Parse(body, s.WithVariables(names...))
	if err != nil {
		return nil, err
	}
	evalLet := func(c *Context) (any, error) {
		inner := c
		for i, e := range exprs {
			v, err := e.Eval(c) // not inner: a variable doesn't see the variables before it
			if err != nil {
				return nil, err
			}
			inner = inner.WithVariable(names[i], v)
		}
		return in.Eval(inner)
	}
	return function(evalLet), nil
}

// loop is a parsed $map, $filter or $reduce.
type loop struct {
	name  string // of the operator
	input Expr   // the array
	body  Expr   // the expression for each element: in, or the cond of $filter
	extra Expr   // the limit of $filter, the initialValue of $reduce, or nil
	as    string // the variable that has the element; $reduce doesn't use it
}

// loopForm is how an operator names the parts of a loop, and its codes for errors.
type loopForm struct {
	body, extra string   // names of parts; extra may be "", for no such part
	vars        []string // the variables of the body; nil if the part as names the variable, which is "this" without it

	// The codes for an argument that isn't an object, an unknown part, a missing input and a missing body.
	notObject, unknown, noInput, noBody int32
}

// The forms of $map, $filter and $reduce.
var (
	mapForm = loopForm{
		body: "in", notObject: 16878, unknown: 16879, noInput: 16880, noBody: 16882,
	}
	filterForm = loopForm{
		body: "cond", extra: "limit", notObject: 28646, unknown: 28647, noInput: 28648, noBody: 28650,
	}
	reduceForm = loopForm{
		body: "in", extra: "initialValue", vars: []string{"this", "value"},
		notObject: 40075, unknown: 40076, noInput: 40077, noBody: 40079,
	}
)

// parseLoop parses the parts of a loop. Names and unknown parts are checked before any part is parsed, because the body
// needs the name of the variable.
func parseLoop(name string, arg any, s Scope, form loopForm) (*loop, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(form.notObject, "%s only supports an object as its argument", name)
	}
	l := &loop{name: name, as: "this"}
	for _, f := range d {
		if f.Key == "as" && form.vars == nil {
			as, ok := f.Value.(string)
			if !ok {
				return nil, mongoerr.New(mongoerr.FailedToParse, "%s: 'as' must be a string", name)
			}
			if err := CheckVariable(as); err != nil {
				return nil, err
			}
			l.as = as
		} else if f.Key == "" || !slices.Contains([]string{"input", form.body, form.extra}, f.Key) {
			return nil, mongoerr.New(form.unknown, "Unrecognized parameter to %s: %s", name, f.Key)
		}
	}
	vars := form.vars
	if vars == nil {
		vars = []string{l.as}
	}
	inner := s.WithVariables(vars...) // of the body alone: the other parts don't see an element
	// The input is parsed first, whatever the order in the command.
	for _, p := range []struct {
		name   string
		target *Expr
		scope  Scope
	}{{"input", &l.input, s}, {form.body, &l.body, inner}, {form.extra, &l.extra, s}} {
		v, ok := bsonval.Get(d, p.name)
		if !ok || p.name == "" {
			continue
		}
		e, err := Parse(v, p.scope)
		if err != nil {
			return nil, err
		}
		*p.target = e
	}
	switch {
	case l.input == nil:
		return nil, mongoerr.New(form.noInput, "Missing 'input' parameter to %s", name)
	case l.body == nil:
		return nil, mongoerr.New(form.noBody, "Missing '%s' parameter to %s", form.body, name)
	}
	return l, nil
}

// evalInput evaluates the input, or reports that it is nullish. code is for an input that isn't an array.
func (l *loop) evalInput(c *Context, code int32) (a bson.A, null bool, err error) {
	v, err := l.input.Eval(c)
	if err != nil || bsonval.IsNullish(v) {
		return nil, true, err
	}
	a, ok := v.(bson.A)
	if !ok {
		return nil, false, mongoerr.New(code, "input to %s must be an array not %s", l.name, bsonval.TypeName(v))
	}
	return a, false, nil
}

// parseMap parses {$map: {input: array, as: name, in: …}}.
func parseMap(name string, arg any, s Scope) (Expr, error) {
	l, err := parseLoop(name, arg, s, mapForm)
	if err != nil {
		return nil, err
	}
	return function(l.mapElements), nil
}

// mapElements evaluates $map: the array of the body's values, with null for a missing value. A body may make a large
// value of a small element, and so the bytes are counted.
func (l *loop) mapElements(c *Context) (any, error) {
	a, null, err := l.evalInput(c, 16883)
	if null || err != nil {
		return nil, err
	}
	out := make(bson.A, len(a))
	var held memory
	for i, x := range a {
		if err := c.Step(); err != nil {
			return nil, err
		}
		v, err := l.body.Eval(c.WithVariable(l.as, x))
		if err != nil {
			return nil, err
		}
		out[i] = replaceMissing(v)
		if err := held.add(l.name, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// parseFilter parses {$filter: {input: array, as: name, cond: …, limit: n}}.
func parseFilter(name string, arg any, s Scope) (Expr, error) {
	l, err := parseLoop(name, arg, s, filterForm)
	if err != nil {
		return nil, err
	}
	return function(l.filterElements), nil
}

// filterElements evaluates $filter: the first elements, up to the limit, for which the body counts as true. A nullish
// limit is no limit. The elements exist already, and so their bytes aren't counted.
func (l *loop) filterElements(c *Context) (any, error) {
	a, null, err := l.evalInput(c, 28651)
	if null || err != nil {
		return nil, err
	}
	limit := int64(len(a))
	v, err := evalPart(c, l.extra, nil)
	if err != nil {
		return nil, err
	}
	if !bsonval.IsNullish(v) {
		n, ok := bsonval.Int64(v)
		switch {
		case !ok:
			return nil, mongoerr.New(327391,
				"$filter: limit must be represented as a 32-bit integral value: %s", bsonval.Show(v))
		case n <= 0:
			return nil, mongoerr.New(327392, "$filter: limit must be greater than 0: %d", n)
		}
		limit = n
	}
	out := bson.A{}
	for _, x := range a {
		if int64(len(out)) == limit {
			break
		}
		if err := c.Step(); err != nil {
			return nil, err
		}
		v, err := l.body.Eval(c.WithVariable(l.as, x))
		if err != nil {
			return nil, err
		}
		if bsonval.Truthy(v) {
			out = append(out, x)
		}
	}
	return out, nil
}

// parseReduce parses {$reduce: {input: array, initialValue: …, in: …}}.
func parseReduce(name string, arg any, s Scope) (Expr, error) {
	l, err := parseLoop(name, arg, s, reduceForm)
	if err != nil {
		return nil, err
	}
	if l.extra == nil {
		return nil, mongoerr.New(40078, "$reduce requires 'initialValue' to be specified")
	}
	return function(l.reduceElements), nil
}

// reduceElements evaluates $reduce: the body's last value. At each turn $$this is an element, and $$value the body's
// value of the turn before:
//
//	{$reduce: {input: [1, 2], initialValue: 10, in: {$subtract: ["$$value", "$$this"]}}}   →   7
func (l *loop) reduceElements(c *Context) (any, error) {
	a, null, err := l.evalInput(c, 40080)
	if null || err != nil {
		return nil, err
	}
	v, err := l.extra.Eval(c)
	for i := 0; i < len(a) && err == nil; i++ {
		if err = c.Step(); err != nil {
			break
		}
		if v, err = l.body.Eval(c.WithVariable("this", a[i]).WithVariable("value", v)); err == nil {
			err = checkGrowth(v, i+1, i == len(a)-1)
		}
	}
	return v, err
}
