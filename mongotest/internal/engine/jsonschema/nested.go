package jsonschema

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pcre"
)

func parseItems(arg any, _ bson.D) (rule, error) {
	list, isList := arg.(bson.A)
	if !isList {
		if _, ok := arg.(bson.D); !ok {
			return nil, wrongType("items", "an array or an object")
		}
		s, err := nested("items", arg)
		if err != nil {
			return nil, err
		}
		return func(v any) bool { return eachFrom(v, 0, s.Match) }, nil
	}
	schemas := make([]*Schema, len(list))
	for i, x := range list {
		d, ok := x.(bson.D)
		if !ok {
			return nil, mongoerr.New(mongoerr.TypeMismatch,
				"$jsonSchema keyword 'items' requires that each element of the array is an object")
		}
		var err error
		if schemas[i], err = Parse(d); err != nil {
			return nil, err
		}
	}
	return func(v any) bool {
		a, _ := v.(bson.A)
		for i, s := range schemas {
			if i < len(a) && !s.Match(a[i]) {
				return false
			}
		}
		return true
	}, nil
}

// eachFrom reports whether all elements of an array from a position on pass.
func eachFrom(v any, from int, pass func(any) bool) bool {
	a, _ := v.(bson.A)
	for i := from; i < len(a); i++ {
		if !pass(a[i]) {
			return false
		}
	}
	return true
}

// parseAdditionalItems says something only beside a list of items.
func parseAdditionalItems(arg any, all bson.D) (rule, error) {
	pass, err := boolOrSchema("additionalItems", arg)
	if err != nil {
		return nil, err
	}
	items, _ := bsonval.Get(all, "items")
	list, ok := items.(bson.A)
	if !ok {
		return nil, nil
	}
	return func(v any) bool { return eachFrom(v, len(list), pass) }, nil
}

// boolOrSchema is what passes for all values, for none, or for those that a schema lets through.
func boolOrSchema(keyword string, arg any) (func(any) bool, error) {
	switch arg := arg.(type) {
	case bool:
		return func(any) bool { return arg }, nil
	case bson.D:
		s, err := Parse(arg)
		if err != nil {
			return nil, err
		}
		return s.Match, nil
	}
	return nil, wrongType(keyword, "either an object or a boolean")
}

func parseUniqueItems(arg any, _ bson.D) (rule, error) {
	on, ok := arg.(bool)
	switch {
	case !ok:
		return nil, wrongType("uniqueItems", "a boolean")
	case !on:
		return nil, nil
	}
	return func(v any) bool {
		a, _ := v.(bson.A)
		seen := make(set, len(a))
		for _, x := range a {
			if !seen.add(x) {
				return false
			}
		}
		return true
	}, nil
}

// property is the schema of the fields of one name, or of those that a pattern matches.
type property struct {
	name    string
	pattern pcre.Regexp // nil for one name
	schema  *Schema
}

func (p property) is(name string) bool {
	if p.pattern != nil {
		ok, _ := p.pattern.MatchString(name) // as in parsePattern
		return ok
	}
	return p.name == name
}

func readProperties(keyword string, arg any) ([]property, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, wrongType(keyword, "an object")
	}
	out := make([]property, len(d))
	for i, e := range d {
		inner, ok := e.Value.(bson.D)
		if !ok {
			return nil, mongoerr.New(mongoerr.TypeMismatch,
				"Nested schema for $jsonSchema property '%s' must be an object", e.Key)
		}
		s, err := Parse(inner)
		if err != nil {
			return nil, err
		}
		out[i] = property{name: e.Key, schema: s}
		if keyword == "patternProperties" {
			if out[i].pattern, err = pcre.Compile(e.Key, ""); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func parseProperties(arg any, _ bson.D) (rule, error) { return parseNamed("properties", arg) }

func parsePatternProperties(arg any, _ bson.D) (rule, error) {
	return parseNamed("patternProperties", arg)
}

// parseNamed looks at the first field of a name, and at all whose names a pattern matches, as MongoDB does.
func parseNamed(keyword string, arg any) (rule, error) {
	list, err := readProperties(keyword, arg)
	if err != nil {
		return nil, err
	}
	return func(v any) bool {
		d, _ := v.(bson.D)
		for i, e := range d {
			for _, p := range list {
				if p.is(e.Key) && !p.schema.Match(e.Value) && (p.pattern != nil || bsonval.Index(d, e.Key) == i) {
					return false
				}
			}
		}
		return true
	}, nil
}

// parseAdditionalProperties is about the fields that neither properties nor patternProperties name.
func parseAdditionalProperties(arg any, all bson.D) (rule, error) {
	pass, err := boolOrSchema("additionalProperties", arg)
	if err != nil {
		return nil, err
	}
	known, err := knownProperties(all)
	if err != nil {
		return nil, err
	}
	return func(v any) bool {
		d, _ := v.(bson.D)
		for _, e := range d {
			named := false
			for _, p := range known {
				named = named || p.is(e.Key)
			}
			if !named && !pass(e.Value) {
				return false
			}
		}
		return true
	}, nil
}

// knownProperties are those that properties and patternProperties name.
func knownProperties(all bson.D) (known []property, err error) {
	for _, keyword := range []string{"properties", "patternProperties"} {
		v, ok := bsonval.Get(all, keyword)
		if !ok {
			continue
		}
		list, err := readProperties(keyword, v)
		if err != nil {
			return nil, err
		}
		known = append(known, list...)
	}
	return known, nil
}

func parseRequired(arg any, _ bson.D) (rule, error) {
	names, err := texts("required", arg)
	if err != nil {
		return nil, err
	}
	return func(v any) bool { return hasAll(v, names) }, nil
}

// hasAll passes for what is no document too.
func hasAll(v any, names []string) bool {
	d, ok := v.(bson.D)
	for _, name := range names {
		if ok && bsonval.Index(d, name) < 0 {
			return false
		}
	}
	return true
}

func parseDependencies(arg any, _ bson.D) (rule, error) {
	list, ok := arg.(bson.D)
	if !ok {
		return nil, wrongType("dependencies", "an object")
	}
	rules := make([]rule, len(list))
	for i, e := range list {
		switch x := e.Value.(type) {
		case bson.D:
			s, err := Parse(x)
			if err != nil {
				return nil, err
			}
			rules[i] = s.Match
		case bson.A:
			names, err := texts("dependencies", x)
			if err != nil {
				return nil, err
			}
			rules[i] = func(v any) bool { return hasAll(v, names) }
		default:
			return nil, mongoerr.New(mongoerr.TypeMismatch,
				"$jsonSchema keyword 'dependencies' requires that each dependency is either an array or an object")
		}
	}
	return func(v any) bool {
		d, _ := v.(bson.D)
		for i, e := range list {
			if bsonval.Index(d, e.Key) >= 0 && !rules[i](v) {
				return false
			}
		}
		return true
	}, nil
}
