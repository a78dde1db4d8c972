// Package jsonschema matches documents with $jsonSchema: in filters, and as the validator of a collection.
//
// The manual's page on $jsonSchema decides what the keywords mean
// (https://www.mongodb.com/docs/manual/reference/operator/query/jsonSchema/). They are those of draft 4 of JSON Schema
// that MongoDB has, and bsonType. A keyword that MongoDB refuses is refused with its code: $ref, $schema, default,
// definitions, format and id as not supported, others as unknown. Those of encryption are not implemented.
package jsonschema

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Schema is a parsed schema. It is immutable and safe for concurrent use.
type Schema struct{ rules []rule }

// rule passes for values that fulfill a keyword, and for those that it says nothing about.
type rule func(v any) bool

// Match reports whether a document or a value conforms.
func (s *Schema) Match(v any) bool {
	for _, r := range s.rules {
		if !r(v) {
			return false
		}
	}
	return true
}

// keywords is filled in by init, since its entries parse schemas themselves. Each is handed its argument and the schema
// that it stands in. It returns nil for a keyword that another one sees to.
var keywords map[string]func(arg any, all bson.D) (rule, error)

func init() {
	keywords = map[string]func(arg any, all bson.D) (rule, error){
		"bsonType": parseBSONType, "type": parseJSONType, "enum": parseEnum,
		"title": parseText("title"), "description": parseText("description"),
		"minimum": parseMinimum, "maximum": parseMaximum, "multipleOf": parseMultipleOf,
		"exclusiveMinimum": parseExclusive("exclusiveMinimum", "minimum"),
		"exclusiveMaximum": parseExclusive("exclusiveMaximum", "maximum"),
		"minLength":        parseLength("minLength"), "maxLength": parseLength("maxLength"), "pattern": parsePattern,
		"items": parseItems, "additionalItems": parseAdditionalItems, "uniqueItems": parseUniqueItems,
		"minItems": parseLength("minItems"), "maxItems": parseLength("maxItems"),
		"properties": parseProperties, "patternProperties": parsePatternProperties,
		"additionalProperties": parseAdditionalProperties, "required": parseRequired, "dependencies": parseDependencies,
		"minProperties": parseLength("minProperties"), "maxProperties": parseLength("maxProperties"),
		"allOf": parseList("allOf"), "anyOf": parseList("anyOf"), "oneOf": parseList("oneOf"), "not": parseNot,
	}
}

// Keywords returns the keywords that are there, sorted.
func Keywords() []string { return slices.Sorted(maps.Keys(keywords)) }

var (
	unsupported = []string{"$ref", "$schema", "default", "definitions", "format", "id"}
	absent      = []string{"encrypt", "encryptMetadata"}
)

// Parse parses a schema. The empty one conforms to everything.
func Parse(d bson.D) (*Schema, error) {
	s := &Schema{}
	for i, e := range d {
		parse, ok := keywords[e.Key]
		switch {
		case ok:
		case slices.Contains(unsupported, e.Key):
			return nil, mongoerr.New(mongoerr.FailedToParse, "$jsonSchema keyword '%s' is not currently supported", e.Key)
		case slices.Contains(absent, e.Key):
			return nil, mongoerr.New(mongoerr.NotImplemented,
				"$jsonSchema keyword '%s' isn't implemented by the embedded engine", e.Key)
		default:
			return nil, mongoerr.New(mongoerr.FailedToParse, "Unknown $jsonSchema keyword: %s", e.Key)
		}
		if bsonval.Index(d, e.Key) != i {
			return nil, mongoerr.New(mongoerr.FailedToParse, "Duplicate $jsonSchema keyword: %s", e.Key)
		}
		r, err := parse(e.Value, d)
		if err != nil {
			return nil, err
		}
		if r != nil {
			s.rules = append(s.rules, r)
		}
	}
	return s, nil
}

// nested parses a schema within a keyword.
func nested(keyword string, arg any) (*Schema, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, wrongType(keyword, "an object")
	}
	return Parse(d)
}

func wrongType(keyword, want string) error {
	return mongoerr.New(mongoerr.TypeMismatch, "$jsonSchema keyword '%s' must be %s", keyword, want)
}

func failed(keyword, format string, args ...any) error {
	return mongoerr.New(mongoerr.FailedToParse, format, args...).Prefix("$jsonSchema keyword '%s' ", keyword)
}

// texts reads a list of names: not empty, none twice.
func texts(keyword string, arg any) ([]string, error) {
	a, ok := arg.(bson.A)
	if !ok {
		return nil, wrongType(keyword, "an array")
	}
	if len(a) == 0 {
		return nil, failed(keyword, "cannot be an empty array")
	}
	out := make([]string, 0, len(a))
	for _, v := range a {
		s, ok := v.(string)
		switch {
		case !ok:
			return nil, wrongType(keyword, "an array of strings")
		case slices.Contains(out, s):
			return nil, failed(keyword, "array cannot contain duplicate values")
		}
		out = append(out, s)
	}
	return out, nil
}

func parseText(keyword string) func(any, bson.D) (rule, error) {
	return func(arg any, _ bson.D) (rule, error) {
		if _, ok := arg.(string); !ok {
			return nil, wrongType(keyword, "a string")
		}
		return nil, nil
	}
}

func parseList(keyword string) func(any, bson.D) (rule, error) {
	return func(arg any, _ bson.D) (rule, error) {
		a, ok := arg.(bson.A)
		switch {
		case !ok:
			return nil, wrongType(keyword, "an array")
		case len(a) == 0:
			return nil, mongoerr.New(mongoerr.BadValue, "$jsonSchema keyword '%s' must be a non-empty array", keyword)
		}
		list := make([]*Schema, len(a))
		for i, v := range a {
			d, ok := v.(bson.D)
			if !ok {
				return nil, wrongType(keyword, "an array of objects")
			}
			var err error
			if list[i], err = Parse(d); err != nil {
				return nil, err
			}
		}
		return func(v any) bool {
			n := 0
			for _, s := range list {
				if s.Match(v) {
					n++
				}
			}
			return keyword == "allOf" && n == len(list) || keyword == "anyOf" && n > 0 || keyword == "oneOf" && n == 1
		}, nil
	}
}

func parseNot(arg any, _ bson.D) (rule, error) {
	s, err := nested("not", arg)
	if err != nil {
		return nil, err
	}
	return func(v any) bool { return !s.Match(v) }, nil
}
