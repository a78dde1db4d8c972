package expr

import (
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
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
	score *float64 // see WithScore
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
		c = c.WithVariable(name, v)
	}
	return c
}

// With returns a context in which the variable has the value.
func (c *Context) WithVariable(name string, v any) *Context {
	next := *c
	next.vars = &binding{name: name, v: v, next: c.vars}
	return &next
}

// Watched returns a context in which the watch ends the loops of expressions.
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

// On returns a context with the same variables for another document.
func (c *Context) ForDocument(root any) *Context {
	next := *c
	next.Root = root
	return &next
}

// Scored returns a context in which a document's score in the text search is what the pointer leads to.
func (c *Context) WithScore(score *float64) *Context {
	next := *c
	next.score = score
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
