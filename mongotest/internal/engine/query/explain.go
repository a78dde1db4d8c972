package query

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
func Explain(filter, doc bson.D, by *collation.Collator) bson.D {
	x := explainer{doc: doc, by: by}
	return x.all(readClauses(filter), false)
}

// explainer explains the clauses of a filter, one at a time. They are parsed anew: a filter that matches costs nothing
// more.
type explainer struct {
	doc bson.D
	by  *collation.Collator
}

// clause is one condition of a filter: an operator beside a path or, with an empty path, at the top. A value that the
// field has to equal and a regular expression are their operators' arguments, with bare set.
type clause struct {
	path string
	op   string
	arg  any
	bare bool
	with bson.D // the operators that stand beside it, for $regex
}

// readClauses takes a filter apart as MongoDB does.
func readClauses(filter bson.D) (list []clause) {
	for _, e := range filter {
		switch v := e.Value.(type) {
		case bson.D:
			if !strings.HasPrefix(e.Key, "$") && isOperators(v) {
				list = append(list, operatorClauses(e.Key, v)...)
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

func operatorClauses(path string, operators bson.D) (list []clause) {
	for _, f := range operators {
		if f.Key != "$options" {
			list = append(list, clause{path: path, op: f.Key, arg: f.Value, with: operators})
		}
	}
	return list
}

// filter is the clause by itself, as the error repeats it.
func (c clause) filter() bson.D {
	switch {
	case c.path == "":
		return bson.D{{Key: c.op, Value: c.arg}}
	case c.bare:
		return bson.D{{Key: c.path, Value: c.arg}}
	case c.op == "$regex":
		return bson.D{{Key: c.path, Value: slices.DeleteFunc(slices.Clone(c.with),
			func(f bson.E) bool { return f.Key != "$regex" && f.Key != "$options" })}}
	}
	return bson.D{{Key: c.path, Value: bson.D{{Key: c.op, Value: c.arg}}}}
}

// matches reports whether the document matches a clause; an expression that fails has the result that is to be
// explained.
func (x explainer) matches(c clause, inverted bool) bool {
	m, err := Parse(c.filter(), Options{Collation: x.by})
	if err != nil {
		return inverted
	}
	ok, err := m.Match(x.doc)
	if err != nil {
		return inverted
	}
	return ok
}

// all explains a conjunction, which one clause alone isn't.
func (x explainer) all(list []clause, inverted bool) bson.D {
	if len(list) == 1 {
		return x.one(list[0], inverted)
	}
	return x.tree("$and", list, inverted)
}

// tree explains the clauses of a logical operator that had a part in its result.
func (x explainer) tree(op string, list []clause, inverted bool) bson.D {
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
		if c.op == "$jsonSchema" {
			entry = append(entry, jsonschema.Annotations(c.arg.(bson.D))...)
		}
		details = append(details, append(entry, bson.E{Key: "details", Value: x.one(c, inverted)}))
	}
	return bson.D{{Key: "operatorName", Value: op}, {Key: name, Value: details}}
}

// one explains why the document doesn't match a clause or, inverted, why it does.
func (x explainer) one(c clause, inverted bool) bson.D {
	head := bson.D{{Key: "operatorName", Value: c.op}}
	switch c.op {
	case "$and", "$or", "$nor":
		return x.tree(c.op, branches(c.arg), inverted)
	case "$jsonSchema":
		if inverted {
			return append(head, bson.E{Key: "reason", Value: "schema matched"})
		}
		return jsonschema.Explain(c.arg.(bson.D), x.doc)
	case "$not":
		inner := []clause{{path: c.path, op: "$regex", arg: c.arg, bare: true}}
		if d, ok := c.arg.(bson.D); ok {
			inner = operatorClauses(c.path, d)
		}
		return append(head, bson.E{Key: "details", Value: x.all(inner, !inverted)})
	case "$alwaysTrue", "$alwaysFalse":
		return append(append(head, bson.E{Key: "specifiedAs", Value: c.filter()}),
			bson.E{Key: "reason", Value: "expression always evaluates to " + either(inverted, "false", "true")})
	case "$expr":
		return append(append(head, bson.E{Key: "specifiedAs", Value: c.filter()}), x.expression(c.arg, inverted)...)
	}
	return append(append(head, bson.E{Key: "specifiedAs", Value: c.filter()}), x.leaf(c, inverted)...)
}

// branches are the operands of a logical operator, each as one clause.
func branches(arg any) []clause {
	a, _ := arg.(bson.A)
	list := make([]clause, len(a))
	for i, v := range a {
		d, _ := v.(bson.D)
		if inner := readClauses(d); len(inner) == 1 {
			list[i] = inner[0]
		} else {
			parts := make(bson.A, len(inner))
			for k, c := range inner {
				parts[k] = c.filter()
			}
			list[i] = clause{op: "$and", arg: parts}
		}
	}
	return list
}

func (x explainer) expression(arg any, inverted bool) bson.D {
	e, err := expr.Parse(arg, expr.NewScope().WithCollation(x.by))
	var result any
	if err == nil {
		result, err = e.Eval(expr.NewContext(x.doc, time.Time{}, nil, nil))
	}
	if err != nil {
		e := mongoerr.Convert(err)
		return bson.D{{Key: "reason", Value: "failed to evaluate aggregation expression"}, {Key: "details", Value: bson.D{
			{Key: "code", Value: e.Code}, {Key: "codeName", Value: e.Name}, {Key: "errmsg", Value: e.Message}}}}
	}
	out := bson.D{{Key: "reason", Value: either(inverted, "expression did not match", "expression did match")}}
	if bsonval.IsMissing(result) {
		return out
	}
	return append(out, bson.E{Key: "expressionResult", Value: result})
}

func either(inverted bool, normally, otherwise string) string {
	if inverted {
		return otherwise
	}
	return normally
}
