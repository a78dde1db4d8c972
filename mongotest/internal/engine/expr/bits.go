package expr

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// bitwise are of the bits of ints and longs.
var bitwise = table{
	"$bitAnd": callToNull(0, -1, combineBits("$bitAnd", -1, func(a, b int64) int64 { return a & b })),
	"$bitOr":  callToNull(0, -1, combineBits("$bitOr", 0, func(a, b int64) int64 { return a | b })),
	"$bitXor": callToNull(0, -1, combineBits("$bitXor", 0, func(a, b int64) int64 { return a ^ b })),
	"$bitNot": call(1, 1, takeNumber("$bitNot", bitNot)),
}

// combineBits combines all arguments, the result of none being start; it is a long if one of them is.
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

func bitNot(v any) (any, error) {
	switch x := v.(type) {
	case int32:
		return ^x, nil
	case int64:
		return ^x, nil
	}
	return nil, mongoerr.New(mongoerr.TypeMismatch, "$bitNot only supports int and long, not: %s.", bsonval.TypeName(v))
}
