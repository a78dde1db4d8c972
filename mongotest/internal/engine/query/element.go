package query

// This file has $type and $mod, which look at one value alone.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// typeTest is the predicate of $type: it passes for values of one of the types. An array passes by the type of an
// element, and by {$type: "array"} itself.
// https://www.mongodb.com/docs/manual/reference/operator/query/type/
type typeTest struct{ types []bson.Type }

func (t typeTest) test(v any, _ *int) bool {
	return slices.Contains(t.types, bsonval.Type(v)) && !bsonval.IsMissing(v)
}

func (typeTest) takesArrays() bool { return false }

func parseType(_ *parser, arg any, _ bson.D) (cond, error) {
	types, err := readTypes(arg)
	if err != nil {
		return nil, err
	}
	return leaf{typeTest{types}}, nil
}

// numberTypes are the types that the alias "number" stands for.
var numberTypes = []bson.Type{bson.TypeDouble, bson.TypeInt32, bson.TypeInt64, bson.TypeDecimal128}

// readTypes reads the argument of $type: an alias such as "int", a number such as 16, or an array of both.
func readTypes(arg any) ([]bson.Type, error) {
	a, ok := arg.(bson.A)
	if !ok {
		a = bson.A{arg}
	}
	if len(a) == 0 {
		return nil, mongoerr.New(mongoerr.FailedToParse, "$type must match at least one type")
	}
	var types []bson.Type
	for _, v := range a {
		if name, ok := v.(string); ok {
			t, known := bsonval.TypeByAlias(name)
			switch {
			case known:
				types = append(types, t)
			case name == "number":
				types = append(types, numberTypes...)
			default:
				return nil, mongoerr.New(mongoerr.BadValue, "Unknown type name alias: %s", name)
			}
			continue
		}
		if !bsonval.IsNumber(v) {
			return nil, mongoerr.New(mongoerr.TypeMismatch, "type must be represented as a number or a string")
		}
		// -1 is MinKey, 127 MaxKey.
		n, ok := bsonval.Int64(v)
		t := bson.Type(n)
		if !ok || (n != -1 && (n < 0 || n > 127)) || bsonval.TypeAlias(t) == "" {
			return nil, mongoerr.New(mongoerr.BadValue, "Invalid numerical type code: %v", v)
		}
		types = append(types, t)
	}
	return types, nil
}

// modulo is the predicate of {$mod: [divisor, remainder]}. It passes for numbers whose whole part leaves the remainder,
// which has the sign of the number: -5 with divisor 4 leaves -1.
// https://www.mongodb.com/docs/manual/reference/operator/query/mod/
type modulo struct{ divisor, remainder int64 }

func (m modulo) test(v any, _ *int) bool {
	n, ok := bsonval.TruncInt64(v)
	// The least long by -1 leaves 0 in Go, and doesn't overflow.
	return ok && n%m.divisor == m.remainder
}

func (modulo) takesArrays() bool { return false }

// parseMod parses $mod. Both numbers are truncated: {$mod: [4.9, 1]} is {$mod: [4, 1]}.
func parseMod(_ *parser, arg any, _ bson.D) (cond, error) {
	a, ok := arg.(bson.A)
	switch {
	case !ok:
		return nil, mongoerr.New(mongoerr.BadValue, "malformed mod, needs to be an array")
	case len(a) < 2:
		return nil, mongoerr.New(mongoerr.BadValue, "malformed mod, not enough elements")
	case len(a) > 2:
		return nil, mongoerr.New(mongoerr.BadValue, "malformed mod, too many elements")
	case !bsonval.IsNumber(a[0]):
		return nil, mongoerr.New(mongoerr.BadValue, "malformed mod, divisor not a number")
	case !bsonval.IsNumber(a[1]):
		return nil, mongoerr.New(mongoerr.BadValue, "malformed mod, remainder not a number")
	}
	divisor, ok := bsonval.TruncInt64(a[0])
	if !ok {
		return nil, mongoerr.New(mongoerr.BadValue, "malformed mod, divisor value is invalid")
	}
	remainder, ok := bsonval.TruncInt64(a[1])
	if !ok {
		return nil, mongoerr.New(mongoerr.BadValue, "malformed mod, remainder value is invalid")
	}
	if divisor == 0 {
		return nil, mongoerr.New(mongoerr.BadValue, "divisor cannot be 0")
	}
	return leaf{modulo{divisor, remainder}}, nil
}
