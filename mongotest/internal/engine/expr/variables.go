package expr

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// variables bind names for an inner expression.
var variables = table{
	"$let":    parseLet,
	"$map":    parseMap,
	"$filter": parseFilter,
	"$reduce": parseReduce,
}

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
	names := make([]string, len(vars))
	bound := make([]Expr, len(vars))
	for i, f := range vars {
		if err := CheckVariable(f.Key); err != nil {
			return nil, err
		}
		e, err := Parse(f.Value, s)
		if err != nil {
			return nil, err
		}
		names[i], bound[i] = f.Key, e
	}
	in, err := Parse(body, s.WithVariables(names...))
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) {
		inner := c
		for i, e := range bound {
			v, err := e.Eval(c)
			if err != nil {
				return nil, err
			}
			inner = inner.WithVariable(names[i], v)
		}
		return in.Eval(inner)
	}), nil
}

// loop is the common form of $map, $filter and $reduce.
type loop struct {
	input, body, extra Expr
	as                 string
}

// parseLoop parses {input, as, <body>, <extra>}; codes are those of: no
// object, unknown part, no input, no body.
func parseLoop(name string, arg any, s Scope, body, extra string, codes [4]int32, vars ...string) (*loop, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(codes[0], "%s only supports an object as its argument", name)
	}
	l := &loop{as: "this"}
	for _, f := range d {
		if f.Key == "as" && len(vars) == 0 {
			as, ok := f.Value.(string)
			if !ok {
				return nil, mongoerr.New(mongoerr.FailedToParse, "%s: 'as' must be a string", name)
			}
			if err := CheckVariable(as); err != nil {
				return nil, err
			}
			l.as = as
		} else if f.Key == "" || !slices.Contains([]string{"input", body, extra}, f.Key) {
			return nil, mongoerr.New(codes[1], "Unrecognized parameter to %s: %s", name, f.Key)
		}
	}
	if len(vars) == 0 {
		vars = []string{l.as}
	}
	inner := s.WithVariables(vars...)
	for _, p := range []struct {
		name   string
		target *Expr
		scope  Scope
	}{{"input", &l.input, s}, {body, &l.body, inner}, {extra, &l.extra, s}} {
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
		return nil, mongoerr.New(codes[2], "Missing 'input' parameter to %s", name)
	case l.body == nil:
		return nil, mongoerr.New(codes[3], "Missing '%s' parameter to %s", body, name)
	}
	return l, nil
}

// array evaluates the input: nil and true for null, an error of the code for what is no array.
func (l *loop) array(c *Context, name string, code int32) (a bson.A, null bool, err error) {
	v, err := l.input.Eval(c)
	if err != nil || bsonval.IsNullish(v) {
		return nil, true, err
	}
	a, ok := v.(bson.A)
	if !ok {
		return nil, false, mongoerr.New(code, "input to %s must be an array not %s", name, bsonval.TypeName(v))
	}
	return a, false, nil
}

func parseMap(name string, arg any, s Scope) (Expr, error) {
	l, err := parseLoop(name, arg, s, "in", "", [4]int32{16878, 16879, 16880, 16882})
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) {
		a, null, err := l.array(c, name, 16883)
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
			if err := held.add(name, out[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	}), nil
}

func parseFilter(name string, arg any, s Scope) (Expr, error) {
	l, err := parseLoop(name, arg, s, "cond", "limit", [4]int32{28646, 28647, 28648, 28650})
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) {
		a, null, err := l.array(c, name, 28651)
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
				return nil, mongoerr.New(327391, "$filter: limit must be represented as a 32-bit integral value: %s", Show(v))
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
	}), nil
}

func parseReduce(name string, arg any, s Scope) (Expr, error) {
	l, err := parseLoop(name, arg, s, "in", "initialValue", [4]int32{40075, 40076, 40077, 40079}, "this", "value")
	if err != nil {
		return nil, err
	}
	if l.extra == nil {
		return nil, mongoerr.New(40078, "$reduce requires 'initialValue' to be specified")
	}
	return function(func(c *Context) (any, error) {
		a, null, err := l.array(c, name, 40080)
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
	}), nil
}
