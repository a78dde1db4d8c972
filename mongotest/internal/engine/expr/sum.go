package expr

// This file adds numbers up for $sum and $avg, both as operators (totals.go) and as accumulators (accumulator.go), and
// for the moving sums of windows (running.go).

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// sum adds numbers up in three parts, by their types: integers exactly, doubles with a second double that keeps what
// rounding loses, and decimals as decimals. The parts are added at the end. So the order of the numbers hardly matters,
// and 0.1 + 1e16 - 1e16 is 0.1, as in MongoDB. The zero sum is int 0.
type sum struct {
	n       int64           // how many numbers
	whole   int64           // the sum of the ints and longs that fits; an overflow goes to hi and lo
	hi, lo  float64         // the sum of the doubles is hi + lo; lo is smaller than the last digit of hi
	decimal bson.Decimal128 // the sum of the decimals, once there is one
	widest  bson.Type       // the widest type of the numbers so far, which is the result's
}

// add adds a number, and leaves out any other value.
func (s *sum) add(v any) {
	switch x := v.(type) {
	case int32:
		s.addInt(int64(x))
		s.widen(bson.TypeInt32)
	case int64:
		s.addInt(x)
		s.widen(bson.TypeInt64)
	case float64:
		s.addFloat(x)
		s.widen(bson.TypeDouble)
	case bson.Decimal128:
		if s.widest != bson.TypeDecimal128 {
			s.decimal, _ = bsonval.Decimal(int32(0)) // the zero Decimal128 has another exponent: -6176
		}
		d, _ := bsonval.Add(s.decimal, x)
		s.decimal = d.(bson.Decimal128)
		s.widen(bson.TypeDecimal128)
	default:
		return
	}
	s.n++
}

// width orders the numeric types from narrow to wide.
var width = map[bson.Type]int{bson.TypeInt32: 1, bson.TypeInt64: 2, bson.TypeDouble: 3, bson.TypeDecimal128: 4}

// widen notes the type of a number.
func (s *sum) widen(t bson.Type) {
	if width[t] > width[s.widest] {
		s.widest = t
	}
}

// addInt adds an integer. If the sum of the integers overflows, the sum so far moves to the doubles, and whole begins
// again with n.
func (s *sum) addInt(n int64) {
	total := s.whole + n
	if (total > s.whole) != (n > 0) && n != 0 {
		s.addWhole(s.whole)
		total = n
	}
	s.whole = total
}

// addWhole adds an integer to the doubles without rounding it: a double has 53 bits, so the integer is added in two
// parts of 32 bits.
func (s *sum) addWhole(n int64) {
	low := n & 0xffffffff
	s.addFloat(float64(n - low))
	s.addFloat(float64(low))
}

// addFloat adds a double by Knuth's TwoSum: the rounding error of an addition is itself a double, and is added to lo.
func (s *sum) addFloat(f float64) {
	hi := s.hi + f
	if math.IsInf(hi, 0) || math.IsNaN(hi) {
		s.hi, s.lo = hi, 0 // the error would be NaN
		return
	}
	// The error of the addition, exactly.
	part := hi - s.hi
	lo := s.lo + ((s.hi - (hi - part)) + (f - part))
	s.hi = hi + lo
	s.lo = lo - (s.hi - hi)
}

// total returns the sum in the widest type. Integers are an int if the sum fits and no long was added, or else a long.
// Integers whose sum doesn't fit a long are a double.
func (s *sum) total() any {
	switch s.widest {
	case bson.TypeDouble:
		return s.double()
	case bson.TypeDecimal128:
		var v any = s.decimal
		v, _ = bsonval.Add(v, s.whole)
		if s.hi != 0 {
			v, _ = bsonval.Add(v, s.hi)
		}
		return v
	}
	if s.hi != 0 || s.lo != 0 {
		return s.double() // the integers have overflowed
	}
	if s.widest == bson.TypeInt64 {
		return s.whole
	}
	return bsonval.Integer(s.whole)
}

// double returns the sum of the integers and the doubles. It works on a copy, because more numbers may follow.
func (s *sum) double() float64 {
	t := *s
	t.addWhole(t.whole)
	return t.hi + t.lo
}

// average returns the mean as a double, or as a decimal if a decimal was added. It is null without a number.
func (s *sum) average() any {
	switch {
	case s.n == 0:
		return nil
	case s.widest == bson.TypeDecimal128:
		return bsonval.Div(s.total(), s.n)
	}
	return s.double() / float64(s.n)
}
