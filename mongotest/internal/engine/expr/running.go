package expr

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Running is a sum of numbers from which numbers can be removed again. Package window keeps it for $sum, $avg and
// similar functions while a window moves. Values that aren't numbers don't count. The sum's type is the widest type of
// the numbers that are in it. Integers are an int if the sum fits into an int. The zero Running is empty.
//
// An infinity or NaN can't be subtracted again, so these numbers are only counted. As long as one is in the window, the
// sum isn't finite. The finite numbers are in sum.
//
// The sum of a window of two documents that moves over 1, 2.5, 3 and 4:
//
//	Add(1), Add(2.5)      →   3.5
//	Remove(1), Add(3)     →   5.5
//	Remove(2.5), Add(4)   →   the int 7, because no double is left
type Running struct {
	sum                     sum   // of the finite numbers: a removed number was added with the other sign
	n                       int64 // how many numbers
	doubles, decimals       int64 // how many numbers of these types
	nan, positive, negative int64 // how many numbers that aren't finite: NaN, +Infinity, -Infinity
}

// Add adds a value.
func (r *Running) Add(v any) { r.change(v, 1) }

// Remove removes a value that was added.
func (r *Running) Remove(v any) { r.change(v, -1) }

// change adds a number (by is 1) or removes it (by is -1).
func (r *Running) change(v any, by int64) {
	if !bsonval.IsNumber(v) {
		return
	}
	if r.n += by; r.n == 0 {
		*r = Running{} // rounding errors of earlier numbers end here
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
	case v == any(int64(math.MinInt64)): // its negative isn't a long
		r.sum.add(int64(math.MaxInt64))
		r.sum.add(int64(1))
	default:
		negative, _ := bsonval.Mul(v, int32(-1))
		r.sum.add(negative)
	}
}

// Sum returns the sum, int 0 without a number.
func (r *Running) Sum() any {
	if v, ok := r.Infinite(); ok {
		return v
	}
	// The sum has the widest type that ever was in it. The numbers of this type may be gone.
	total := r.sum.total()
	if r.decimals > 0 {
		return total
	}
	if r.doubles > 0 {
		return toFloat(total)
	}
	// Only integers are left. Doubles that were removed may have left a rounding error.
	f, isFloat := total.(float64)
	if isFloat {
		total = math.Round(f)
	}
	if n, ok := bsonval.Int64(total); ok {
		return bsonval.Integer(n)
	}
	return toFloat(total)
}

// Infinite returns the sum if it isn't finite, false if it is. Both infinities together give NaN. The sum is a decimal
// if a decimal is in the window.
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

// Average returns the mean as a double, or as a decimal if a decimal is in the window. It is null without a number.
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
