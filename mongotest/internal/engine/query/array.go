package query

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// size passes for arrays of that length.
type size struct{ n int }

func (s size) test(v any, _ *int) bool {
	a, ok := v.(bson.A)
	return ok && len(a) == s.n
}

func (size) whole() bool { return true }

func parseSize(_ *parser, arg any, _ bson.D) (cond, error) {
	n, problem := expr.NonNegative("$size", arg)
	if problem != "" {
		return nil, mongoerr.New(mongoerr.BadValue, "Failed to parse $size. %s", problem)
	}
	return leaf{size{int(n)}}, nil
}

// elementMatch passes for arrays with an element that fulfills one condition
// as a document, or one as a value.
type elementMatch struct {
	document node // nil when the element is tested as a value
	value    cond
}

func (elementMatch) whole() bool { return true }

func (m elementMatch) test(v any, rec *int) bool {
	a, _ := v.(bson.A)
	for i, x := range a {
		if m.element(x) {
			if rec != nil {
				*rec = i
			}
			return true
		}
	}
	return false
}

func (m elementMatch) element(x any) bool {
	if m.document == nil {
		return m.value.onValue(x, nil)
	}
	d, ok := x.(bson.D)
	if a, isArray := x.(bson.A); isArray { // an array is a document whose names are positions
		d, ok = make(bson.D, len(a)), true
		for i := range a {
			d[i] = bson.E{Key: strconv.Itoa(i), Value: a[i]}
		}
	}
	if !ok {
		return false
	}
	matched, _ := m.document.match(nil, d, nil) // $expr, which alone can fail, is refused inside
	return matched
}

func parseElemMatch(p *parser, arg any, _ bson.D) (cond, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(mongoerr.BadValue, "$elemMatch needs an Object")
	}
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
