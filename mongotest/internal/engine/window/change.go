package window

// This file has $derivative and $integral, which compute with the values that the documents are sorted by.

import (
	"errors"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/dates"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// changing is the common part of $derivative and $integral: the input is a function of the key, the value that the
// documents are sorted by. The key is a number, or a date if there is a unit.
type changing struct {
	input, key expr.Expr
	unit       int64 // milliseconds; 0: sorted by numbers
	*bounds
}

// parseChanging parses the window and the argument of a function. It also returns whether there is a window, since
// $derivative requires one.
func parseChanging(name string, spec bson.D, s Stage) (x changing, windowed bool, err error) {
	switch {
	case s.SortBy == nil:
		return x, false, newError("%s requires a sortBy", name)
	case len(s.SortBy) != 1:
		return x, false, newError("%s requires a non-compound sortBy", name)
	}
	var arg any
	for _, f := range spec {
		switch f.Key {
		case "window":
			if windowed && name == "$integral" {
				return x, false, newError("There can be only one 'window' field for $integral")
			}
			windowed = true
			if x.bounds, err = parseBounds(f.Value, s); err != nil {
				return x, false, err
			}
		case name:
			arg = f.Value
		default:
			return x, false, newError("%s got unexpected argument: %s", name, f.Key)
		}
	}
	d, ok := arg.(bson.D)
	if !ok {
		return x, false, newError("%s expects an object, but got a %s: %s: %s", name, bsonval.TypeName(arg),
			name, bsonval.Text(arg))
	}
	for _, f := range d {
		switch f.Key {
		case "input":
			x.input, err = expr.Parse(f.Value, s.Scope)
		case "unit":
			x.unit, err = parseUnit(f.Value)
		default:
			err = newError("%s got unexpected argument: %s", name, f.Key)
		}
		if err != nil {
			return x, false, err
		}
	}
	if x.input == nil {
		return x, false, newError("%s requires an 'input' expression", name)
	}
	x.key, err = s.parseSortKey()
	return x, windowed, err
}

// parseUnit returns the milliseconds of a unit. It refuses months and longer units: their lengths vary.
func parseUnit(v any) (int64, error) {
	name, ok := v.(string)
	switch {
	case !ok:
		return 0, newError("unit' must be a string, but got %s", bsonval.TypeName(v))
	case !dates.IsUnit(name):
		return 0, newError("unknown time unit value: %s", name)
	}
	n := dates.UnitLength(name)
	if n == 0 {
		return 0, mongoerr.New(5490710, "unit must be 'week' or smaller")
	}
	return n, nil
}

// derivative is $derivative: the slope from the first document of the window to the last. The documents between them
// don't matter.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/derivative/
type derivative struct{ changing }

// parseDerivative parses $derivative.
func parseDerivative(name string, spec bson.D, s Stage) (Function, error) {
	x, windowed, err := parseChanging(name, spec, s)
	if err == nil && !windowed {
		err = newError("$derivative requires explicit window bounds")
	}
	return derivative{x}, err
}

// StartPartition evaluates only the first and the last document of each window. An empty window has no slope: null.
func (x derivative) StartPartition(p *Partition) Values {
	f := x.bounds.newFrames(p)
	return func(i int) (any, error) {
		first, last, err := f.findFrame(i)
		if err != nil || first > last {
			return nil, err
		}
		var v [4]any // both keys, then both inputs
		for k, e := range []expr.Expr{x.key, x.input} {
			for l, j := range []int{first, last} {
				if v[2*k+l], err = p.eval(e, j); err != nil {
					return nil, err
				}
			}
		}
		if err := x.check(v[0], v[1]); err != nil {
			return nil, err
		}
		return x.computeSlope(v[0], v[1], v[2], v[3])
	}
}

// check refuses keys that are no numbers, or no dates if there is a unit.
func (x derivative) check(from, to any) error {
	_, a := from.(bson.DateTime)
	_, b := to.(bson.DateTime)
	switch {
	case x.unit != 0 && !(a && b):
		return mongoerr.New(5624900, "$derivative with 'unit' expects the sortBy field to be a Date")
	case x.unit != 0:
	case a || b:
		return mongoerr.New(5624901, "$derivative where the sortBy is a Date requires an 'unit'")
	case !bsonval.IsNumber(from) || !bsonval.IsNumber(to):
		return mongoerr.New(5624902, "$derivative (with no 'unit') expects the sortBy field to be numeric")
	}
	return nil
}

// computeSlope returns null if both keys are equal. The difference of two dates is in milliseconds, so the slope is
// multiplied by the milliseconds of the unit.
func (x derivative) computeSlope(from, to, low, high any) (any, error) {
	c := calculation{}
	run, rise := c.apply("$subtract", to, from), c.apply("$subtract", high, low)
	switch {
	case c.err != nil:
		return nil, c.err
	case bsonval.IsNullish(rise):
		return nil, mongoerr.New(5624903, "$derivative input must not be null or missing")
	}
	v, err := expr.Arithmetic("$divide", rise, run)
	var refusal *mongoerr.Error
	switch {
	// $divide refuses the divisor 0 with this code.
	case errors.As(err, &refusal) && refusal.Code == mongoerr.BadValue:
		return nil, nil
	case err != nil || x.unit == 0:
		return v, err
	}
	return expr.Arithmetic("$multiply", v, x.unit)
}

// integral is $integral: the area under the line through the window's points, by the trapezoidal rule. One point alone
// has the area 0.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/integral/
type integral struct{ changing }

// parseIntegral parses $integral. Without a window it is computed over the whole partition.
func parseIntegral(name string, spec bson.D, s Stage) (Function, error) {
	x, _, err := parseChanging(name, spec, s)
	return integral{x}, err
}

// StartPartition slides over points: the area of a window is the sum of the trapezoids between neighbors.
func (x integral) StartPartition(p *Partition) Values {
	return x.bounds.slide(p, &inputs{p: p, eval: x.evalPoint}, &area{unit: x.unit})
}

// evalPoint evaluates a document's key and input as a [point].
func (x integral) evalPoint(c *expr.Context) (any, error) {
	at, err := x.key.Eval(c)
	if err != nil {
		return nil, err
	}
	v, err := x.input.Eval(c)
	return point{at, v}, err
}

// point is a value and its place, which is the key of its document.
type point struct{ at, v any }

// isNaN reports whether the place or the value is NaN.
func (p point) isNaN() bool { return bsonval.IsNaN(p.at) || bsonval.IsNaN(p.v) }

// area is an $integral at work. sum has one trapezoid for each two neighbors in points.
type area struct {
	unit   int64
	points []point // of the window
	sum    expr.Running
	nan    int // the number of points with a NaN
}

// add adds the trapezoid between the last point and the new one. A first point has no trapezoid.
func (a *area) add(v any) error {
	p := v.(point)
	if err := a.check(p); err != nil {
		return err
	}
	if p.isNaN() {
		a.nan++
	}
	if n := len(a.points); n > 0 {
		v, err := computeArea(a.points[n-1], p)
		if err != nil {
			return err
		}
		a.sum.Add(v)
	}
	a.points = append(a.points, p)
	return nil
}

// check refuses a value that isn't a number, and a place that is neither a number nor a date, or doesn't fit the unit.
func (a *area) check(p point) error {
	_, isDate := p.at.(bson.DateTime)
	switch {
	case !bsonval.IsNumber(p.v) || !isDate && !bsonval.IsNumber(p.at):
		return mongoerr.New(5423900,
			"The input value of $integral window function must be a vector of 2 value, the first value must be "+
				"numeric or date type and the second must be numeric.")
	case a.unit != 0 && !isDate:
		return mongoerr.New(5423901, "$integral with 'unit' expects the sortBy field to be a Date")
	case a.unit == 0 && isDate:
		return mongoerr.New(5423902, "$integral (with no 'unit') expects the sortBy field to be numeric")
	}
	return nil
}

// remove removes the trapezoid between the first point and the second. A last point has no trapezoid.
func (a *area) remove(any) error {
	p := a.points[0]
	if p.isNaN() {
		a.nan--
	}
	if a.points = a.points[1:]; len(a.points) == 0 {
		return nil
	}
	v, err := computeArea(p, a.points[0])
	a.sum.Remove(v)
	return err
}

// result returns null for an empty window. With a unit, the places are dates and the widths of the trapezoids are in
// milliseconds, so the sum is divided by the milliseconds of the unit.
func (a *area) result() (any, error) {
	switch {
	case len(a.points) == 0:
		return nil, nil
	case a.nan > 0:
		return math.NaN(), nil
	case a.unit == 0:
		return a.sum.Sum(), nil
	}
	return expr.Arithmetic("$divide", a.sum.Sum(), a.unit)
}

// computeArea returns the area between two points. It is 0 if one has a NaN: result returns NaN then, as long as the
// window has such a point.
func computeArea(a, b point) (any, error) {
	if a.isNaN() || b.isNaN() {
		return int32(0), nil
	}
	c := calculation{}
	both := c.apply("$multiply", c.apply("$add", b.v, a.v), c.apply("$subtract", b.at, a.at))
	v := c.apply("$divide", both, 2.0)
	return v, c.err
}
