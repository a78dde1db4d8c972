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

// builder collects the fields of a projection into a tree. find, $project, $addFields and $unset share it, as they
// share most of the rules.
type builder struct {
	root *node
	// scope has the variables that expressions may use, and the collation that they compare under.
	scope expr.Scope
	find  bool // find's own operators are allowed
	add   bool // every value is an expression

	// includes and excludes tell what the fields so far have decided: at most one of the two is set.
	includes, excludes bool
	// id is what was said of _id: nil, true or false. It is kept apart since _id alone decides nothing.
	id any
	// elementMatch is set once there is an $elemMatch, positional once there is a path that ended with ".$". MongoDB
	// allows one of the two only.
	elementMatch bool
	positional   bsonval.Path
}

// build returns the projection, once all fields are read. Without a field that decides, find keeps everything but for
// an $elemMatch or an included _id. _id moves into or out of the tree last, when it is known whether fields are
// included.
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
			b.root.ensureChild("_id").kind = named
		}
	}
	if b.id == true && !f.include { // an exclusion keeps _id unless told otherwise
		b.root.children = slices.DeleteFunc(b.root.children, func(n *node) bool { return n.name == "_id" })
	}
	b.root.summarize()
	return f
}

// addDocument adds the fields of a document at a path, which ends with a dot. {a: {b: 1}} is {"a.b": 1}.
func (b *builder) addDocument(prefix string, d bson.D) error {
	if len(d) == 0 && prefix != "" {
		if b.add {
			return mongoerr.New(40180, "an empty object is not a valid value. Found empty object at path %s",
				strings.TrimSuffix(prefix, "."))
		}
		return mongoerr.New(51270, "An empty sub-projection is not a valid value. Found empty object at path")
	}
	for _, f := range d {
		if err := b.addField(prefix+f.Key, f.Value); err != nil {
			return err
		}
	}
	return nil
}

// addField adds one field. The order of the cases decides which of several mistakes is reported.
func (b *builder) addField(path string, v any) error {
	if before, ok := strings.CutSuffix(path, ".$"); ok && b.find {
		return b.addPositional(before, v)
	}
	if b.find && strings.Contains(path, ".$.") {
		return mongoerr.New(31394,
			"As of 4.4, it's illegal to specify positional operator in the middle of a path.Positional projection "+
				"may only be used at the end, for example: a.b.$. If the query previously used a form like a.b.$.d, "+
				"remove the parts following the '$' and the results will be equivalent.")
	}
	if err := expr.CheckPath(path); err != nil {
		return err
	}
	d, isDocument := v.(bson.D)
	operator := isDocument && len(d) > 0 && strings.HasPrefix(d[0].Key, "$")
	switch {
	case isDocument && !operator:
		return b.addDocument(path+".", d)
	case b.add:
		return b.addComputed(path, v)
	case operator && b.find && len(d) == 1:
		if done, err := b.addFindOperator(path, d[0]); done || err != nil {
			return err
		}
	}
	if operator && d[0].Key == "$meta" && b.find { // it decides nothing of what else is kept
		return b.addComputed(path, v)
	}
	if operator && !expr.IsOperator(d[0].Key) {
		return mongoerr.New(31325, "Unknown expression %s", d[0].Key)
	}
	// What is neither a flag nor a document without operators is an expression: {$add: …}, "$a", a date.
	_, isBool := v.(bool)
	if !isBool && !bsonval.IsNumber(v) {
		if b.excludes {
			return mongoerr.New(31252, "Cannot use an expression %s: %v in an exclusion projection", path, v)
		}
		b.includes = true
		return b.addComputed(path, v)
	}
	return b.addFlag(path, bsonval.Truthy(v))
}

// addFlag enters an inclusion or exclusion. _id alone decides nothing, since it may be excluded from an inclusion and
// included in an exclusion.
func (b *builder) addFlag(path string, include bool) error {
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
	_, err := b.addLeaf(path, named)
	return err
}

// addComputed adds a field whose value is an expression.
func (b *builder) addComputed(path string, v any) error {
	e, err := expr.Parse(v, b.scope)
	if err != nil {
		return err
	}
	n, err := b.addLeaf(path, computed)
	if err != nil {
		return err
	}
	n.expr = e
	return nil
}

// Operators returns the names of the operators that find's projections have beside expressions, sorted. Package
// operators lists them.
func Operators() []string { return []string{"$", "$elemMatch", "$meta", "$slice"} }

// addFindOperator handles what only find knows; false means that it isn't one of those, or may be an expression of
// the same name.
func (b *builder) addFindOperator(path string, f bson.E) (bool, error) {
	switch f.Key {
	case "$elemMatch":
		return true, b.addElemMatch(path, f.Value)
	case "$slice":
		w, ok, err := parseWindow(f.Value)
		if !ok || err != nil {
			return false, err
		}
		n, err := b.addLeaf(path, sliced)
		if err == nil {
			n.window = w
		}
		return true, err
	}
	return false, nil
}

// addElemMatch adds an $elemMatch, as a query of its own on the field.
func (b *builder) addElemMatch(path string, arg any) error {
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
	n, err := b.addLeaf(path, computed)
	if err != nil {
		return err
	}
	n.expr = firstMatch{path, m}
	return nil
}

// addPositional adds a path that ended with ".$". It includes the field; which element stays, Apply finds out.
func (b *builder) addPositional(path string, v any) error {
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
	return b.addFlag(path, true)
}

// addLeaf enters a leaf, and refuses paths of which one contains the other. On the way it makes the nodes that aren't
// there yet.
func (b *builder) addLeaf(path string, kind kind) (*node, error) {
	n := b.root
	parts := strings.Split(path, ".")
	for i, name := range parts {
		n = n.ensureChild(name)
		if n.kind != inner && i < len(parts)-1 {
			return nil, mongoerr.New(31249, "Path collision at %s remaining portion %s", path,
				strings.Join(parts[i+1:], "."))
		}
	}
	if n.kind != inner || len(n.children) > 0 {
		return nil, mongoerr.New(31250, "Path collision at %s", path)
	}
	n.kind = kind
	return n, nil
}
