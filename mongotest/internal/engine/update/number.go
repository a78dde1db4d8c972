package update

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// parseInc parses $inc. A missing field becomes the argument.
func parseInc(path string, arg any, _ *collation.Collator) (action, error) {
	if !bsonval.IsNumber(arg) {
		return action{}, mongoerr.New(mongoerr.TypeMismatch,
			"Cannot increment with non-numeric argument: {%s: %s}", path, show(arg))
	}
	return makeArithmetic("$inc", arg, arg, bsonval.Add), nil
}

// parseMul parses $mul. A missing field becomes 0, of the argument's type: {$mul: {n: 2.5}} makes n a double.
func parseMul(path string, arg any, _ *collation.Collator) (action, error) {
	if !bsonval.IsNumber(arg) {
		return action{}, mongoerr.New(mongoerr.TypeMismatch,
			"Cannot multiply with non-numeric argument: {%s: %s}", path, show(arg))
	}
	zero, _ := bsonval.Mul(arg, int32(0))
	return makeArithmetic("$mul", arg, zero, bsonval.Mul), nil
}

// makeArithmetic returns the action of $inc and $mul. absent is the new value of a missing field. op computes as a
// server does: the wider of both types, and int32 grows to int64. It reports false if int64 overflows.
func makeArithmetic(name string, arg, absent any, op func(a, b any) (any, bool)) action {
	return action{creates: true, apply: func(old any, s *state) (any, error) {
		switch {
		case bsonval.IsMissing(old):
			return absent, nil
		case !bsonval.IsNumber(old):
			return nil, mongoerr.New(mongoerr.TypeMismatch,
				"Cannot apply %s to a value of non-numeric type. %s has the field '%s' of non-numeric type %s",
				name, s.showDocument(), s.path[len(s.path)-1].Name, bsonval.TypeName(old))
		}
		// A NaN or an infinity is a result, an int64 that is too large an error.
		v, ok := op(old, arg)
		if !ok {
			return nil, mongoerr.New(mongoerr.BadValue,
				"Failed to apply %s operations to current value (%s) for document %s",
				name, nameNumberType(old)+show(old), s.showDocument())
		}
		return v, nil
	}}
}

// parseBit parses $bit, whose argument is such as {and: 5, or: 1}: the operations are done one after the other.
func parseBit(path string, arg any, _ *collation.Collator) (action, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return action{}, mongoerr.New(mongoerr.BadValue,
			"The $bit modifier is not compatible with a %s. You must pass in an embedded document: {$bit: {field: "+
				"{and/or/xor: #}}", bsonval.TypeName(arg))
	}
	if len(d) == 0 {
		return action{}, mongoerr.New(mongoerr.BadValue,
			"You must pass in at least one bitwise operation. The format is: {$bit: {field: {and/or/xor: #}}")
	}
	for _, f := range d {
		switch f.Key {
		case "and", "or", "xor":
		default:
			return action{}, mongoerr.New(mongoerr.BadValue,
				"The $bit modifier only supports 'and', 'or', and 'xor', not '%s' which is an unknown operator: "+
					"{%s: %s}",
				f.Key, f.Key, show(f.Value))
		}
		if !isInteger(f.Value) {
			return action{}, mongoerr.New(mongoerr.BadValue,
				"The $bit modifier field must be an Integer(32/64 bit); a '%s' is not supported here: {%s: %s}",
				bsonval.TypeName(f.Value), f.Key, show(f.Value))
		}
	}
	return action{creates: true, apply: func(old any, s *state) (any, error) {
		if bsonval.IsMissing(old) {
			old = int32(0) // as on a server, so that $bit can make a field
		}
		if !isInteger(old) {
			return nil, mongoerr.New(mongoerr.BadValue,
				"Cannot apply $bit to a value of non-integral type.%s has the field %s of non-integer type %s",
				strings.Trim(s.showDocument(), "{}"), s.path[len(s.path)-1].Name, bsonval.TypeName(old))
		}
		for _, f := range d {
			old = applyBits(f.Key, old, f.Value)
		}
		return old, nil
	}}, nil
}

// isInteger reports whether a value is an int32 or int64. A double without a fraction isn't enough for $bit.
func isInteger(v any) bool {
	switch v.(type) {
	case int32, int64:
		return true
	}
	return false
}

// applyBits combines the bits of two integers. The result is an int64 if one of them is.
func applyBits(op string, a, b any) any {
	x, _ := bsonval.Int64(a)
	y, _ := bsonval.Int64(b)
	switch op {
	case "and":
		x &= y
	case "or":
		x |= y
	default:
		x ^= y
	}
	if _, ok := a.(int32); ok {
		if _, ok := b.(int32); ok {
			return int32(x)
		}
	}
	return x
}

// nameNumberType is how MongoDB's messages begin a number that they describe.
func nameNumberType(v any) string {
	switch v.(type) {
	case int32:
		return "(NumberInt)"
	case int64:
		return "(NumberLong)"
	case float64:
		return "(NumberDouble)"
	}
	return "(NumberDecimal)"
}
