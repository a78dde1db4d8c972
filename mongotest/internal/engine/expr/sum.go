package expr

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// sum adds numbers up: integers exactly, doubles with a second double that
// keeps what rounding loses, decimals as decimals. The zero sum is int 0.
type sum struct {
	n       int64 // how many numbers
	whole   int64
	hi, lo  float64
	decimal bson.Decimal128
	widest  bson.Type // of the numbers so far
}

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
			s.decimal, _ = bsonval.Decimal(int32(0))
		}
		d, _ := bsonval.Add(s.decimal, x)
		s.decimal = d.(bson.Decimal128)
		s.widen(bson.TypeDecimal128)
	default:
		return
	}
	s.n++
}

var width = map[bson.Type]int{bson.TypeInt32: 1, bson.TypeInt64: 2, bson.TypeDouble: 3, bson.TypeDecimal128: 4}

func (s *sum) widen(t bson.Type) {
	if width[t] > width[s.widest] {
		s.widest = t
	}
}

func (s *sum) addInt(n int64) {
	total := s.whole + n
	if (total > s.whole) != (n > 0) && n != 0 {
		s.addWhole(s.whole)
		total = n
	}
	s.whole = total
}

// addWhole adds an integer to the doubles without rounding it.
func (s *sum) addWhole(n int64) {
	low := n & 0xffffffff
	s.addFloat(float64(n - low))
	s.addFloat(float64(low))
}

func (s *sum) addFloat(f float64) {
	hi := s.hi + f
	if math.IsInf(hi, 0) || math.IsNaN(hi) {
		s.hi, s.lo = hi, 0
		return
	}
	// The error of the addition, exactly.
	part := hi - s.hi
	lo := s.lo + ((s.hi - (hi - part)) + (f - part))
	s.hi = hi + lo
	s.lo = lo - (s.hi - hi)
}

// total returns the sum in the widest of the types; integers that don't fit a long as a double.
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
		return s.double()
	}
	if s.widest == bson.TypeInt64 {
		return s.whole
	}
	return bsonval.Integer(s.whole)
}

func (s *sum) double() float64 {
	t := *s
	t.addWhole(t.whole)
	return t.hi + t.lo
}

// average returns the mean as a double or decimal, null of no numbers.
func (s *sum) average() any {
	switch {
	case s.n == 0:
		return nil
	case s.widest == bson.TypeDecimal128:
		return bsonval.Div(s.total(), s.n)
	}
	return s.double() / float64(s.n)
}
