package projection

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// builder collects the fields of a projection into a tree.
type builder struct {
	root  *node
	scope expr.Scope
	find  bool // find's own operators are allowed
	add   bool // every value is an expression

	includes, excludes bool
	id                 any // what was said of _id: nil, true or false
	elementMatch       bool
	positional         bsonval.Path
}

func (b *builder) build() *Fields {
	f := &Fields{root: b.root, include: b.includes}
	switch {
	case b.add:
		f.include = false
	case !b.includes && !b.excludes:
		f.include = b.id == true || b.elementMatch
	}
	if b.id == false {
		if f.include {
			f.noID = true
		} else {
			b.root.child("_id").kind = named
		}
	}
	if b.id == true && !f.include { // an exclusion keeps _id unless told otherwise
		b.root.children = slices.DeleteFunc(b.root.children, func(n *node) bool { return n.name == "_id" })
	}
	b.root.finish()
	return f
}

func (b *builder) document(prefix string, d bson.D) error {
	if len(d) == 0 && prefix != "" {
		if b.add {
			return mongoerr.New(40180, "an empty object is not a valid value. Found empty object at path %s",
				strings.TrimSuffix(prefix, "."))
		}
		return mongoerr.New(51270, "An empty sub-projection is not a valid value. Found empty object at path")
	}
	for _, f := range d {
		if err := b.field(prefix+f.Key, f.Value); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) field(path string, v any) error {
	if before, ok := strings.CutSuffix(path, ".$"); ok && b.find {
		return b.atPosition(before, v)
	}
	if b.find && strings.Contains(path, ".$.") {
		return mongoerr.New(31394,
			"As of 4.4, it's illegal to specify positional operator in the middle of a path.Positional projection may only be used at the end, for example: a.b.$. If the query previously used a form like a.b.$.d, remove the parts following the '$' and the results will be equivalent.")
	}
	if err := expr.CheckPath(path); err != nil {
		return err
	}
	d, isDocument := v.(bson.D)
	operator := isDocument && len(d) > 0 && strings.HasPrefix(d[0].Key, "$")
	switch {
	case isDocument && !operator:
		return b.document(path+".", d)
	case b.add:
		return b.compute(path, v)
	case operator && b.find && len(d) == 1:
		if done, err := b.findOperator(path, d[0]); done || err != nil {
			return err
		}
	}
	if operator && d[0].Key == "$meta" && b.find { // it decides nothing of what else is kept
		return b.compute(path, v)
	}
	if operator && !expr.IsOperator(d[0].Key) {
		return mongoerr.New(31325, "Unknown expression %s", d[0].Key)
	}
	_, isBool := v.(bool)
	if !isBool && !bsonval.IsNumber(v) {
		if b.excludes {
			return mongoerr.New(31252, "Cannot use an expression %s: %v in an exclusion projection", path, v)
		}
		b.includes = true
		return b.compute(path, v)
	}
	return b.flag(path, bsonval.Truthy(v))
}

// flag enters an inclusion or exclusion. _id alone decides nothing.
func (b *builder) flag(path string, include bool) error {
	switch {
	case path == "_id":
		b.id = include
		if !include {
			return nil
		}
	case include && b.excludes:
		return mongoerr.New(31253, "Cannot do inclusion on field %s in exclusion projection", path)
	case !include && b.includes:
		return mongoerr.New(31254, "Cannot do exclusion on field %s in inclusion projection", path)
	case include:
		b.includes = true
	default:
		b.excludes = true
	}
	_, err := b.put(path, named)
	return err
}

func (b *builder) compute(path string, v any) error {
	e, err := expr.Parse(v, b.scope)
	if err != nil {
		return err
	}
	n, err := b.put(path, computed)
	if err != nil {
		return err
	}
	n.expr = e
	return nil
}

// Operators returns the names of the operators that find's projections have beside expressions, sorted.
func Operators() []string { return []string{"$", "$elemMatch", "$meta", "$slice"} }

// findOperator handles what only find knows; false means that it isn't one of those.
func (b *builder) findOperator(path string, f bson.E) (bool, error) {
	switch f.Key {
	case "$elemMatch":
		return true, b.matchElement(path, f.Value)
	case "$slice":
		w, ok, err := parseWindow(f.Value)
		if !ok || err != nil {
			return false, err
		}
		n, err := b.put(path, sliced)
		if err == nil {
			n.window = w
		}
		return true, err
	}
	return false, nil
}

func (b *builder) matchElement(path string, arg any) error {
	switch {
	case strings.Contains(path, "."):
		return mongoerr.New(31275, "Cannot use $elemMatch projection on a nested field.")
	case b.positional != nil:
		return mongoerr.New(31255, "Cannot specify positional operator and $elemMatch.")
	}
	d, ok := arg.(bson.D)
	if !ok {
		return mongoerr.New(31274, "elemMatch: Invalid argument, object required, but got %s", bsonval.TypeName(arg))
	}
	m, err := query.Parse(bson.D{{Key: path, Value: bson.D{{Key: "$elemMatch", Value: d}}}},
		query.Options{Collation: b.scope.Collation()})
	if err != nil {
		return err
	}
	b.elementMatch = true
	n, err := b.put(path, computed)
	if err != nil {
		return err
	}
	n.expr = firstMatch{path, m}
	return nil
}

func (b *builder) atPosition(path string, v any) error {
	switch {
	case b.positional != nil:
		return mongoerr.New(31276, "Cannot specify more than one positional projection per query.")
	case b.elementMatch:
		return mongoerr.New(31255, "Cannot specify positional operator and $elemMatch.")
	case strings.Contains(path, "$"):
		return mongoerr.New(31394, "As of 4.4, it's illegal to specify positional operator in the middle of a path.")
	}
	if _, isBool := v.(bool); !isBool && !bsonval.IsNumber(v) {
		return mongoerr.New(31271, "positional projection cannot be used with an expression or literal")
	}
	if !bsonval.Truthy(v) || b.excludes {
		return mongoerr.New(31395, "positional projection cannot be used with exclusion")
	}
	if err := expr.CheckPath(path); err != nil {
		return err
	}
	b.positional = bsonval.ParsePath(path)
	return b.flag(path, true)
}

// put enters a leaf, and refuses paths of which one contains the other.
func (b *builder) put(path string, kind kind) (*node, error) {
	n := b.root
	parts := strings.Split(path, ".")
	for i, name := range parts {
		n = n.child(name)
		if n.kind != inner && i < len(parts)-1 {
			return nil, mongoerr.New(31249, "Path collision at %s remaining portion %s", path, strings.Join(parts[i+1:], "."))
		}
	}
	if n.kind != inner || len(n.children) > 0 {
		return nil, mongoerr.New(31250, "Path collision at %s", path)
	}
	n.kind = kind
	return n, nil
}
