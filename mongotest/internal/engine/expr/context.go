package expr

import (
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// Expr is a parsed expression. It is immutable and safe for concurrent use.
type Expr interface {
	// Eval returns the expression's value for the context's document, bsonval.Missing if it has none. A caller must
	// not change the value, which may be a part of the document.
	Eval(c *Context) (any, error)
}

// Context has all that an expression is evaluated with: a document, the values of the variables, the time and the watch
// of the command. It is immutable: the methods named With… return another context.
type Context struct {
	Root any // the document that field paths start from
	*command
	vars  *binding // of the variables, the innermost first
	score *float64 // see WithScore
}

// command has the part that all contexts of a command share, so that a context for another document is small to copy.
type command struct {
	Now   time.Time        // $$NOW: one time for a whole command
	Watch *interrupt.Watch // ends the loops of expressions
}

// binding is the value of one variable. The next binding may be of the same name: it is then hidden, as by an inner
// $let.
type binding struct {
	name string // without $$
	v    any
	next *binding
}

// NewContext returns a context for the document, with the given variables, by name without $$. The watch, which may be
// nil, ends the loops of expressions.
func NewContext(root any, now time.Time, w *interrupt.Watch, vars map[string]any) *Context {
	var both struct { // one allocation
		Context
		command
	}
	both.command = command{Now: now, Watch: w}
	both.Context = Context{Root: root, command: &both.command}
	c := &both.Context
	for name, v := range vars {
		c = c.WithVariable(name, v)
	}
	return c
}

// WithVariable returns a context in which the variable has the value. The expression must be parsed with a scope that
// has the variable.
func (c *Context) WithVariable(name string, v any) *Context {
	next := *c
	next.vars = &binding{name: name, v: v, next: c.vars}
	return &next
}

// WithWatch returns a context in which another watch ends the loops of expressions. A collection's validator is parsed
// once, and then runs in many commands.
func (c *Context) WithWatch(w *interrupt.Watch) *Context {
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

// ForDocument returns a context with the same variables for another document, which $$ROOT and $$CURRENT then are.
func (c *Context) ForDocument(root any) *Context {
	next := *c
	next.Root = root
	return &next
}

// WithScore returns a context whose document has a score in a text search, for {$meta: "textScore"}. It takes a pointer
// because a running pipeline has one context, and sets the score anew for each document.
func (c *Context) WithScore(score *float64) *Context {
	next := *c
	next.score = score
	return &next
}

// Vars returns the variables and their values, by name without $$. A find's projection gets the variables of its filter
// so.
func (c *Context) Vars() map[string]any {
	vars := map[string]any{}
	for b := c.vars; b != nil; b = b.next {
		if _, shadowed := vars[b.name]; !shadowed {
			vars[b.name] = b.v
		}
	}
	return vars
}

// lookup returns a variable's value. It may be Missing: {$let: {vars: {x: "$nope"}, in: "$$x"}}.
func (c *Context) lookup(name string) any {
	for b := c.vars; b != nil; b = b.next {
		if b.name == name {
			return b.v
		}
	}
	return bsonval.Missing
}
