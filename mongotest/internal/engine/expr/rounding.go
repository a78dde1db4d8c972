package expr

import (
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// rounding are operators that make numbers whole, or round them to a decimal place. The result has the type of the
// number: {$ceil: 2.1} is the double 3.0.
//
//	{$abs: -2.5}              →   2.5
//	{$floor: -2.1}            →   -3.0
//	{$round: 2.5}             →   2.0: halves go to the even neighbour
//	{$round: [155, -1]}       →   160
//	{$trunc: [19.257, 1]}     →   19.2
var rounding = table{
	"$abs":   call(1, 1, takeNumber("$abs", abs)),
	"$ceil":  call(1, 1, takeNumber("$ceil", func(v any) (any, error) { return roundTo(v, 0, upward), nil })),
	"$floor": call(1, 1, takeNumber("$floor", func(v any) (any, error) { return roundTo(v, 0, downward), nil })),
	"$round": call(1, 2, roundToPlace("$round", halfEven)),
	"$trunc": call(1, 2, roundToPlace("$trunc", towardZero)),
}

// takeNumber returns the function of an operator on one number, by the function f of a number. A nullish argument gives
// null. Another type is refused.
func takeNumber(name string, f func(v any) (any, error)) values {
	return func(args []any) (any, error) {
		v := args[0]
		switch {
		case bsonval.IsNullish(v):
			return nil, nil
		case !bsonval.IsNumber(v):
			return nil, mongoerr.New(28765, "%s only supports numeric types, not %s", name, bsonval.TypeName(v))
		}
		return f(v)
	}
}

// abs is {$abs: number}. The least long has no positive counterpart, and is refused. The least int becomes a long.
func abs(v any) (any, error) {
	switch x := v.(type) {
	case float64:
		return math.Abs(x), nil
	case int64:
		if x == math.MinInt64 {
			return nil, mongoerr.New(28680, "can't take $abs of long long min")
		}
	case bson.Decimal128:
		h, l := x.GetBytes()
		return bson.NewDecimal128(h&^(1<<63), l), nil // the highest bit is the sign
	}
	if bsonval.Compare(v, int32(0)) >= 0 {
		return v, nil
	}
	n, _ := bsonval.Mul(v, int32(-1))
	return n, nil
}

// roundToPlace returns the function of {$round: [number, place]} or $trunc. The place is 0 if it isn't given.
func roundToPlace(name string, mode roundMode) values {
	return func(args []any) (any, error) {
		place := any(int32(0))
		if len(args) == 2 {
			place = args[1]
		}
		if bsonval.IsNullish(args[0]) || bsonval.IsNullish(place) {
			return nil, nil
		}
		if !bsonval.IsNumber(args[0]) {
			return nil, mongoerr.New(51081, "%s only supports numeric types, not %s", name, bsonval.TypeName(args[0]))
		}
		n, ok := bsonval.Int64(place)
		switch {
		case !bsonval.IsNumber(place):
			return nil, mongoerr.New(16004, "can't convert from BSON type %s to long", bsonval.TypeName(place))
		case !ok:
			return nil, mongoerr.New(51082, "precision argument to %s must be a integral value", name)
		case n < -20 || n > 100:
			return nil, mongoerr.New(51083,
				"cannot apply %s with precision value %d value must be in [-20, 100]", name, n)
		}
		rounded := roundTo(args[0], int(n), mode)
		if rounded == nil {
			return nil, mongoerr.New(51080,
				"invalid conversion from Decimal128 result in %s resulting from arguments: [%s, %d]",
				name, bsonval.Show(args[0]), n)
		}
		return rounded, nil
	}
}

// roundMode says to which of its two neighbours a number is rounded.
type roundMode uint8

const (
	halfEven   roundMode = iota // to the nearer one, of two equally near ones to the even: $round
	towardZero                  // $trunc
	upward                      // $ceil
	downward                    // $floor
)

// roundTo rounds a number to a decimal place: 2 is hundredths, 0 is whole numbers, -1 is tens. It keeps the type, but
// an int that overflows becomes a long. A long that overflows gives nil. Doubles are rounded by their exact values, as
// fractions: 2.675 is a little less than it seems, and becomes 2.67.
func roundTo(v any, place int, mode roundMode) any {
	switch x := v.(type) {
	case int32, int64:
		if place >= 0 {
			return v
		}
		n, _ := bsonval.Int64(x)
		whole := roundRat(new(big.Rat).SetInt64(n), place, mode).Num()
		if !whole.IsInt64() {
			return nil
		}
		if _, isInt := v.(int32); isInt {
			return bsonval.Integer(whole.Int64())
		}
		return whole.Int64()
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) || x == 0 {
			return v
		}
		f, _ := roundRat(new(big.Rat).SetFloat64(x), place, mode).Float64()
		return math.Copysign(f, x) // a fraction has no negative zero
	case bson.Decimal128:
		if x.IsNaN() || x.IsInf() != 0 {
			return v
		}
		return bsonval.Quantize(x, -place, mode.roundsAway)
	}
	return v
}

// roundRat rounds a fraction to a decimal place: the fraction times 10^place becomes whole, and is divided again.
func roundRat(r *big.Rat, place int, mode roundMode) *big.Rat {
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(place, -place))), nil))
	if place < 0 {
		scale.Inv(scale)
	}
	scaled := new(big.Rat).Mul(r, scale)
	q, rem := new(big.Int).QuoRem(scaled.Num(), scaled.Denom(), new(big.Int))
	if mode.roundsAway(q, rem, scaled.Denom()) {
		q.Add(q, big.NewInt(int64(scaled.Sign())))
	}
	return new(big.Rat).Quo(new(big.Rat).SetInt(q), scale)
}

// roundsAway reports whether a quotient is rounded away from zero. q was divided toward zero by divisor, and rest was
// left, with the sign of the number.
func (mode roundMode) roundsAway(q, rest, divisor *big.Int) bool {
	switch mode {
	case halfEven:
		// The rest is beside half of the divisor, and q is odd in its lowest bit.
		twice := new(big.Int).Lsh(new(big.Int).Abs(rest), 1)
		c := twice.Cmp(divisor)
		return c > 0 || (c == 0 && q.Bit(0) == 1)
	case upward:
		return rest.Sign() > 0
	case downward:
		return rest.Sign() < 0
	}
	return false
}
