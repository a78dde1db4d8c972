package expr

// This file has $percentile and $median, as accumulators and as operators on an array. Both are the same computation:
// the median is the percentile of 0.5.

import (
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// arrayQuantiles are $percentile and $median as operators. Elements that aren't numbers don't count.
//
//	{$median: {input: [1, 2, 3, 4], method: "approximate"}}                    →   2.0
//	{$percentile: {input: [3, 1, 2], p: [0, 0.9], method: "approximate"}}      →   [1.0, 3.0]
var arrayQuantiles = table{"$percentile": parseQuantileOfArray, "$median": parseQuantileOfArray}

// parseQuantileOfGroup parses one of them as an accumulator.
func parseQuantileOfGroup(name string, arg any, s Scope) (*Accumulator, error) {
	notObject := int32(7429703)
	if name == "$median" {
		notObject = 7436100
	}
	input, start, err := parseQuantile(notObject, name, arg, s)
	if err != nil {
		return nil, err
	}
	return &Accumulator{arg: input, start: func() accumulation { next := start; return &next }}, nil
}

// parseQuantileOfArray parses one of them as an operator.
func parseQuantileOfArray(name string, arg any, s Scope) (Expr, error) {
	notObject := int32(7436200)
	if name == "$median" {
		notObject = 7436201
	}
	input, start, err := parseQuantile(notObject, name, arg, s)
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) { return measureElements(c, start, input) }), nil
}

// measureElements evaluates one of the operators. m is a copy of the empty state. The percentiles of a single number
// are the number, even if it is NaN.
func measureElements(c *Context, m measuring, input Expr) (any, error) {
	v, err := input.Eval(c)
	if err != nil {
		return nil, err
	}
	list, _ := v.(bson.A)
	if bsonval.IsNumber(v) {
		return m.listFractions(slices.Repeat([]float64{toFloat(v)}, len(m.at))), nil
	}
	if err := countSteps(c, []any{v}); err != nil {
		return nil, err
	}
	for _, x := range list {
		if err := m.add(x); err != nil {
			return nil, err
		}
	}
	return m.result(), nil
}

// parseQuantile parses {input: "$n", p: [0.5, 0.9], method: "approximate"}, of the median without p. notObject is the
// code for another argument. m is the empty state.
func parseQuantile(notObject int32, name string, arg any, s Scope) (input Expr, m measuring, err error) {
	m = measuring{name: name, one: name == "$median", at: []float64{0.5}}
	d, ok := arg.(bson.D)
	if !ok {
		return nil, m, mongoerr.New(notObject, "specification must be an object; found %s: %s", name, bsonval.Show(arg))
	}
	known := []string{"input", "p", "method"}
	if m.one {
		known = []string{"input", "method"}
	}
	for _, f := range d {
		if !slices.Contains(known, f.Key) {
			return nil, m, mongoerr.New(40415, "BSON field '%s.%s' is an unknown field.", name, f.Key)
		}
	}
	for _, part := range known {
		if bsonval.Index(d, part) < 0 {
			return nil, m, mongoerr.New(40414, "BSON field '%s.%s' is missing but a required field", name, part)
		}
	}
	if err := checkMethod(name, d); err != nil {
		return nil, m, err
	}
	v, _ := bsonval.Get(d, "input")
	if input, err = Parse(v, s); err != nil {
		return nil, m, err
	}
	if p, ok := bsonval.Get(d, "p"); ok {
		m.at, err = parseFractions(p, s)
	}
	return input, m, err
}

// checkMethod checks the part method, which MongoDB demands although it has one method only.
func checkMethod(name string, d bson.D) error {
	v, _ := bsonval.Get(d, "method")
	method, ok := v.(string)
	switch {
	case !ok:
		return mongoerr.New(mongoerr.TypeMismatch,
			"BSON field '%s.method' is the wrong type '%s', expected type 'string'", name, bsonval.TypeName(v))
	case method != "approximate":
		return mongoerr.New(mongoerr.BadValue, "Currently only 'approximate' can be used as percentile 'method'.")
	}
	return nil
}

// parseFractions parses p, a constant array of numbers from 0 to 1.
func parseFractions(arg any, s Scope) ([]float64, error) {
	const wrong = "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: %s"
	e, err := Parse(arg, s)
	if err != nil {
		return nil, err
	}
	v, ok := Literal(e)
	if name, isString := arg.(string); !ok && isString && strings.HasPrefix(name, "$$") {
		return nil, mongoerr.New(mongoerr.NotImplemented,
			"$percentile with a variable as 'p' isn't implemented by the embedded engine")
	}
	if !ok {
		return nil, mongoerr.New(7750300,
			"The $percentile 'p' field must be an array of constant values, but found value: %s.", bsonval.Show(arg))
	}
	list, ok := v.(bson.A)
	if !ok || len(list) == 0 {
		return nil, mongoerr.New(7750301, wrong, bsonval.Show(v))
	}
	at := make([]float64, len(list))
	for i, x := range list {
		if !bsonval.IsNumber(x) {
			return nil, mongoerr.New(7750302, wrong, bsonval.Show(x))
		}
		if at[i] = toFloat(x); at[i] < 0 || at[i] > 1 {
			return nil, mongoerr.New(7750303, wrong, showAsDouble(x))
		}
	}
	return at, nil
}

// measuring is the state of a percentile or median: the numbers of a group, as doubles.
type measuring struct {
	name string    // of the operator
	at   []float64 // the wanted percentiles, as fractions from 0 to 1
	one  bool      // the result is the value, not a list
	list []float64
}

const doubleSize = 8 // bytes

// heldBytes counts only the numbers: the list has no other values.
func (m *measuring) heldBytes() int { return len(m.list) * doubleSize }

// add takes in a number, and leaves out NaN and any other value.
func (m *measuring) add(v any) error {
	f, ok := bsonval.Float(v)
	if !ok || math.IsNaN(f) {
		return nil
	}
	m.list = append(m.list, f)
	if m.heldBytes() > MaxMemory {
		return mongoerr.New(mongoerr.ExceededMemoryLimit,
			"%s used too much memory and cannot spill to disk. Used: %d bytes. Memory limit: %d bytes",
			m.name, m.heldBytes(), MaxMemory)
	}
	return nil
}

// result returns the percentiles of the numbers so far. A percentile is a number of the list, never one between two: p
// is that of the rank n*p, rounded up, as in MongoDB.
func (m *measuring) result() any {
	slices.Sort(m.list)
	n := len(m.list)
	if n == 0 {
		return m.listFractions(nil)
	}
	found := make([]float64, len(m.at))
	for i, p := range m.at {
		found[i] = m.list[min(max(int(math.Ceil(float64(n)*p))-1, 0), n-1)]
	}
	return m.listFractions(found)
}

// listFractions returns percentiles as the result of the operator, with null for each that found doesn't have.
func (m *measuring) listFractions(found []float64) any {
	out := make(bson.A, len(m.at))
	for i, f := range found {
		out[i] = f
	}
	if m.one {
		return out[0]
	}
	return out
}
