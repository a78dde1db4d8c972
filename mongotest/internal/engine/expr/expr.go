// Package expr parses and evaluates aggregation expressions and accumulators.
//
// The manual's pages on expressions and operators decide what they mean
// (https://www.mongodb.com/docs/manual/reference/operator/aggregation/). An
// operator that isn't here is an error that names it.
//
// A file holds one family of operators and enters them in a table, so that
// another operator is another entry.
package expr

import (
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// Expr is a parsed expression. It is immutable and safe for concurrent use.
type Expr interface {
	// Eval returns the expression's value for the context's document,
	// bsonval.Missing when it has none.
	Eval(c *Context) (any, error)
}

// Context is what an expression is evaluated in.
type Context struct {
	Root any // the document that field paths start from
	*command
	vars  *binding
	score *float64 // see Scored
}

// command is what all contexts of a command share.
type command struct {
	Now   time.Time        // $$NOW
	Watch *interrupt.Watch // ends the loops of expressions
}

type binding struct {
	name string
	v    any
	next *binding
}

// NewContext returns a context for the document, with the given variables. The watch, which may
// be nil, ends the loops of expressions.
func NewContext(root any, now time.Time, w *interrupt.Watch, vars map[string]any) *Context {
	var both struct { // one allocation
		Context
		command
	}
	both.command = command{Now: now, Watch: w}
	both.Context = Context{Root: root, command: &both.command}
	c := &both.Context
	for name, v := range vars {
		c = c.With(name, v)
	}
	return c
}

// With returns a context in which the variable has the value.
func (c *Context) With(name string, v any) *Context {
	next := *c
	next.vars = &binding{name: name, v: v, next: c.vars}
	return &next
}

// Watched returns a context in which the watch ends the loops of expressions.
func (c *Context) Watched(w *interrupt.Watch) *Context {
	next := *c
	next.command = &command{Now: c.Now, Watch: w}
	return &next
}

// Step counts one turn of a loop, see [interrupt.Watch.Step]. The context may be nil.
func (c *Context) Step() error {
	if c == nil {
		return nil
	}
	return c.Watch.Step()
}

// On returns a context with the same variables for another document.
func (c *Context) On(root any) *Context {
	next := *c
	next.Root = root
	return &next
}

// Vars returns the variables and their values.
func (c *Context) Vars() map[string]any {
	vars := map[string]any{}
	for b := c.vars; b != nil; b = b.next {
		if _, shadowed := vars[b.name]; !shadowed {
			vars[b.name] = b.v
		}
	}
	return vars
}

func (c *Context) lookup(name string) any {
	for b := c.vars; b != nil; b = b.next {
		if b.name == name {
			return b.v
		}
	}
	return bsonval.Missing
}

// Scope is the names of the variables that an expression may use beside the
// system's own, and the collation that it compares under. The zero Scope has no variables and the simple collation.
type Scope struct {
	names     []string
	collation *collation.Collator
	scored    bool // the documents have a text score
}

// NewScope returns a scope with these variables.
func NewScope(names ...string) Scope { return Scope{names: names} }

// Under returns the scope with another collation.
func (s Scope) Under(c *collation.Collator) Scope {
	s.collation = c
	return s
}

// Collation returns the collation that expressions compare under.
func (s Scope) Collation() *collation.Collator { return s.collation }

// With returns a scope that has the variables too.
func (s Scope) With(names ...string) Scope {
	s.names = append(s.names[:len(s.names):len(s.names)], names...)
	return s
}

func (s Scope) has(name string) bool {
	for _, n := range s.names {
		if n == name {
			return true
		}
	}
	return false
}

// Parse parses an expression: a field path or variable ("$a.b", "$$NOW"), an
// operator, an object or an array of expressions, or a constant.
func Parse(v any, s Scope) (Expr, error) {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, "$") {
			return parsePath(v, s)
		}
	case bson.A:
		return parseArray(v, s)
	case bson.D:
		if len(v) > 0 && strings.HasPrefix(v[0].Key, "$") {
			return parseOperator(v, s)
		}
		return parseObject(v, s)
	}
	return constant{v}, nil
}

// Literal returns the constant that e always is, false when it depends on anything.
func Literal(e Expr) (any, bool) {
	c, ok := e.(constant)
	return c.v, ok
}

// constant is an expression that is always v.
type constant struct{ v any }

func (e constant) Eval(*Context) (any, error) { return e.v, nil }

// function is an expression given by what it does.
type function func(c *Context) (any, error)

func (f function) Eval(c *Context) (any, error) { return f(c) }

func parseOperator(d bson.D, s Scope) (Expr, error) {
	if len(d) != 1 {
		return nil, mongoerr.New(15983, "an object representing an expression must have exactly one field: %s", Show(d))
	}
	name, arg := d[0].Key, d[0].Value
	parse, ok := operators[name]
	switch {
	case ok:
	case slices.Contains(absent, name):
		return nil, mongoerr.New(mongoerr.NotImplemented, "%s isn't implemented by the embedded engine", name)
	default:
		return nil, mongoerr.New(mongoerr.InvalidPipelineOperator, "Unrecognized expression '%s'", name)
	}
	return parse(name, arg, s)
}

type arrayOf []Expr

func parseArray(a bson.A, s Scope) (Expr, error) {
	items, err := parseAll(a, s)
	if err != nil {
		return nil, err
	}
	for _, e := range items {
		if _, ok := e.(constant); !ok {
			return arrayOf(items), nil
		}
	}
	v, _ := arrayOf(items).Eval(nil)
	return constant{v}, nil
}

func parseAll(a bson.A, s Scope) ([]Expr, error) {
	items := make([]Expr, len(a))
	for i, v := range a {
		e, err := Parse(v, s)
		if err != nil {
			return nil, err
		}
		items[i] = e
	}
	return items, nil
}

func (e arrayOf) Eval(c *Context) (any, error) {
	a := make(bson.A, len(e))
	for i, item := range e {
		v, err := item.Eval(c)
		if err != nil {
			return nil, err
		}
		if bsonval.IsMissing(v) {
			v = nil
		}
		a[i] = v
	}
	return a, nil
}

type objectOf []struct {
	name string
	e    Expr
}

func parseObject(d bson.D, s Scope) (Expr, error) {
	o := make(objectOf, len(d))
	for i, f := range d {
		if err := checkFieldName(f.Key, d); err != nil {
			return nil, err
		}
		e, err := Parse(f.Value, s)
		if err != nil {
			return nil, err
		}
		for _, earlier := range o[:i] {
			if earlier.name == f.Key {
				return nil, mongoerr.New(16406, "duplicate field name specified in object literal: %s", Show(d))
			}
		}
		o[i].name, o[i].e = f.Key, e
	}
	return o, nil
}

func checkFieldName(name string, d bson.D) error {
	switch {
	case name == "":
		return mongoerr.New(40352, "FieldPath cannot be constructed with empty string")
	case strings.HasPrefix(name, "$"):
		return mongoerr.New(16410,
			"FieldPath field names may not start with '$'. Consider using $getField or $setField. Field name: %s", name)
	case strings.Contains(name, "."):
		return mongoerr.New(16412,
			"FieldPath field names may not contain '.'. Consider using $getField or $setField. In %s", Show(d))
	}
	return nil
}

func (o objectOf) Eval(c *Context) (any, error) {
	d := make(bson.D, 0, len(o))
	for _, f := range o {
		v, err := f.e.Eval(c)
		if err != nil {
			return nil, err
		}
		if !bsonval.IsMissing(v) {
			d = append(d, bson.E{Key: f.name, Value: v})
		}
	}
	return d, nil
}
