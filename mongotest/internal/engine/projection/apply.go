package projection

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// kind says what a projection does with a field.
type kind uint8

const (
	inner    kind = iota // it looks further down
	named                // included or excluded
	sliced               // part of an array
	computed             // an expression's value
)

// node is a field in the tree of a projection.
type node struct {
	name     string
	kind     kind
	expr     expr.Expr
	window   window
	children []*node
	computes bool // it or something below it is computed
	keeps    bool // it or something below it is named or sliced
}

// child returns the child of that name, made when it isn't there.
func (n *node) child(name string) *node {
	if c := n.find(name); c != nil {
		return c
	}
	c := &node{name: name}
	n.children = append(n.children, c)
	return c
}

func (n *node) find(name string) *node {
	for _, c := range n.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

func (n *node) finish() {
	n.computes = n.kind == computed
	n.keeps = n.kind == named || n.kind == sliced
	for _, c := range n.children {
		c.finish()
		n.computes = n.computes || c.computes
		n.keeps = n.keeps || c.keeps
	}
}

// Apply returns the projected document. The context's root is what expressions refer to.
func (f *Fields) Apply(c *expr.Context, doc bson.D) (bson.D, error) {
	out := doc
	switch {
	case f.include:
		out = f.includeFrom(f.root, doc, true)
	case f.root.keeps:
		out = excludeFrom(f.root, doc)
	}
	if !f.root.computes {
		return out, nil
	}
	return compute(c, f.root, out)
}

func (f *Fields) includeFrom(n *node, d bson.D, top bool) bson.D {
	out := make(bson.D, 0, min(len(d), len(n.children)+1))
	for _, e := range d {
		c := n.find(e.Key)
		switch {
		case c == nil:
			if !top || e.Key != "_id" || f.noID {
				continue
			}
		case c.kind == computed:
			continue
		case c.kind == sliced:
			e.Value = c.window.of(e.Value)
		case c.kind == inner:
			v := f.includeIn(c, e.Value)
			if bsonval.IsMissing(v) {
				continue
			}
			e.Value = v
		}
		out = append(out, e)
	}
	return out
}

func (f *Fields) includeIn(n *node, v any) any {
	switch x := v.(type) {
	case bson.D:
		return f.includeFrom(n, x, false)
	case bson.A:
		out := make(bson.A, 0, len(x))
		for _, item := range x {
			kept := f.includeIn(n, item)
			if bsonval.IsMissing(kept) && n.computes {
				kept = bson.D{} // a computed field makes a document of an element that is none
			}
			if !bsonval.IsMissing(kept) {
				out = append(out, kept)
			}
		}
		return out
	}
	return bsonval.Missing
}

func excludeFrom(n *node, d bson.D) bson.D {
	out := make(bson.D, 0, len(d))
	for _, e := range d {
		c := n.find(e.Key)
		switch {
		case c == nil || !c.keeps:
		case c.kind == named:
			continue
		case c.kind == sliced:
			e.Value = c.window.of(e.Value)
		case c.kind == inner:
			e.Value = excludeIn(c, e.Value)
		}
		out = append(out, e)
	}
	return out
}

func excludeIn(n *node, v any) any {
	switch x := v.(type) {
	case bson.D:
		return excludeFrom(n, x)
	case bson.A:
		out := make(bson.A, len(x))
		for i, item := range x {
			out[i] = excludeIn(n, item)
		}
		return out
	}
	return v
}

// compute sets the computed fields: in their places where they are, else at the end.
func compute(c *expr.Context, n *node, d bson.D) (bson.D, error) {
	out := make(bson.D, len(d), len(d)+len(n.children))
	copy(out, d)
	for _, child := range n.children {
		if !child.computes {
			continue
		}
		at := bsonval.Index(out, child.name)
		var old any = bsonval.Missing
		if at >= 0 {
			old = out[at].Value
		}
		v, err := computeValue(c, child, old)
		if err != nil {
			return nil, err
		}
		switch {
		case bsonval.IsMissing(v) && at >= 0:
			out = append(out[:at], out[at+1:]...)
		case bsonval.IsMissing(v):
		case at >= 0:
			out[at].Value = v
		default:
			out = append(out, bson.E{Key: child.name, Value: v})
		}
	}
	return out, nil
}

func computeValue(c *expr.Context, n *node, old any) (any, error) {
	if n.kind == computed {
		return n.expr.Eval(c)
	}
	switch x := old.(type) {
	case bson.D:
		return compute(c, n, x)
	case bson.A:
		out := make(bson.A, len(x))
		for i, item := range x {
			if err := c.Step(); err != nil {
				return nil, err
			}
			v, err := computeValue(c, n, item)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return out, nil
	}
	return compute(c, n, nil)
}
