// Package expr parses and evaluates aggregation expressions and accumulators. The manual's pages on operators decide
// what they mean (https://www.mongodb.com/docs/manual/reference/operator/aggregation/).
//
// An expression, as a command has it, and its value for the document {n: 7, a: [3, 1]}:
//
//	{$add: ["$n", {$size: "$a"}, 1]}   →   10
//
// An operator is a name that begins with $ (here $add and $size). Its argument is the value behind the name.
// "$n" is a field path, and 1 is a constant.
//
// # Who calls it
//
//   - Package pipeline calls it for the stages, package window for the functions of $setWindowFields.
//   - Package update calls it for the stages of an update by pipeline.
//   - Package query calls it for $expr, package projection for computed fields.
//   - The engine's commands call it for the variables that a command's let declares (package args).
//
// # An expression
//
//  1. A caller makes a [Scope] by [NewScope]. It has the operators, the names of the variables that the expression may
//     use, and the collation.
//  2. [Parse] turns a BSON value into an [Expr]. It returns the errors that MongoDB has before it reads a document:
//     unknown operators, variables and parts, wrong numbers of arguments. An operator that MongoDB has and this engine
//     doesn't is an error that names the operator.
//  3. A caller makes a [Context] for each document, by [NewContext] or by [Context.ForDocument], and calls Eval.
//
// # An accumulator
//
// An accumulator joins a value of each document of a group, such as {$sum: "$n"} in $group. [ParseAccumulator] parses
// it, or [WindowAccumulator] for $setWindowFields. [Accumulator.Start] begins a [Group], [Group.Add] takes a document
// into it, and [Group.Result] returns the joined value. Some accumulators are operators too: {$sum: "$a"} as an
// expression is the sum of an array's elements.
//
// # Words
//
//   - Missing is bsonval.Missing, the value of a field that isn't there. It isn't null. An array or a document can't
//     have a Missing element: an array gets null in its place, and a document leaves the field out.
//   - A value is nullish if it is null, undefined or Missing.
//   - A parser is a function from an operator's argument and a Scope to an Expr. A table has the parsers of a family
//     of operators by their names.
//   - A part is a named argument: $dateAdd has the parts startDate, unit, amount and timezone.
//   - A step is a turn of a loop, counted so that a command whose time is over ends (package interrupt).
//
// # Files
//
// An operator's file refers to the first three lines of this list, and to few other operators. So one can read it
// without the others.
//
//   - context.go and scope.go have the arguments of Eval and Parse. path.go has field paths and variables.
//   - expr.go has Parse. It finds operators in the table of the Scope.
//   - call.go parses arguments that are a list ({$add: [1, 2]}), and counts the steps of long arrays. parts.go parses
//     arguments with named parts ($dateAdd). number.go reads numbers, and memory.go counts bytes. Messages render
//     their values by bsonval.Show.
//   - Each other file is a family of operators, and begins with its table. A new operator is a new entry there. The
//     operators on dates call package dates.
//   - sum.go, deviation.go, merging.go, quantile.go and ranking.go compute for operators and accumulators together.
//   - operators.go joins the tables for NewScope. accumulator.go and accumulators.go have the accumulators and their
//     table.
//
// # Invariants
//
//   - An Expr is immutable. Several commands may evaluate it at the same time.
//   - An operator evaluates its arguments in MongoDB's order, because the first wrong argument decides the error.
//   - Errors have MongoDB's codes and texts. A number as a code, such as 16020, is the number of MongoDB's assertion.
//   - Values are compared and put in sets under the Scope's collation.
//   - An operator or an accumulator that builds a list counts its bytes (memory.go), and fails at 100 MB. A loop over
//     data calls Context.Step for each turn, or the countSteps of call.go before it begins.
//   - Values that an operator gets aren't changed: they belong to stored documents.
package expr

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Parse parses an expression: a field path or variable ("$a.b", "$$NOW"), an operator ({$add: [1, 2]}), an object or an
// array of expressions, or a constant. Of an object only the first name says whether it is an operator, as in MongoDB.
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

// Literal returns the value of a constant expression, false for an expression that depends on the document. Callers
// whose argument must be constant use it, such as the boundaries of $bucket.
func Literal(e Expr) (any, bool) {
	c, ok := e.(constant)
	return c.v, ok
}

// constant is an expression that is always v.
type constant struct{ v any }

func (e constant) Eval(*Context) (any, error) { return e.v, nil }

// function is an expression given by its Eval. Most parsers return one.
type function func(c *Context) (any, error)

func (f function) Eval(c *Context) (any, error) { return f(c) }

// parseOperator parses {$name: argument}. The operator's parser gets the argument as it is in the command.
func parseOperator(d bson.D, s Scope) (Expr, error) {
	if len(d) != 1 {
		return nil, mongoerr.New(15983,
			"an object representing an expression must have exactly one field: %s", bsonval.Show(d))
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

// array is an array of expressions: ["$n", 1].
type array []Expr

// parseArray parses an array of expressions. An array of constants is a constant, so that [Literal] knows it.
func parseArray(a bson.A, s Scope) (Expr, error) {
	items, err := parseAll(a, s)
	if err != nil {
		return nil, err
	}
	for _, e := range items {
		if _, ok := e.(constant); !ok {
			return array(items), nil
		}
	}
	// Constants need no context, and can't fail.
	v, _ := array(items).Eval(nil)
	return constant{v}, nil
}

// parseAll parses each element of an array.
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

// Eval returns the array of the values. A missing value becomes null, so that the positions stay.
func (e array) Eval(c *Context) (any, error) {
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

// object is an object of expressions, in the order of its fields: {total: {$sum: "$a"}, name: "$name"}.
type object []struct {
	name string
	e    Expr
}

// parseObject parses an object of expressions. Unlike an array, an object of constants isn't a constant for [Literal].
func parseObject(d bson.D, s Scope) (Expr, error) {
	o := make(object, len(d))
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
				return nil, mongoerr.New(16406, "duplicate field name specified in object literal: %s", bsonval.Show(d))
			}
		}
		o[i].name, o[i].e = f.Key, e
	}
	return o, nil
}

// checkFieldName refuses a name that a field in an object of expressions can't have. d is the object, for the message.
func checkFieldName(name string, d bson.D) error {
	switch {
	case name == "":
		return mongoerr.New(40352, "FieldPath cannot be constructed with empty string")
	case strings.HasPrefix(name, "$"):
		return mongoerr.New(16410,
			"FieldPath field names may not start with '$'. Consider using $getField or $setField. Field name: %s", name)
	case strings.Contains(name, "."):
		return mongoerr.New(16412,
			"FieldPath field names may not contain '.'. Consider using $getField or $setField. In %s", bsonval.Show(d))
	}
	return nil
}

// Eval returns the object of the values, without the fields whose values are missing.
func (o object) Eval(c *Context) (any, error) {
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

// absent are the operators that MongoDB has and this engine doesn't. They are refused by their names, so that a test
// doesn't pass on an operator that is taken for a mistake. The tests of package operators compare this list with
// MongoDB's manual.
var absent = []string{
	"$accumulator", "$bottom", "$bottomN", "$createObjectId", "$createUUID", "$currentDate", "$deserializeEJSON",
	"$encStrContains", "$encStrEndsWith", "$encStrNormalizedEq", "$encStrStartsWith", "$function", "$hash", "$hexHash",
	"$minMaxScaler", "$serializeEJSON", "$sigmoid", "$similarityCosine", "$similarityDotProduct",
	"$similarityEuclidean", "$toArray", "$toHashedIndexKey", "$toObject", "$top", "$topN",
}
