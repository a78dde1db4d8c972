package expr

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Running is a sum of numbers that can be taken out again, as $sum and $avg keep it of a window that moves. Values that
// aren't numbers don't count. Its type is the widest of the numbers that are in it; integers are an int when the sum
// fits one. The zero Running is empty.
type Running struct {
	sum                     sum
	n                       int64 // numbers
	doubles, decimals       int64
	nan, positive, negative int64 // numbers that aren't finite
}

// Add takes a value in.
func (r *Running) Add(v any) { r.count(v, 1) }

// Remove takes out a value that is in.
func (r *Running) Remove(v any) { r.count(v, -1) }

func (r *Running) count(v any, by int64) {
	if !bsonval.IsNumber(v) {
		return
	}
	if r.n += by; r.n == 0 {
		*r = Running{}
		return
	}
	switch v.(type) {
	case float64:
		r.doubles += by
	case bson.Decimal128:
		r.decimals += by
	}
	f := toFloat(v)
	switch {
	case bsonval.IsNaN(v):
		r.nan += by
	case isInfinite(v) && f > 0:
		r.positive += by
	case isInfinite(v):
		r.negative += by
	case by > 0:
		r.sum.add(v)
	case v == any(int64(math.MinInt64)):
		r.sum.add(int64(math.MaxInt64))
		r.sum.add(int64(1))
	default:
		negative, _ := bsonval.Mul(v, int32(-1))
		r.sum.add(negative)
	}
}

// Sum returns the sum, int 0 of no numbers.
func (r *Running) Sum() any {
	if v, ok := r.Infinite(); ok {
		return v
	}
	total := r.sum.total()
	if r.decimals > 0 {
		return total
	}
	if r.doubles > 0 {
		return toFloat(total)
	}
	f, isFloat := total.(float64)
	if isFloat {
		total = math.Round(f)
	}
	if n, ok := bsonval.Int64(total); ok {
		return bsonval.Integer(n)
	}
	return toFloat(total)
}

// Infinite returns the sum if it isn't finite, false if it is.
func (r *Running) Infinite() (any, bool) {
	f := 0.0
	switch {
	case r.nan > 0 || r.positive > 0 && r.negative > 0:
		f = math.NaN()
	case r.positive > 0:
		f = math.Inf(1)
	case r.negative > 0:
		f = math.Inf(-1)
	default:
		return nil, false
	}
	if r.decimals == 0 {
		return f, true
	}
	d, _ := bsonval.Decimal(f)
	return d, true
}

// Average returns the mean, null of no numbers.
func (r *Running) Average() any {
	if r.n == 0 {
		return nil
	}
	if v, ok := r.Infinite(); ok {
		return v
	}
	total := r.Sum()
	if _, isDecimal := total.(bson.Decimal128); isDecimal {
		return bsonval.Div(total, r.n)
	}
	return toFloat(total) / float64(r.n)
}
