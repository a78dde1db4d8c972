package query

// This file parses what stands beside a field name, and the operators that any value may have: $not and $exists.

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// parseValue parses what stands beside a field name: operators, a regular expression, or a value to be equal to.
//
//	{a: {$gt: 1, $lt: 5}}   {a: /^x/}   {a: {b: 1}}
//
// All of a document that begins with $near is one condition, because $maxDistance stands beside it.
func (p *parser) parseValue(name string, v any) (cond, error) {
	p.path = name
	switch x := v.(type) {
	case bson.D:
		if isOperators(x) && isNear(x[0].Key) {
			return p.parseNear(name, x)
		}
		if isOperators(x) {
			return p.parseOperators(x)
		}
	case bson.Regex:
		return p.parsePattern(x.Pattern, x.Options)
	}
	return parseEq(p, v, nil)
}

// isOperators reports whether a document has operators, and isn't a value to compare with: its first name begins with
// $ and isn't part of a DBRef, which is a value.
func isOperators(d bson.D) bool {
	if len(d) == 0 || !strings.HasPrefix(d[0].Key, "$") {
		return false
	}
	switch d[0].Key {
	case "$ref", "$id", "$db":
		return false
	}
	return true
}

// parseOperators parses the operators on a field's value, which must all match.
func (p *parser) parseOperators(d bson.D) (cond, error) {
	all := make(every, 0, len(d))
	for _, f := range d {
		parse, ok := p.table.field[f.Key]
		switch {
		case ok:
		case slices.Contains(absent, f.Key):
			return nil, mongoerr.New(mongoerr.NotImplemented, "%s isn't implemented by the embedded engine", f.Key)
		default:
			return nil, mongoerr.New(mongoerr.BadValue, "unknown operator: %s", f.Key)
		}
		c, err := parse(p, f.Value, d)
		if err != nil {
			return nil, err
		}
		// $options has no condition of its own: $regex reads it.
		if c != nil {
			all = append(all, c)
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all, nil
}

// parseNot parses $not, whose argument is operators or a regular expression. The operators are negated together:
// {$not: {$gt: 1, $lt: 5}} matches 9.
func parseNot(p *parser, arg any, _ bson.D) (cond, error) {
	switch x := arg.(type) {
	case bson.Regex:
		c, err := p.parsePattern(x.Pattern, x.Options)
		return not{c}, err
	case bson.D:
		if len(x) == 0 {
			return nil, mongoerr.New(mongoerr.BadValue, "$not cannot be empty")
		}
		c, err := p.parseOperators(x)
		return not{c}, err
	}
	return nil, mongoerr.New(mongoerr.BadValue, "$not needs a regex or a document")
}

// parseExists parses $exists. {$exists: false} is the negation: no value at the path may be there.
func parseExists(_ *parser, arg any, _ bson.D) (cond, error) {
	c := leaf{exists{}}
	if bsonval.Truthy(arg) {
		return c, nil
	}
	return not{c}, nil
}

// exists passes for a value that is there, null included.
type exists struct{}

func (exists) test(v any, _ *int) bool { return !bsonval.IsMissing(v) }
func (exists) takesArrays() bool       { return false }
