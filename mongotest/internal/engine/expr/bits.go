package expr

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// bitwise are operators on the bits of ints and longs. Doubles are refused even if they are whole.
//
//	{$bitAnd: [7, 12]}   →   4
//	{$bitOr: [7, 12]}    →   15
//	{$bitXor: [7, 12]}   →   11
//	{$bitNot: 7}         →   -8
var bitwise = table{
	"$bitAnd": callToNull(0, -1, combineBits("$bitAnd", -1, func(a, b int64) int64 { return a & b })),
	"$bitOr":  callToNull(0, -1, combineBits("$bitOr", 0, func(a, b int64) int64 { return a | b })),
	"$bitXor": callToNull(0, -1, combineBits("$bitXor", 0, func(a, b int64) int64 { return a ^ b })),
	"$bitNot": call(1, 1, takeNumber("$bitNot", bitNot)),
}

// combineBits returns the function of an operator that combines all its arguments by f. start is the value without an
// argument, and changes nothing: f(start, x) is x. The result is a long if an argument is a long.
func combineBits(name string, start int64, f func(a, b int64) int64) values {
	return func(args []any) (any, error) {
		total, long := start, false
		for _, v := range args {
			switch x := v.(type) {
			case int32:
				total = f(total, int64(x))
			case int64:
				total, long = f(total, x), true
			default:
				if bsonval.IsNullish(v) {
					return nil, nil
				}
				return nil, mongoerr.New(mongoerr.TypeMismatch, "%s only supports int and long operands.", name)
			}
		}
		if long {
			return total, nil
		}
		return int32(total), nil
	}
}

// bitNot is {$bitNot: number}.
func bitNot(v any) (any, error) {
	switch x := v.(type) {
	case int32:
		return ^x, nil
	case int64:
		return ^x, nil
	}
	return nil, mongoerr.New(mongoerr.TypeMismatch, "$bitNot only supports int and long, not: %s.", bsonval.TypeName(v))
}
