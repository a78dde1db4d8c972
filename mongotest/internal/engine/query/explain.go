package query

// This file explains filters and their logical operators. explain_leaf.go explains operators on a field.

import (
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/jsonschema"
)

// Explain says why a document doesn't match a filter that [Parse] takes under a collation, as MongoDB does in the
// details of a validation error (https://www.mongodb.com/docs/manual/core/schema-validation/handle-invalid-documents/).
// Package forms calls it for a document that a validator refused. Of {a: {$gt: 0, $lt: 10}} and {a: 11} it returns
//
//	{operatorName: "$and", clausesNotSatisfied: [{index: 1, details: {operatorName: "$lt",
//	    specifiedAs: {a: {$lt: 10}}, reason: "comparison failed", consideredValue: 11}}]}
func Explain(filter, doc bson.D, by *collation.Collator) bson.D {
	x := explainer{doc: doc, by: by}
	return x.explainAll(readClauses(filter), false)
}

// explainer explains the clauses of a filter, one at a time. The clauses are parsed again, so that a filter that
// matches needs to remember nothing.
//
// Below a $nor or $not a document fails because a clause matches. The parameter inverted of the methods says that the
// match is to be explained, not the failure. A second $not turns it back.
type explainer struct {
	doc bson.D
	by  *collation.Collator
}

// clause is one condition of a filter: an operator beside a path, or with an empty path an operator at the top, such as
// $or. bare is set if the filter has no operator: {a: 1} is the clause $eq with argument 1.
type clause struct {
	path string
	op   string
	arg  any
	bare bool
	with bson.D // the operators that stand beside it, for $regex
}

// readClauses takes a filter apart as MongoDB does: {a: {$gt: 0, $lt: 10}, b: 1} has three clauses.
func readClauses(filter bson.D) (list []clause) {
	for _, e := range filter {
		switch v := e.Value.(type) {
		case bson.D:
			if !strings.HasPrefix(e.Key, "$") && isOperators(v) {
				list = append(list, readOperators(e.Key, v)...)
				continue
			}
		case bson.Regex:
			if !strings.HasPrefix(e.Key, "$") {
				list = append(list, clause{path: e.Key, op: "$regex", arg: v, bare: true})
				continue
			}
		}
		switch {
		case e.Key == "$comment":
		case strings.HasPrefix(e.Key, "$"):
			list = append(list, clause{op: e.Key, arg: e.Value})
		default:
			list = append(list, clause{path: e.Key, op: "$eq", arg: e.Value, bare: true})
		}
	}
	return list
}

// readOperators returns a clause for each operator on one path. $options belongs to the clause of $regex.
func readOperators(path string, operators bson.D) (list []clause) {
	for _, f := range operators {
		if f.Key != "$options" {
			list = append(list, clause{path: path, op: f.Key, arg: f.Value, with: operators})
		}
	}
	return list
}

// toFilter returns the filter of the clause alone. The explanation shows it as specifiedAs.
func (c clause) toFilter() bson.D {
	switch {
	case c.path == "":
		return bson.D{{Key: c.op, Value: c.arg}}
	case c.bare:
		return bson.D{{Key: c.path, Value: c.arg}}
	case c.op == "$regex":
		isOther := func(f bson.E) bool { return f.Key != "$regex" && f.Key != "$options" }
		return bson.D{{Key: c.path, Value: slices.DeleteFunc(slices.Clone(c.with), isOther)}}
	}
	return bson.D{{Key: c.path, Value: bson.D{{Key: c.op, Value: c.arg}}}}
}

// matches reports whether the document matches a clause. A $expr that fails counts as the result that is to be
// explained, so that the explanation shows its error.
func (x explainer) matches(c clause, inverted bool) bool {
	m, err := Parse(c.toFilter(), Options{Collation: x.by})
	if err != nil {
		return inverted
	}
	ok, err := m.Match(x.doc)
	if err != nil {
		return inverted
	}
	return ok
}

// explainAll explains clauses that must all match. MongoDB shows a single clause without an $and around it.
func (x explainer) explainAll(list []clause, inverted bool) bson.D {
	if len(list) == 1 {
		return x.explainClause(list[0], inverted)
	}
	return x.explainTree("$and", list, inverted)
}

// explainTree explains a logical operator by the clauses that caused its result: clauses that didn't match or,
// inverted, that did.
func (x explainer) explainTree(op string, list []clause, inverted bool) bson.D {
	inverted = inverted != (op == "$nor")
	name := "clausesNotSatisfied"
	if inverted {
		name = "clausesSatisfied"
	}
	details := bson.A{}
	for i, c := range list {
		if x.matches(c, inverted) != inverted {
			continue
		}
		entry := bson.D{{Key: "index", Value: int32(i)}}
		// The title and the description of a schema come before its details.
		if c.op == "$jsonSchema" {
			entry = append(entry, jsonschema.Annotations(c.arg.(bson.D))...)
		}
		details = append(details, append(entry, bson.E{Key: "details", Value: x.explainClause(c, inverted)}))
	}
	return bson.D{{Key: "operatorName", Value: op}, {Key: name, Value: details}}
}

// explainClause explains why the document doesn't match a clause or, inverted, why it does.
func (x explainer) explainClause(c clause, inverted bool) bson.D {
	head := bson.D{{Key: "operatorName", Value: c.op}}
	switch c.op {
	case "$and", "$or", "$nor":
		return x.explainTree(c.op, readBranches(c.arg), inverted)
	case "$jsonSchema":
		if inverted {
			return append(head, bson.E{Key: "reason", Value: "schema matched"})
		}
		return jsonschema.Explain(c.arg.(bson.D), x.doc)
	case "$not":
		// Its argument is a regular expression, or operators.
		inner := []clause{{path: c.path, op: "$regex", arg: c.arg, bare: true}}
		if d, ok := c.arg.(bson.D); ok {
			inner = readOperators(c.path, d)
		}
		return append(head, bson.E{Key: "details", Value: x.explainAll(inner, !inverted)})
	case "$alwaysTrue", "$alwaysFalse":
		reason := "expression always evaluates to " + chooseText(inverted, "false", "true")
		return append(head, bson.E{Key: "specifiedAs", Value: c.toFilter()}, bson.E{Key: "reason", Value: reason})
	case "$expr":
		return append(append(head, bson.E{Key: "specifiedAs", Value: c.toFilter()}), x.explainExpr(c.arg, inverted)...)
	}
	return append(append(head, bson.E{Key: "specifiedAs", Value: c.toFilter()}), x.explainField(c, inverted)...)
}

// readBranches reads the list of a logical operator. Each branch is one clause: a branch of several conditions is an
// $and.
func readBranches(arg any) []clause {
	a, _ := arg.(bson.A)
	list := make([]clause, len(a))
	for i, v := range a {
		d, _ := v.(bson.D)
		if inner := readClauses(d); len(inner) == 1 {
			list[i] = inner[0]
		} else {
			parts := make(bson.A, len(inner))
			for k, c := range inner {
				parts[k] = c.toFilter()
			}
			list[i] = clause{op: "$and", arg: parts}
		}
	}
	return list
}

// explainExpr returns the rest of the explanation of a $expr: the expression's result, or the error of an expression
// that fails. A result that is missing isn't shown. Validators have no variables, and no time.
func (x explainer) explainExpr(arg any, inverted bool) bson.D {
	e, err := expr.Parse(arg, expr.NewScope().WithCollation(x.by))
	var result any
	if err == nil {
		result, err = e.Eval(expr.NewContext(x.doc, time.Time{}, nil, nil))
	}
	if err != nil {
		e := mongoerr.Convert(err)
		details := bson.D{
			{Key: "code", Value: e.Code}, {Key: "codeName", Value: e.Name}, {Key: "errmsg", Value: e.Message},
		}
		return bson.D{
			{Key: "reason", Value: "failed to evaluate aggregation expression"}, {Key: "details", Value: details},
		}
	}
	out := bson.D{{Key: "reason", Value: chooseText(inverted, "expression did not match", "expression did match")}}
	if bsonval.IsMissing(result) {
		return out
	}
	return append(out, bson.E{Key: "expressionResult", Value: result})
}

// chooseText returns the text for a clause that didn't match, or otherwise for one that did.
func chooseText(inverted bool, normally, otherwise string) string {
	if inverted {
		return otherwise
	}
	return normally
}
