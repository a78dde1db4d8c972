package query

// This file has the operators on arrays: $size, $all and $elemMatch.
// https://www.mongodb.com/docs/manual/reference/operator/query-array/

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// size is the predicate of $size: it passes for arrays of n elements.
type size struct{ n int }

func (s size) test(v any, _ *int) bool {
	a, ok := v.(bson.A)
	return ok && len(a) == s.n
}

func (size) takesArrays() bool { return true }

func parseSize(_ *parser, arg any, _ bson.D) (cond, error) {
	n, problem := expr.NonNegative("$size", arg)
	if problem != "" {
		return nil, mongoerr.New(mongoerr.BadValue, "Failed to parse $size. %s", problem)
	}
	return leaf{size{int(n)}}, nil
}

// elementMatch is the predicate of $elemMatch. It passes for arrays with an element that fulfills all conditions. There
// are two forms:
//
//	{items: {$elemMatch: {qty: {$gt: 5}, sku: "x"}}}   elements are documents: document is set
//	{sizes: {$elemMatch: {$gt: 5, $lt: 9}}}            elements are values: value is set
type elementMatch struct {
	document node // nil if value is set
	value    cond
}

func (elementMatch) takesArrays() bool { return true }

func (m elementMatch) test(v any, rec *int) bool {
	a, _ := v.(bson.A)
	for i, x := range a {
		if m.matchElement(x) {
			if rec != nil {
				*rec = i
			}
			return true
		}
	}
	return false
}

// matchElement reports whether one element of the array fulfills the conditions.
func (m elementMatch) matchElement(x any) bool {
	if m.document == nil {
		return m.value.matchValue(x, nil)
	}
	d, ok := x.(bson.D)
	// MongoDB takes an array in the array for a document whose names are positions.
	if a, isArray := x.(bson.A); isArray {
		d, ok = make(bson.D, len(a)), true
		for i := range a {
			d[i] = bson.E{Key: strconv.Itoa(i), Value: a[i]}
		}
	}
	if !ok {
		return false
	}
	// Only $expr can fail and needs a context. parseExpr refuses it in $elemMatch.
	matched, _ := m.document.match(nil, d, nil)
	return matched
}

// parseElemMatch parses $elemMatch. The form with values begins with an operator on a value, the form with documents
// with a field name or a top-level operator such as $or.
func parseElemMatch(p *parser, arg any, _ bson.D) (cond, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(mongoerr.BadValue, "$elemMatch needs an Object")
	}
	// Without special, $near and $text are refused inside.
	inner := &parser{table: p.table, scope: p.scope, by: p.by, depth: p.depth + 1, watch: p.watch}
	if isOperators(d) && p.table.top[d[0].Key] == nil {
		c, err := inner.parseOperators(d)
		if err != nil {
			return nil, err
		}
		return leaf{elementMatch{value: c}}, nil
	}
	n, err := inner.parseFilter(d)
	if err != nil {
		return nil, err
	}
	return leaf{elementMatch{document: n}}, nil
}

// parseAll parses $all: a condition for each element of its list, which may be met by different elements. If one of
// the list is $elemMatch, all must be.
func parseAll(p *parser, arg any, _ bson.D) (cond, error) {
	a, ok := arg.(bson.A)
	if !ok {
		return nil, mongoerr.New(mongoerr.BadValue, "$all needs an array")
	}
	if len(a) == 0 {
		return never{}, nil
	}
	all := make(every, len(a))
	elements := 0
	for i, v := range a {
		var err error
		switch x := v.(type) {
		case bson.D:
			switch {
			case len(x) > 0 && x[0].Key == "$elemMatch":
				elements++
				all[i], err = parseElemMatch(p, x[0].Value, nil)
			case isOperators(x):
				return nil, mongoerr.New(mongoerr.BadValue, "no $ expressions in $all")
			default:
				all[i], err = parseEq(p, v, nil)
			}
		case bson.Regex:
			all[i], err = p.parsePattern(x.Pattern, x.Options)
		default:
			all[i], err = parseEq(p, v, nil)
		}
		if err != nil {
			return nil, err
		}
	}
	if elements > 0 && elements < len(a) {
		return nil, mongoerr.New(mongoerr.BadValue, "$all/$elemMatch has to be consistent")
	}
	return all, nil
}
