package query

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/engine/interrupt"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// equal passes for values equal to v; a missing value counts as null.
type equal struct{ v any }

func (e equal) test(v any, _ *int) bool {
	if e.v == nil {
		return bsonval.IsNullish(v)
	}
	return bsonval.Compare(e.v, v) == 0 && !bsonval.IsMissing(v)
}

func (equal) whole() bool { return false }

func parseEq(_ *parser, arg any, _ bson.D) (cond, error) {
	if bsonval.IsNullish(arg) {
		arg = nil
	}
	return leaf{equal{arg}}, nil
}

func parseNe(p *parser, arg any, _ bson.D) (cond, error) {
	if _, ok := arg.(bson.Regex); ok {
		return nil, mongoerr.New(mongoerr.BadValue, "Can't have regex as arg to $ne.")
	}
	c, err := parseEq(p, arg, nil)
	return not{c}, err
}

// ordered passes for values of v's type on one side of v.
type ordered struct {
	op string
	v  any
}

func parseOrder(op string) func(p *parser, arg any, _ bson.D) (cond, error) {
	return func(_ *parser, arg any, _ bson.D) (cond, error) {
		if _, ok := arg.(bson.Regex); ok {
			return nil, mongoerr.New(mongoerr.BadValue, "Can't have RegEx as arg to predicate over field: %s", op)
		}
		if bsonval.IsNullish(arg) {
			arg = nil
		}
		return leaf{ordered{op, arg}}, nil
	}
}

func (o ordered) test(v any, _ *int) bool {
	if o.v == nil {
		return bsonval.IsNullish(v) && (o.op == "$gte" || o.op == "$lte")
	}
	if bsonval.Rank(v) != bsonval.Rank(o.v) {
		switch o.v.(type) {
		case bson.MinKey:
			return o.op == "$gt" || o.op == "$gte"
		case bson.MaxKey:
			return o.op == "$lt" || o.op == "$lte"
		}
		return false
	}
	if bsonval.IsNaN(v) || bsonval.IsNaN(o.v) {
		return bsonval.IsNaN(v) && bsonval.IsNaN(o.v) && (o.op == "$gte" || o.op == "$lte")
	}
	c := bsonval.Compare(v, o.v)
	switch o.op {
	case "$gt":
		return c > 0
	case "$gte":
		return c >= 0
	case "$lt":
		return c < 0
	}
	return c <= 0
}

func (ordered) whole() bool { return false }

// among passes for values equal to one of a list, or matched by one of its
// regular expressions.
type among struct {
	sorted  []any // by bsonval.Compare, without null
	null    bool
	regexes []pattern
}

func parseIn(p *parser, arg any, _ bson.D) (cond, error) {
	a, ok := arg.(bson.A)
	if !ok {
		return nil, mongoerr.New(mongoerr.BadValue, "$in needs an array")
	}
	var in among
	in.sorted = make([]any, 0, len(a))
	for _, v := range a {
		switch x := v.(type) {
		case nil, bson.Undefined:
			in.null = true
			continue
		case bson.D:
			if isOperators(x) {
				return nil, mongoerr.New(mongoerr.BadValue, "cannot nest $ under $in")
			}
		case bson.Regex:
			re, err := newPattern(x.Pattern, x.Options)
			if err != nil {
				return nil, err
			}
			in.regexes = append(in.regexes, re)
			continue
		}
		in.sorted = append(in.sorted, v)
	}
	if err := interrupt.Sort(p.watch, in.sorted, bsonval.Compare); err != nil {
		return nil, err
	}
	in.sorted = slices.CompactFunc(in.sorted, func(a, b any) bool { return bsonval.Compare(a, b) == 0 })
	return leaf{in}, nil
}

func parseNin(p *parser, arg any, _ bson.D) (cond, error) {
	if _, ok := arg.(bson.A); !ok {
		return nil, mongoerr.New(mongoerr.BadValue, "$nin needs an array")
	}
	c, err := parseIn(p, arg, nil)
	return not{c}, err
}

func (in among) test(v any, _ *int) bool {
	if bsonval.IsNullish(v) {
		return in.null
	}
	if _, ok := slices.BinarySearchFunc(in.sorted, v, bsonval.Compare); ok {
		return true
	}
	for _, re := range in.regexes {
		if re.test(v, nil) {
			return true
		}
	}
	return false
}

func (among) whole() bool { return false }
