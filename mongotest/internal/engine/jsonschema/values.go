package jsonschema

// This file has the keywords about types, equality, numbers and lengths.

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pcre"
)

// numberTypes are what the name "number" stands for.
var numberTypes = []bson.Type{bson.TypeDouble, bson.TypeInt32, bson.TypeInt64, bson.TypeDecimal128}

// jsonTypes are the types of JSON that the keyword type knows. An object id or a date has none of them.
var jsonTypes = map[string][]bson.Type{
	"object": {bson.TypeEmbeddedDocument}, "array": {bson.TypeArray}, "string": {bson.TypeString},
	"boolean": {bson.TypeBoolean}, "null": {bson.TypeNull}, "number": numberTypes,
}

// parseBSONType reads MongoDB's own names of types. It is refused beside type.
func parseBSONType(arg any, all bson.D) (rule, error) {
	if _, both := bsonval.Get(all, "type"); both {
		return nil, mongoerr.New(mongoerr.FailedToParse,
			"Cannot specify both $jsonSchema keywords 'type' and 'bsonType'")
	}
	findTypes := func(name string) ([]bson.Type, error) {
		if name == "number" {
			return numberTypes, nil
		}
		if t, ok := bsonval.TypeByAlias(name); ok {
			return []bson.Type{t}, nil
		}
		return nil, mongoerr.New(mongoerr.BadValue, "Unknown type name alias: %s", name)
	}
	return parseTypes("bsonType", arg, findTypes)
}

// parseJSONType reads JSON's names of types. MongoDB refuses "integer", for which BSON has two types.
func parseJSONType(arg any, _ bson.D) (rule, error) {
	findTypes := func(name string) ([]bson.Type, error) {
		if name == "integer" {
			return nil, mongoerr.New(mongoerr.FailedToParse, "$jsonSchema type 'integer' is not currently supported.")
		}
		if types, ok := jsonTypes[name]; ok {
			return types, nil
		}
		return nil, mongoerr.New(mongoerr.BadValue, "Unknown type name alias: %s", name)
	}
	return parseTypes("type", arg, findTypes)
}

// parseTypes reads one name or a list of names, and passes for values of any of these types.
func parseTypes(keyword string, arg any, named func(string) ([]bson.Type, error)) (rule, error) {
	names := []string{""}
	var isText bool
	if names[0], isText = arg.(string); !isText {
		if _, isList := arg.(bson.A); !isList {
			return nil, failType(keyword, "either a string or an array of strings")
		}
		var err error
		if names, err = readNames(keyword, arg); err != nil {
			return nil, err
		}
	}
	var types []bson.Type
	for _, name := range names {
		list, err := named(name)
		if err != nil {
			return nil, err
		}
		types = append(types, list...)
	}
	return func(v any) bool { return slices.Contains(types, bsonval.Type(v)) }, nil
}

// parseEnum compares as MongoDB does: numbers by value, and documents whatever the order of their fields. Two equal
// values in the list are an error.
func parseEnum(arg any, _ bson.D) (rule, error) {
	a, ok := arg.(bson.A)
	switch {
	case !ok:
		return nil, failType("enum", "an array")
	case len(a) == 0:
		return nil, failParsing("enum", "cannot be an empty array")
	}
	known := set{}
	for _, v := range a {
		if !known.add(v) {
			return nil, failParsing("enum", "array cannot contain duplicate values")
		}
	}
	return func(v any) bool { return known[makeKey(v)] }, nil
}

// set is a set of values by their keys.
type set map[string]bool

// add adds a value, and reports whether it is new.
func (s set) add(v any) bool {
	k := makeKey(v)
	known := s[k]
	s[k] = true
	return !known
}

// makeKey returns bytes that are equal for equal values.
func makeKey(v any) string { return string(bsonval.AppendKey(nil, sortFields(v))) }

// sortFields returns a value with the fields of its documents in order, at any depth.
func sortFields(v any) any {
	switch v := v.(type) {
	case bson.D:
		out := make(bson.D, len(v))
		for i, e := range v {
			out[i] = bson.E{Key: e.Key, Value: sortFields(e.Value)}
		}
		slices.SortStableFunc(out, func(a, b bson.E) int { return strings.Compare(a.Key, b.Key) })
		return out
	case bson.A:
		out := make(bson.A, len(v))
		for i, x := range v {
			out[i] = sortFields(x)
		}
		return out
	}
	return v
}

// parseMinimum reads a bound that a number must not be below.
func parseMinimum(arg any, all bson.D) (rule, error) {
	return parseBound("minimum", "exclusiveMinimum", arg, all, func(c int, exclusive bool) bool {
		return c > 0 || c == 0 && !exclusive
	})
}

// parseMaximum reads a bound that a number must not be above.
func parseMaximum(arg any, all bson.D) (rule, error) {
	return parseBound("maximum", "exclusiveMaximum", arg, all, func(c int, exclusive bool) bool {
		return c < 0 || c == 0 && !exclusive
	})
}

// parseBound reads a bound, and whether it is exclusive from the keyword beside it. NaN fulfills a bound only if the
// bound is NaN too, and isn't exclusive.
func parseBound(keyword, exclusively string, arg any, all bson.D, pass func(c int, exclusive bool) bool) (rule, error) {
	if !bsonval.IsNumber(arg) {
		return nil, failType(keyword, "a number")
	}
	v, _ := bsonval.Get(all, exclusively)
	exclusive, _ := v.(bool)
	return func(v any) bool {
		if !bsonval.IsNumber(v) {
			return true
		}
		if bsonval.IsNaN(v) || bsonval.IsNaN(arg) {
			return bsonval.IsNaN(v) && bsonval.IsNaN(arg) && !exclusive
		}
		return pass(bsonval.Compare(v, arg), exclusive)
	}, nil
}

// parseExclusive checks that the bound is there which the keyword makes exclusive. parseBound does the rest.
func parseExclusive(keyword, of string) func(any, bson.D) (rule, error) {
	return func(arg any, all bson.D) (rule, error) {
		if _, ok := arg.(bool); !ok {
			return nil, failType(keyword, "a boolean")
		}
		if _, ok := bsonval.Get(all, of); !ok {
			return nil, mongoerr.New(mongoerr.FailedToParse,
				"$jsonSchema keyword '%s' must be a present if %s is present", of, keyword)
		}
		return nil, nil
	}
}

// parseMultipleOf divides as decimals, since 0.3 isn't a multiple of 0.1 for doubles.
func parseMultipleOf(arg any, _ bson.D) (rule, error) {
	switch {
	case !bsonval.IsNumber(arg):
		return nil, failType("multipleOf", "a number")
	case bsonval.IsNaN(arg), bsonval.Compare(arg, int32(0)) <= 0:
		return nil, failParsing("multipleOf", "must have a positive value")
	}
	// Parsed once: the rule is asked about every document.
	divisor, _ := bsonval.Decimal(arg)
	return func(v any) bool {
		if !bsonval.IsNumber(v) {
			return true
		}
		dividend, _ := bsonval.Decimal(v)
		return bsonval.Compare(bsonval.Mod(dividend, divisor), int32(0)) == 0
	}, nil
}

// parsePattern reads a regular expression, which may match anywhere in a string.
func parsePattern(arg any, _ bson.D) (rule, error) {
	s, ok := arg.(string)
	if !ok {
		return nil, failType("pattern", "a string")
	}
	re, err := pcre.Compile(s, "")
	if err != nil {
		return nil, err
	}
	return func(v any) bool {
		s, ok := v.(string)
		if ok {
			ok, _ = re.MatchString(s) // one that takes too long matches nothing, as on a server
			return ok
		}
		return true
	}, nil
}

// parseLength parses the keywords that bound a length: of strings in code points, of arrays and of documents. Whether
// the keyword is a minimum, and of what, its name tells.
func parseLength(keyword string) func(any, bson.D) (rule, error) {
	of := func(v any) (int, bool) { return 0, false }
	switch strings.TrimLeft(keyword, "minax") {
	case "Length":
		of = func(v any) (int, bool) { s, ok := v.(string); return utf8.RuneCountInString(s), ok }
	case "Items":
		of = func(v any) (int, bool) { a, ok := v.(bson.A); return len(a), ok }
	case "Properties":
		of = func(v any) (int, bool) { d, ok := v.(bson.D); return len(d), ok }
	}
	// A double is taken if it is whole, as an integer of any type is.
	least := strings.HasPrefix(keyword, "min")
	return func(arg any, _ bson.D) (rule, error) {
		n, ok := bsonval.Int64(arg)
		switch {
		case !ok:
			return nil, mongoerr.New(mongoerr.FailedToParse, "Expected an integer in: %s: %v", keyword, arg)
		case n < 0:
			return nil, mongoerr.New(mongoerr.FailedToParse, "Expected a non-negative number in: %s: %d", keyword, n)
		}
		return func(v any) bool {
			length, ok := of(v)
			return !ok || least && int64(length) >= n || !least && int64(length) <= n
		}, nil
	}
}
