// Package expr parses and evaluates aggregation expressions and accumulators.
//
// The manual's pages on expressions and operators decide what they mean
// (https://www.mongodb.com/docs/manual/reference/operator/aggregation/).
//
// # Use
//
//  1. A caller makes a [Scope] by [NewScope]: the operators that there are, the names of the variables that the
//     expression may use, and the collation.
//  2. [Parse] turns a BSON value into an [Expr], which is immutable. It refuses what MongoDB refuses before it reads a
//     document: unknown operators, variables and parts, wrong numbers of arguments. An operator that MongoDB has and
//     this engine hasn't is an error that names it.
//  3. A caller makes a [Context] for each document, by NewContext or by On, and calls Eval. A value that isn't there is
//     bsonval.Missing, which isn't null.
//
// An [Accumulator] is parsed in the same way by [ParseAccumulator], or by [WindowAccumulator] for $setWindowFields.
// Start begins a [Group], Add takes each document into it, and Result ends it.
//
// # Files
//
// Files refer to those above them in this list, not to those below. So one can read an operator without the others.
//
//   - context.go and scope.go have what Eval and Parse get. path.go has field paths and variables.
//   - expr.go is Parse. It finds operators in the table of the Scope.
//   - call.go and parts.go parse the two kinds of arguments: a list ("$add"), and an object with named parts
//     ("$dateAdd"). They count the steps of long arrays, so that an interrupted command ends.
//   - Each other file is a family of operators. It has a table, whose entries are parsers: functions from an argument
//     and a Scope to an Expr. A new operator is another entry. The operators on dates call package dates.
//   - operators.go joins the tables to the one of NewScope, and accumulators.go has the table of accumulators.
//
// # Rules
//
// An operator evaluates its arguments in the manual's order, which decides the error if several are wrong. It compares
// under the Scope's collation. An operator or an accumulator that builds a list counts its bytes (memory.go), and fails
// at 100 MB. A loop calls Context.Step for each turn.
package expr

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

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
	parse, ok := s.operators[name]
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

// checkFieldName refuses the name of a field in an object of expressions.
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

// absent names what MongoDB has and this engine hasn't.
var absent = []string{
	"$accumulator", "$bottom", "$bottomN", "$createObjectId", "$createUUID", "$currentDate", "$deserializeEJSON",
	"$encStrContains", "$encStrEndsWith", "$encStrNormalizedEq", "$encStrStartsWith", "$function", "$hash", "$hexHash",
	"$minMaxScaler", "$serializeEJSON", "$sigmoid", "$similarityCosine", "$similarityDotProduct",
	"$similarityEuclidean", "$toArray", "$toHashedIndexKey", "$toObject", "$top", "$topN",
}
