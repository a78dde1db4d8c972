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
	name string
	kind kind
	// expr is the value of a computed field, window the part of a sliced one.
	expr     expr.Expr
	window   window
	children []*node
	computes bool // it or something below it is computed
	keeps    bool // it or something below it is named or sliced
}

// ensureChild returns the child of that name, made when it isn't there.
func (n *node) ensureChild(name string) *node {
	if c := n.findChild(name); c != nil {
		return c
	}
	c := &node{name: name}
	n.children = append(n.children, c)
	return c
}

// findChild returns the child of that name, nil if there is none.
func (n *node) findChild(name string) *node {
	for _, c := range n.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// summarize finds out for each node what is below it. Apply asks for it with each document.
func (n *node) summarize() {
	n.computes = n.kind == computed
	n.keeps = n.kind == named || n.kind == sliced
	for _, c := range n.children {
		c.summarize()
		n.computes = n.computes || c.computes
		n.keeps = n.keeps || c.keeps
	}
}

// Apply returns the projected document. The context's root is what expressions refer to. Inclusion or exclusion comes
// first: a computed field may have the name of one that was dropped.
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
	return computeFields(c, f.root, out)
}

// includeFrom returns the fields of a document that the children of a node include. _id is included at the top
// without being named. A computed field is left out here, and set afterwards: its old value must not stay if the
// expression gives nothing.
func (f *Fields) includeFrom(n *node, d bson.D, top bool) bson.D {
	out := make(bson.D, 0, min(len(d), len(n.children)+1))
	for _, e := range d {
		c := n.findChild(e.Key)
		switch {
		case c == nil:
			if !top || e.Key != "_id" || f.noID {
				continue
			}
		case c.kind == computed:
			continue
		case c.kind == sliced:
			e.Value = c.window.cutArray(e.Value)
		case c.kind == inner:
			// A scalar has nothing below it to include, so the field goes. A document or an array stays, if empty.
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

// includeIn returns what an inner node includes of a value: of a document, or of each document in an array. Of any
// other value nothing is left, which the caller sees as missing.
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

// excludeFrom returns the fields of a document without those that the children of a node exclude. Fields keep their
// order, and those that nothing is said of are shared with the document.
func excludeFrom(n *node, d bson.D) bson.D {
	out := make(bson.D, 0, len(d))
	for _, e := range d {
		c := n.findChild(e.Key)
		switch {
		case c == nil || !c.keeps: // nothing is said of it, or it is only computed
		case c.kind == named:
			continue
		case c.kind == sliced:
			e.Value = c.window.cutArray(e.Value)
		case c.kind == inner:
			e.Value = excludeIn(c, e.Value)
		}
		out = append(out, e)
	}
	return out
}

// excludeIn is excludeFrom for a value: a document, or each document in an array. Any other value stays.
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

// computeFields sets the computed fields: in their places where they are, else at the end. A value that is missing,
// such as $$REMOVE, removes the field.
func computeFields(c *expr.Context, n *node, d bson.D) (bson.D, error) {
	// A copy, since d may be the caller's document: without an inclusion or exclusion nothing has copied it before.
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

// computeValue returns the new value of a field. Computed fields below an array are set in each of its elements; what
// is no document becomes one.
func computeValue(c *expr.Context, n *node, old any) (any, error) {
	if n.kind == computed {
		return n.expr.Eval(c)
	}
	switch x := old.(type) {
	case bson.D:
		return computeFields(c, n, x)
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
	return computeFields(c, n, nil)
}
