package window

// This file has $expMovingAvg, which takes no window: its average so far has all documents before.

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// movingAverage is $expMovingAvg. The first number is the average. Each later number counts alpha times, and the
// average before it 1 - alpha times. A document without a number repeats the average.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/expMovingAvg/
type movingAverage struct {
	input       expr.Expr
	alpha, rest any // decimals
}

const movingAverageParts = "$expMovingAvg sub object must have exactly two fields: An 'input' field, " +
	"and either an 'N' field or an 'alpha' field"

// parseMovingAverage parses $expMovingAvg. It reads the input, and either N or alpha.
func parseMovingAverage(name string, spec bson.D, s Stage) (Function, error) {
	d, ok := spec[0].Value.(bson.D)
	if len(spec) != 1 || !ok {
		return nil, newError("%s must have exactly one argument that is an object", name)
	}
	input, ok := bsonval.Get(d, "input")
	switch {
	case len(d) != 2 || !ok:
		return nil, newError(movingAverageParts)
	case s.SortBy == nil:
		return nil, newError("$expMovingAvg requires an explicit 'sortBy'")
	}
	x := movingAverage{}
	var err error
	if x.input, err = expr.Parse(input, s.Scope); err != nil {
		return nil, err
	}
	n, byN := bsonval.Get(d, "N")
	alpha, byAlpha := bsonval.Get(d, "alpha")
	switch {
	case byN:
		err = x.setSpan(n)
	case byAlpha:
		err = x.setWeight(alpha)
	default:
		err = newError("Got unrecognized field in $expMovingAvg" + movingAverageParts)
	}
	return x, err
}

// setSpan sets alpha by N, a number of documents: alpha is 2 / (N + 1).
func (x *movingAverage) setSpan(v any) error {
	f, ok := bsonval.Float(v)
	n, _ := bsonval.TruncInt64(v)
	switch {
	case !ok:
		return newError("'N' field must be an integer, but found type %s", bsonval.TypeName(v))
	case f != math.Floor(f):
		return newError("'N' field must be an integer, but found  N: %s. To use a non-integer, "+
			"use the 'alpha' argument instead", bsonval.Text(v))
	case n <= 0:
		return newError("'N' must be greater than zero. Got %d", n)
	}
	// The quotient of two integers would be a double, but StartPartition computes with decimals.
	two, _ := bsonval.Decimal(int32(2))
	count, _ := bsonval.Decimal(n)
	count1, _ := bsonval.Add(count, int32(1))
	x.setAlpha(bsonval.Div(two, count1))
	return nil
}

// setWeight sets alpha, which must be between 0 and 1, and neither of them.
func (x *movingAverage) setWeight(v any) error {
	alpha, ok := bsonval.Decimal(v)
	switch {
	case !ok:
		return newError("'alpha' must be a number")
	case bsonval.IsNaN(v) || bsonval.Compare(alpha, int32(0)) <= 0 || bsonval.Compare(alpha, int32(1)) >= 0:
		return newError("'alpha' must be between 0 and 1 (exclusive), found alpha: %s", bsonval.Text(v))
	}
	x.setAlpha(alpha)
	return nil
}

// setAlpha sets alpha and the weight of the average before, 1 - alpha.
func (x *movingAverage) setAlpha(alpha any) {
	one, _ := bsonval.Decimal(int32(1))
	x.alpha = alpha
	x.rest, _ = bsonval.Sub(one, alpha)
}

// StartPartition computes with decimals, as MongoDB does. The results are doubles until the first decimal of the
// partition, and null before the first number.
func (x movingAverage) StartPartition(p *Partition) Values {
	var average any
	decimal := false
	return func(i int) (any, error) {
		v, err := p.eval(x.input, i)
		if err != nil {
			return nil, err
		}
		if bsonval.IsNumber(v) {
			d, _ := bsonval.Decimal(v)
			_, isDecimal := v.(bson.Decimal128)
			decimal = decimal || isDecimal
			if average == nil {
				average = d
			} else {
				now, _ := bsonval.Mul(d, x.alpha)
				before, _ := bsonval.Mul(average, x.rest)
				average, _ = bsonval.Add(now, before)
			}
		}
		if average == nil || decimal {
			return average, nil
		}
		f, _ := bsonval.Float(average)
		return f, nil
	}
}
