package window

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// carry is $locf: the last value that was neither null nor missing.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/locf/
type carry struct{ input expr.Expr }

func parseCarry(name string, spec bson.D, s Stage) (Function, error) {
	arg, err := readArgument(name, spec, s)
	if err != nil {
		return nil, err
	}
	e, err := expr.Parse(arg, s.Scope)
	return carry{e}, err
}

func (x carry) Over(p *Partition) Values {
	var last any
	return func(i int) (any, error) {
		v, err := p.eval(x.input, i)
		if !bsonval.IsNullish(v) {
			last = v
		}
		return last, err
	}
}

// linearFill is $linearFill: what is null or missing lies on the line between the values before and after.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/linearFill/
type linearFill struct{ input, key expr.Expr }

func parseLinearFill(name string, spec bson.D, s Stage) (Function, error) {
	arg, err := readArgument(name, spec, s)
	if err != nil {
		return nil, err
	}
	x := linearFill{}
	if x.input, err = expr.Parse(arg, s.Scope); err != nil {
		return nil, err
	}
	if len(s.SortBy) != 1 {
		return nil, mongoerr.New(605001,
			"%s must be specified with a top level sortBy expression with exactly one element", name)
	}
	x.key, err = s.parseSortKey()
	return x, err
}

func (x linearFill) Over(p *Partition) Values {
	l := &line{linearFill: x, p: p, last: bsonval.Missing}
	return l.at
}

// line is a $linearFill at work.
type line struct {
	linearFill
	p      *Partition
	last   any    // the key of the document before
	before *point // the last value before the document
	after  *point // the next value, once it has been looked for; nil: there is none
	looked int    // up to which document it was looked for
}

func (l *line) at(i int) (any, error) {
	now, err := l.point(i)
	if err == nil {
		err = l.check(now)
	}
	if err != nil {
		return nil, err
	}
	l.last = now.at
	if !bsonval.IsNullish(now.v) {
		l.before, l.after = now, nil
		return now.v, nil
	}
	if l.before == nil {
		return nil, nil
	}
	if err := l.findNext(i + 1); err != nil || l.after == nil {
		return nil, err
	}
	return interpolate(*l.before, *l.after, now.at)
}

func (l *line) point(i int) (*point, error) {
	v, err := l.p.eval(l.input, i)
	if err != nil {
		return nil, err
	}
	at, err := l.p.eval(l.key, i)
	return &point{at, v}, err
}

func (l *line) check(now *point) error {
	same := func(is func(v any) bool) bool { return is(now.at) && is(l.last) }
	switch {
	case !bsonval.IsNumber(now.v) && !bsonval.IsNullish(now.v):
		return mongoerr.New(mongoerr.TypeMismatch, "Value to be filled must be numeric or nullish, but found %s",
			bsonval.TypeName(now.v))
	case !bsonval.IsNumber(now.at) && !isMoment(now.at):
		return mongoerr.New(mongoerr.TypeMismatch, "Value of the sortBy field must be numeric or a date, but found %s",
			bsonval.TypeName(now.at))
	case bsonval.Compare(now.at, l.last) == 0:
		return mongoerr.New(6050106, "There can be no repeated values in the sort field")
	case !bsonval.IsMissing(l.last) && !same(isMoment) && !same(bsonval.IsNumber):
		return mongoerr.New(mongoerr.TypeMismatch, "Conflicting sort value types, previously received type %s, but found %s",
			bsonval.TypeName(l.last), bsonval.TypeName(now.at))
	}
	return nil
}

// isMoment reports whether a value can be converted to a date.
func isMoment(v any) bool {
	switch v.(type) {
	case bson.DateTime, bson.ObjectID, bson.Timestamp:
		return true
	}
	return false
}

// findNext finds the next value from the i-th document on.
func (l *line) findNext(i int) error {
	if l.after != nil {
		return nil
	}
	for l.looked = max(l.looked, i); l.looked < len(l.p.Docs); l.looked++ {
		p, err := l.point(l.looked)
		if err == nil {
			err = l.p.Context.Step()
		}
		if err != nil {
			return err
		}
		if !bsonval.IsNullish(p.v) && !bsonval.IsNullish(p.at) {
			l.after = p
			return nil
		}
	}
	return nil
}

// interpolate returns the value at a place on the line through two points.
func interpolate(a, b point, at any) (any, error) {
	c := calculation{}
	slope := c.do("$divide", c.do("$subtract", b.v, a.v), c.do("$subtract", b.at, a.at))
	v := c.do("$add", a.v, c.do("$multiply", c.do("$subtract", at, a.at), slope))
	return v, c.err
}

// calculation computes until an operator refuses a value.
type calculation struct{ err error }

func (c *calculation) do(operator string, a, b any) (v any) {
	if c.err == nil {
		v, c.err = expr.Arithmetic(operator, a, b)
	}
	return v
}
