package expr

import (
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// WindowAccumulator parses an accumulator as a function of $setWindowFields. Unlike in $group, an array is an argument
// like any other. The caller has seen that there is an accumulator of that name.
func WindowAccumulator(name string, arg any, s Scope) (*Accumulator, error) {
	if parse, ok := ranked[name]; ok {
		return parse(name, arg, s)
	}
	start, ok := accumulators[name]
	if !ok {
		return ParseAccumulator(name, arg, s)
	}
	e, err := Parse(arg, s)
	if err != nil {
		return nil, err
	}
	return &Accumulator{arg: e, start: func() accumulation { return start(s.collation) }}, nil
}

// Eval returns what the accumulator takes of the context's document.
func (a *Accumulator) Eval(c *Context) (any, error) { return a.arg.Eval(c) }

// AddValue takes a value into the group that Eval has returned.
func (g Group) AddValue(v any) error { return g.state.add(v) }

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
	f := asFloat(v)
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

func isInfinite(v any) bool {
	switch v := v.(type) {
	case float64:
		return math.IsInf(v, 0)
	case bson.Decimal128:
		return v.IsInf() != 0
	}
	return false
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
		return asFloat(total)
	}
	f, isFloat := total.(float64)
	if isFloat {
		total = math.Round(f)
	}
	if n, ok := bsonval.Int64(total); ok {
		return bsonval.Integer(n)
	}
	return asFloat(total)
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
	return asFloat(total) / float64(r.n)
}

// IsUnit reports whether there is a unit of time of that name.
func IsUnit(name string) bool { return slices.Contains(units, name) }

// UnitLength returns how many milliseconds a unit of time has that always has as many, a day of 24 hours and a week
// among them; 0 of longer units.
func UnitLength(unit string) int64 {
	switch unit {
	case "week":
		return 7 * 24 * lengths["hour"]
	case "day":
		return 24 * lengths["hour"]
	}
	return lengths[unit]
}

// AddUnits returns the date so many units later, by the calendar of UTC, as $dateAdd computes it.
func AddUnits(d bson.DateTime, unit string, n int64) (bson.DateTime, error) {
	v, err := addUnits("$dateAdd", time.UnixMilli(int64(d)).UTC(), unit, n)
	if err != nil {
		return 0, err
	}
	return v.(bson.DateTime), nil
}

var operations = map[string]values{"$add": add, "$subtract": subtract, "$multiply": multiply, "$divide": divide}

// Arithmetic computes a + b, a - b, a * b or a / b as the operator of that name does: "$add", "$subtract", "$multiply"
// or "$divide".
func Arithmetic(name string, a, b any) (any, error) { return operations[name]([]any{a, b}) }
