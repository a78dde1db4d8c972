package update

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

func parseInc(path string, arg any, _ *collation.Collator) (action, error) {
	if !bsonval.IsNumber(arg) {
		return action{}, mongoerr.New(mongoerr.TypeMismatch,
			"Cannot increment with non-numeric argument: {%s: %s}", path, show(arg))
	}
	return arithmetic("$inc", arg, arg, bsonval.Add), nil
}

func parseMul(path string, arg any, _ *collation.Collator) (action, error) {
	if !bsonval.IsNumber(arg) {
		return action{}, mongoerr.New(mongoerr.TypeMismatch,
			"Cannot multiply with non-numeric argument: {%s: %s}", path, show(arg))
	}
	zero, _ := bsonval.Mul(arg, int32(0))
	return arithmetic("$mul", arg, zero, bsonval.Mul), nil
}

func arithmetic(name string, arg, absent any, op func(a, b any) (any, bool)) action {
	return action{creates: true, apply: func(old any, s *state) (any, error) {
		switch {
		case bsonval.IsMissing(old):
			return absent, nil
		case !bsonval.IsNumber(old):
			return nil, mongoerr.New(mongoerr.TypeMismatch,
				"Cannot apply %s to a value of non-numeric type. %s has the field '%s' of non-numeric type %s",
				name, s.document(), s.path[len(s.path)-1].Name, bsonval.TypeName(old))
		}
		v, ok := op(old, arg)
		if !ok {
			return nil, mongoerr.New(mongoerr.BadValue, "Failed to apply %s operations to current value (%s) for document %s",
				name, numberType(old)+show(old), s.document())
		}
		return v, nil
	}}
}

func parseBit(path string, arg any, _ *collation.Collator) (action, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return action{}, mongoerr.New(mongoerr.BadValue,
			"The $bit modifier is not compatible with a %s. You must pass in an embedded document: {$bit: {field: {and/or/xor: #}}", bsonval.TypeName(arg))
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
				"The $bit modifier only supports 'and', 'or', and 'xor', not '%s' which is an unknown operator: {%s: %s}",
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
			old = int32(0)
		}
		if !isInteger(old) {
			return nil, mongoerr.New(mongoerr.BadValue,
				"Cannot apply $bit to a value of non-integral type.%s has the field %s of non-integer type %s",
				strings.Trim(s.document(), "{}"), s.path[len(s.path)-1].Name, bsonval.TypeName(old))
		}
		for _, f := range d {
			old = bitwise(f.Key, old, f.Value)
		}
		return old, nil
	}}, nil
}

func isInteger(v any) bool {
	switch v.(type) {
	case int32, int64:
		return true
	}
	return false
}

func bitwise(op string, a, b any) any {
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

// numberType is how MongoDB's messages begin a number that they describe.
func numberType(v any) string {
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
