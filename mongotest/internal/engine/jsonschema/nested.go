package jsonschema

// This file has the keywords about arrays and documents, whose arguments are schemas themselves.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pcre"
)

// parseItems reads one schema for all elements, or a list of schemas for the elements at the same positions.
func parseItems(arg any, _ bson.D) (rule, error) {
	list, isList := arg.(bson.A)
	if !isList {
		if _, ok := arg.(bson.D); !ok {
			return nil, failType("items", "an array or an object")
		}
		s, err := parseNested("items", arg)
		if err != nil {
			return nil, err
		}
		return func(v any) bool { return checkItems(v, 0, s.Match) }, nil
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
		// A shorter array passes, and what is behind the list is the matter of additionalItems.
		a, _ := v.(bson.A)
		for i, s := range schemas {
			if i < len(a) && !s.Match(a[i]) {
				return false
			}
		}
		return true
	}, nil
}

// checkItems reports whether all elements of an array from a position on pass. What is no array passes.
func checkItems(v any, from int, pass func(any) bool) bool {
	a, _ := v.(bson.A)
	for i := from; i < len(a); i++ {
		if !pass(a[i]) {
			return false
		}
	}
	return true
}

// parseAdditionalItems reads what the elements behind those of a list of items must be. It says something only beside
// such a list.
func parseAdditionalItems(arg any, all bson.D) (rule, error) {
	pass, err := parseBoolOrSchema("additionalItems", arg)
	if err != nil {
		return nil, err
	}
	items, _ := bsonval.Get(all, "items")
	list, ok := items.(bson.A)
	if !ok {
		return nil, nil
	}
	return func(v any) bool { return checkItems(v, len(list), pass) }, nil
}

// parseBoolOrSchema reads what passes for all values, for none, or for those that a schema lets through.
func parseBoolOrSchema(keyword string, arg any) (func(any) bool, error) {
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
	return nil, failType(keyword, "either an object or a boolean")
}

// parseUniqueItems reads uniqueItems: true refuses arrays with two equal elements, false says nothing.
func parseUniqueItems(arg any, _ bson.D) (rule, error) {
	on, ok := arg.(bool)
	switch {
	case !ok:
		return nil, failType("uniqueItems", "a boolean")
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

// property is the schema of the fields of one name, or of those that a pattern matches. Both keywords share it
// because a field that either of them names isn't additional.
type property struct {
	name    string
	pattern pcre.Regexp // nil for one name
	schema  *Schema
}

// matchesName reports whether the property is about fields of that name. A pattern that takes too long matches
// nothing.
func (p property) matchesName(name string) bool {
	if p.pattern != nil {
		ok, _ := p.pattern.MatchString(name) // as in parsePattern
		return ok
	}
	return p.name == name
}

// readProperties reads the argument of properties or patternProperties: a schema for each name or pattern.
func readProperties(keyword string, arg any) ([]property, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, failType(keyword, "an object")
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

// parseProperties reads the schemas of fields by their names.
func parseProperties(arg any, _ bson.D) (rule, error) { return parseNamed("properties", arg) }

// parsePatternProperties reads the schemas of fields by patterns that their names match.
func parsePatternProperties(arg any, _ bson.D) (rule, error) {
	return parseNamed("patternProperties", arg)
}

// parseNamed looks at the first field of a name, and at all whose names a pattern matches, as MongoDB does. A
// document may hold two fields of one name, although drivers don't make such documents.
func parseNamed(keyword string, arg any) (rule, error) {
	list, err := readProperties(keyword, arg)
	if err != nil {
		return nil, err
	}
	return func(v any) bool {
		d, _ := v.(bson.D)
		for i, e := range d {
			for _, p := range list {
				if p.matchesName(e.Key) && !p.schema.Match(e.Value) &&
					(p.pattern != nil || bsonval.Index(d, e.Key) == i) {
					return false
				}
			}
		}
		return true
	}, nil
}

// parseAdditionalProperties is about the fields that neither properties nor patternProperties name. It therefore
// parses those two once more.
func parseAdditionalProperties(arg any, all bson.D) (rule, error) {
	pass, err := parseBoolOrSchema("additionalProperties", arg)
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
				named = named || p.matchesName(e.Key)
			}
			if !named && !pass(e.Value) {
				return false
			}
		}
		return true
	}, nil
}

// knownProperties returns what properties and patternProperties name: the fields that aren't additional.
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

// parseRequired reads the names of fields that a document must have.
func parseRequired(arg any, _ bson.D) (rule, error) {
	names, err := readNames("required", arg)
	if err != nil {
		return nil, err
	}
	return func(v any) bool { return hasAll(v, names) }, nil
}

// hasAll reports whether a document has all of the fields. What is no document passes.
func hasAll(v any, names []string) bool {
	d, ok := v.(bson.D)
	for _, name := range names {
		if ok && bsonval.Index(d, name) < 0 {
			return false
		}
	}
	return true
}

// parseDependencies reads, for a field's name, what must be true of documents that have the field: a schema, or a
// list of other fields.
func parseDependencies(arg any, _ bson.D) (rule, error) {
	list, ok := arg.(bson.D)
	if !ok {
		return nil, failType("dependencies", "an object")
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
			names, err := readNames("dependencies", x)
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
		// The rule is asked about the whole document, not about the field that it depends on.
		for i, e := range list {
			if bsonval.Index(d, e.Key) >= 0 && !rules[i](v) {
				return false
			}
		}
		return true
	}, nil
}
