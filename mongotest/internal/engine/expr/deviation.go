package expr

// This file computes $stdDevPop and $stdDevSamp, as operators (totals.go) and as accumulators.

import (
	"math"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// deviation computes a standard deviation in one pass, by Welford's method: the mean and the sum of the squares change
// with each number, so that no list is kept, and large numbers with small differences lose few digits. The result is a
// double, of decimals too (https://www.mongodb.com/docs/manual/reference/operator/aggregation/stdDevPop/).
type deviation struct {
	sample        bool // of a sample, not of the whole population
	n             int64
	mean, squares float64 // squares is the sum of the squared distances to the mean
}

// add takes a number, and leaves out any other value.
func (d *deviation) add(v any) {
	x, ok := bsonval.Float(v)
	if !ok {
		return
	}
	d.n++
	distance := x - d.mean
	if distance != 0 {
		d.mean += distance / float64(d.n)
		d.squares += distance * (x - d.mean)
	}
}

// result returns the deviation. It is null without a number, and for a sample of one number.
func (d *deviation) result() any {
	n := d.n
	if d.sample {
		n--
	}
	if n <= 0 {
		return nil
	}
	return math.Sqrt(d.squares / float64(n))
}

// computeDeviation returns a function that computes the standard deviation of a list. start says whether of a sample.
func computeDeviation(start deviation) func(list []any) any {
	return func(list []any) any {
		d := start
		for _, v := range list {
			d.add(v)
		}
		return d.result()
	}
}

// deviating is a deviation as an accumulator.
type deviating struct{ deviation }

// add never fails. accumulation asks for the error.
func (d *deviating) add(v any) error { d.deviation.add(v); return nil }
