package window

// This file has the functions that replace null and missing values: $locf and $linearFill. The stage $fill uses both.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// carry is $locf: the last value that was neither null nor missing, null before the first one.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/locf/
type carry struct{ input expr.Expr }

// parseCarry parses $locf.
func parseCarry(name string, spec bson.D, s Stage) (Function, error) {
	arg, err := readArgument(name, spec, s)
	if err != nil {
		return nil, err
	}
	e, err := expr.Parse(arg, s.Scope)
	return carry{e}, err
}

// StartPartition begins without a value: values aren't carried from one partition to the next.
func (x carry) StartPartition(p *Partition) Values {
	var last any
	return func(i int) (any, error) {
		v, err := p.eval(x.input, i)
		if !bsonval.IsNullish(v) {
			last = v
		}
		return last, err
	}
}

// linearFill is $linearFill: a null or missing value is replaced by a value on the line between the values before and
// after it. The distances on the line are those of the key, the value that the documents are sorted by.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/linearFill/
type linearFill struct{ input, key expr.Expr }

// parseLinearFill parses $linearFill.
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

// StartPartition begins a line, which moves along with the documents.
func (x linearFill) StartPartition(p *Partition) Values {
	l := &line{linearFill: x, p: p, last: bsonval.Missing}
	return l.fillValue
}

// line is a $linearFill at work. It keeps the values on both sides of the document.
type line struct {
	linearFill
	p      *Partition
	last   any    // the key of the document before
	before *point // the last value before the document
	after  *point // the next value, once it has been looked for; nil: there is none
	looked int    // up to which document it was looked for
}

// fillValue returns the document's own value, or the value on the line. Before the first value and after the last there
// is no line, and the result is null.
func (l *line) fillValue(i int) (any, error) {
	now, err := l.evalPoint(i)
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

// evalPoint returns the value and the key of the i-th document.
func (l *line) evalPoint(i int) (*point, error) {
	v, err := l.p.eval(l.input, i)
	if err != nil {
		return nil, err
	}
	at, err := l.p.eval(l.key, i)
	return &point{at, v}, err
}

// check refuses a value that is neither a number nor null nor missing, and a key that has no distance from the key
// before it. Equal keys are refused too, since a line between them has no slope.
func (l *line) check(now *point) error {
	// Whether both keys are of a kind. The first document has no key before it: last is missing.
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
		return mongoerr.New(mongoerr.TypeMismatch,
			"Conflicting sort value types, previously received type %s, but found %s",
			bsonval.TypeName(l.last), bsonval.TypeName(now.at))
	}
	return nil
}

// isMoment reports whether a value can be converted to a date. check lets such types follow each other.
func isMoment(v any) bool {
	switch v.(type) {
	case bson.DateTime, bson.ObjectID, bson.Timestamp:
		return true
	}
	return false
}

// findNext finds the next value from the i-th document on. It goes on from where it stopped the last time, so it
// searches a long gap once.
func (l *line) findNext(i int) error {
	if l.after != nil {
		return nil
	}
	for l.looked = max(l.looked, i); l.looked < len(l.p.Docs); l.looked++ {
		p, err := l.evalPoint(l.looked)
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

// interpolate returns the value at a place on the line through two points. The difference of two dates is in
// milliseconds.
func interpolate(a, b point, at any) (any, error) {
	c := calculation{}
	slope := c.apply("$divide", c.apply("$subtract", b.v, a.v), c.apply("$subtract", b.at, a.at))
	v := c.apply("$add", a.v, c.apply("$multiply", c.apply("$subtract", at, a.at), slope))
	return v, c.err
}

// calculation computes with the operators of expressions until one refuses a value. So a formula checks one error.
type calculation struct{ err error }

// apply applies an operator to two values. After an error it does nothing and returns nil.
func (c *calculation) apply(operator string, a, b any) (v any) {
	if c.err == nil {
		v, c.err = expr.Arithmetic(operator, a, b)
	}
	return v
}
