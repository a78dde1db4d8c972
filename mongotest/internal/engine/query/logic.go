package query

// This file has $and, $or and $nor, and the conditions on a whole document that other packages evaluate: $expr and
// $jsonSchema.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/jsonschema"
)

// parseList parses $and, $or and $nor.
func (p *parser) parseList(name string, arg any) (node, error) {
	a, ok := arg.(bson.A)
	if !ok {
		return nil, mongoerr.New(mongoerr.BadValue, "%s must be an array", name)
	}
	if len(a) == 0 {
		return nil, mongoerr.New(mongoerr.BadValue, "$and/$or/$nor must be a nonempty array")
	}
	nodes := make([]node, len(a))
	if name == "$nor" {
		// A $text can't stand in $nor.
		p.inNor++
		defer func() { p.inNor-- }()
	}
	for i, v := range a {
		d, ok := v.(bson.D)
		if !ok {
			return nil, mongoerr.New(mongoerr.BadValue, "$or/$and/$nor entries need to be full objects")
		}
		n, err := p.parseFilter(d)
		if err != nil {
			return nil, err
		}
		nodes[i] = n
	}
	switch name {
	case "$and":
		return and(nodes), nil
	case "$or":
		return or(nodes), nil
	}
	return nor(nodes), nil
}

// exprNode is $expr: it matches if the expression is true for the document.
// https://www.mongodb.com/docs/manual/reference/operator/query/expr/
type exprNode struct{ e expr.Expr }

func (n exprNode) match(c *expr.Context, d bson.D, _ *int) (bool, error) {
	v, err := n.e.Eval(c.ForDocument(d))
	return err == nil && bsonval.Truthy(v), err
}

// parseExpr parses $expr. It is refused in $elemMatch, where a document has no context.
func (p *parser) parseExpr(_ string, arg any) (node, error) {
	if p.depth > 0 {
		return nil, mongoerr.New(mongoerr.BadValue, "$expr can only be applied to the top-level document")
	}
	if p.upsert {
		return nil, mongoerr.New(mongoerr.QueryFeatureNotAllowed,
			"$expr is not allowed in the query predicate for an upsert")
	}
	if p.stored && isRandom(arg) {
		return nil, mongoerr.New(3040500, "$rand not allowed inside collection validators")
	}
	e, err := expr.Parse(arg, p.scope)
	if err != nil {
		return nil, err
	}
	return exprNode{e}, nil
}

// schema is $jsonSchema: it matches documents that conform to the schema. Package jsonschema has the keywords.
// https://www.mongodb.com/docs/manual/reference/operator/query/jsonSchema/
type schema struct{ s *jsonschema.Schema }

func (n schema) match(_ *expr.Context, d bson.D, _ *int) (bool, error) { return n.s.Match(d), nil }

func (p *parser) parseSchema(_ string, arg any) (node, error) {
	d, ok := arg.(bson.D)
	switch {
	case !ok:
		return nil, mongoerr.New(mongoerr.TypeMismatch, "$jsonSchema must be an object")
	case p.depth > 0:
		return nil, mongoerr.New(mongoerr.BadValue, "$jsonSchema can only be applied to the top-level document")
	}
	s, err := jsonschema.Parse(d)
	if err != nil {
		return nil, err
	}
	return schema{s}, nil
}
