package expr

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// arithmetic are the operators on numbers. The result has the wider type of the two numbers: int, long, double,
// decimal. An int that overflows becomes a long, a long that overflows becomes a double, by the functions of package
// bsonval. A date can be added to milliseconds, and two dates subtracted.
//
//	{$add: [2147483647, 1]}                            →   the long 2147483648
//	{$add: [ISODate("2024-02-29"), 1000]}              →   the date a second later
//	{$subtract: [7, 10]}                               →   -3
//	{$divide: [6, 3]}                                  →   2.0
var arithmetic = table{
	"$add":      callToNull(0, -1, add),
	"$subtract": call(2, 2, subtract),
	"$multiply": callToNull(0, -1, multiply),
	"$divide":   parseDivide,
	"$mod":      call(2, 2, mod),
}

// add is {$add: [number or date, …]}. One argument may be a date, at any place. The others are then milliseconds.
func add(args []any) (any, error) {
	var total any = int32(0)
	var date bson.DateTime
	hasDate := false
	for _, v := range args {
		if x, ok := v.(bson.DateTime); ok {
			if hasDate {
				return nil, mongoerr.New(16612, "only one date allowed in an $add expression")
			}
			date, hasDate = x, true
			continue
		}
		if bsonval.IsNullish(v) {
			return nil, nil
		}
		if !bsonval.IsNumber(v) {
			return nil, mongoerr.New(mongoerr.TypeMismatch,
				"$add only supports numeric or date types, not %s", bsonval.TypeName(v))
		}
		sum, ok := bsonval.Add(total, v)
		if !ok {
			sum = toFloat(total) + toFloat(v)
		}
		total = sum
	}
	if hasDate {
		return addToDate("$add", date, total)
	}
	return total, nil
}

// addToDate adds milliseconds to a date. A double is rounded, a decimal is cut. name is the operator's, for the error.
func addToDate(name string, date bson.DateTime, ms any) (any, error) {
	if f, ok := ms.(float64); ok {
		ms = math.Round(f)
	}
	n, ok := bsonval.TruncInt64(ms)
	total, fits := bsonval.Add(int64(date), n)
	if !ok || !fits {
		return nil, mongoerr.New(mongoerr.Overflow, "date overflow in %s", name)
	}
	return bson.DateTime(total.(int64)), nil
}

// subtract is {$subtract: [a, b]}. The difference of two dates is a long, in milliseconds. Of a date a number of
// milliseconds is subtracted.
func subtract(args []any) (any, error) {
	a, b := args[0], args[1]
	if bsonval.IsNullish(a) || bsonval.IsNullish(b) {
		return nil, nil
	}
	if x, ok := a.(bson.DateTime); ok {
		if y, ok := b.(bson.DateTime); ok {
			return int64(x) - int64(y), nil
		}
		if bsonval.IsNumber(b) {
			negative, _ := bsonval.Mul(b, int32(-1))
			return addToDate("$subtract", x, negative)
		}
	}
	if !bsonval.IsNumber(a) || !bsonval.IsNumber(b) {
		return nil, mongoerr.New(mongoerr.TypeMismatch, "can't $subtract %s from %s",
			bsonval.TypeName(b), bsonval.TypeName(a))
	}
	v, ok := bsonval.Sub(a, b)
	if !ok {
		return toFloat(a) - toFloat(b), nil
	}
	return v, nil
}

// multiply is {$multiply: [number, …]}.
func multiply(args []any) (any, error) {
	var product any = int32(1)
	for _, v := range args {
		if bsonval.IsNullish(v) {
			return nil, nil
		}
		if !bsonval.IsNumber(v) {
			return nil, mongoerr.New(mongoerr.TypeMismatch,
				"$multiply only supports numeric types, not %s", bsonval.TypeName(v))
		}
		next, ok := bsonval.Mul(product, v)
		if !ok {
			next = toFloat(product) * toFloat(v)
		}
		product = next
	}
	return product, nil
}

// parseDivide parses {$divide: [a, b]}. It computes a quotient of constants at once, as MongoDB does, so that a
// division by zero is refused before any document is read.
func parseDivide(name string, arg any, s Scope) (Expr, error) {
	e, err := call(2, 2, divide)(name, arg, s)
	if err != nil {
		return nil, err
	}
	items, _ := parseArguments(name, arg, s, 2, 2)
	args := make([]any, len(items))
	for i, x := range items {
		var ok bool
		if args[i], ok = Literal(x); !ok {
			return e, nil
		}
	}
	v, err := divide(args)
	return constant{v}, err
}

// divide returns a quotient. It is a double, also of two ints, or a decimal if a or b is a decimal.
func divide(args []any) (any, error) {
	a, b := args[0], args[1]
	switch {
	case bsonval.IsNullish(a) || bsonval.IsNullish(b):
		return nil, nil
	case !bsonval.IsNumber(a) || !bsonval.IsNumber(b):
		return nil, mongoerr.New(mongoerr.TypeMismatch, "$divide only supports numeric types, not %s and %s",
			bsonval.TypeName(a), bsonval.TypeName(b))
	case bsonval.Compare(b, int32(0)) == 0:
		return nil, mongoerr.New(mongoerr.BadValue, "can't $divide by zero")
	}
	return bsonval.Div(a, b), nil
}

// mod is {$mod: [a, b]}: the remainder, with the sign of a. {$mod: [-7, 4]} is -3.
func mod(args []any) (any, error) {
	a, b := args[0], args[1]
	switch {
	case bsonval.IsNullish(a) || bsonval.IsNullish(b):
		return nil, nil
	case !bsonval.IsNumber(a) || !bsonval.IsNumber(b):
		return nil, mongoerr.New(16611, "$mod only supports numeric types, not %s and %s",
			bsonval.TypeName(a), bsonval.TypeName(b))
	case bsonval.Compare(b, int32(0)) == 0:
		return nil, mongoerr.New(16610, "can't $mod by zero")
	}
	return bsonval.Mod(a, b), nil
}

// operations are the operators of [Arithmetic].
var operations = map[string]values{"$add": add, "$subtract": subtract, "$multiply": multiply, "$divide": divide}

// Arithmetic computes a + b, a - b, a * b or a / b as the operator of that name does: "$add", "$subtract", "$multiply"
// or "$divide". Stages that compute with values call it, such as $densify and $fill.
func Arithmetic(name string, a, b any) (any, error) { return operations[name]([]any{a, b}) }
