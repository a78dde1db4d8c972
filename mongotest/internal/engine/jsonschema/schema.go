// Package jsonschema matches documents with $jsonSchema: in filters, and as the validator of a collection.
//
// The manual's page on $jsonSchema decides what the keywords mean
// (https://www.mongodb.com/docs/manual/reference/operator/query/jsonSchema/). They are those of draft 4 of JSON
// Schema that MongoDB has, and bsonType. A keyword that MongoDB refuses is refused with its code: $ref, $schema,
// default, definitions, format and id as not supported, others as unknown. Those of encryption are not implemented.
//
// A schema, a document that doesn't conform, and what [Explain] says:
//
//	{required: ["a"], properties: {a: {bsonType: "int"}}}
//	{_id: 1, a: "x"}
//	{operatorName: "$jsonSchema", schemaRulesNotSatisfied: [
//	  {operatorName: "properties", propertiesNotSatisfied: [{propertyName: "a", details: [
//	    {operatorName: "bsonType", specifiedAs: {bsonType: "int"}, reason: "type did not match",
//	     consideredValue: "x", consideredType: "string"}]}]}]}
//
// The steps:
//
//  1. [Parse] goes through the keywords of a schema. The table keywords has a function for each, which checks the
//     argument and returns a rule (schema.go, values.go for scalars, nested.go for arrays and documents).
//  2. [Schema.Match] asks the rules one by one.
//  3. When a document is refused, [Explain] parses each keyword anew, and explains those that aren't fulfilled
//     (explain.go, explain_object.go).
//
// Invariants:
//
//   - A rule passes for values of other types than it is about: {minimum: 5} lets strings through, as in JSON
//     Schema.
//   - Numbers are equal by value, documents whatever the order of their fields, and strings byte by byte: a
//     collation has no effect.
//   - A keyword may depend on others beside it, such as minimum on exclusiveMinimum. Its function is therefore
//     handed the whole schema.
//   - [Explain] lists keywords in MongoDB's order, and words its reasons as MongoDB does, since clients show them.
//   - Explain takes only schemas that Parse takes.
//
// Package query calls Parse for filters, and the engine for validators, whose errors have Explain's document.
package jsonschema

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Schema is a parsed schema. It is immutable and safe for concurrent use. A value must pass all of its rules.
type Schema struct{ rules []rule }

// rule passes for values that fulfill a keyword, and for those that it says nothing about: values of other types.
type rule func(v any) bool

// Match reports whether a document or a value conforms. It stops at the first rule that isn't fulfilled: [Explain]
// finds all of them, if somebody wants to know.
func (s *Schema) Match(v any) bool {
	for _, r := range s.rules {
		if !r(v) {
			return false
		}
	}
	return true
}

// keywords is filled in by init, since its entries parse schemas themselves, and Go refuses a table that is
// initialized by itself. Each entry is handed its argument and the schema that it stands in. It returns nil for a
// keyword that another one sees to, or that says nothing about values.
var keywords map[string]func(arg any, all bson.D) (rule, error)

// init fills the table.
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

// Keywords returns the keywords that are there, sorted. A test compares them with those that are explained.
func Keywords() []string { return slices.Sorted(maps.Keys(keywords)) }

var (
	// unsupported are the keywords that MongoDB refuses, absent those that it has and the engine doesn't.
	unsupported = []string{"$ref", "$schema", "default", "definitions", "format", "id"}
	absent      = []string{"encrypt", "encryptMetadata"}
)

// Parse parses a schema. The empty one conforms to everything. Mistakes are found in the order of the keywords, so of
// two mistakes the first one is reported.
func Parse(d bson.D) (*Schema, error) {
	s := &Schema{}
	for i, e := range d {
		parse, ok := keywords[e.Key]
		switch {
		case ok:
		case slices.Contains(unsupported, e.Key):
			return nil, mongoerr.New(mongoerr.FailedToParse,
				"$jsonSchema keyword '%s' is not currently supported", e.Key)
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

// parseNested parses a schema within a keyword.
func parseNested(keyword string, arg any) (*Schema, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, failType(keyword, "an object")
	}
	return Parse(d)
}

// failType is the error of a keyword whose argument has the wrong type. MongoDB names the type that it wants.
func failType(keyword, want string) error {
	return mongoerr.New(mongoerr.TypeMismatch, "$jsonSchema keyword '%s' must be %s", keyword, want)
}

// failParsing is the error of a keyword whose argument has the right type and the wrong value.
func failParsing(keyword, format string, args ...any) error {
	return mongoerr.New(mongoerr.FailedToParse, format, args...).Prefix("$jsonSchema keyword '%s' ", keyword)
}

// readNames reads a list of names: not empty, none twice.
func readNames(keyword string, arg any) ([]string, error) {
	a, ok := arg.(bson.A)
	if !ok {
		return nil, failType(keyword, "an array")
	}
	if len(a) == 0 {
		return nil, failParsing(keyword, "cannot be an empty array")
	}
	out := make([]string, 0, len(a))
	for _, v := range a {
		s, ok := v.(string)
		switch {
		case !ok:
			return nil, failType(keyword, "an array of strings")
		case slices.Contains(out, s):
			return nil, failParsing(keyword, "array cannot contain duplicate values")
		}
		out = append(out, s)
	}
	return out, nil
}

// parseText reads title or description, which say nothing about values; [Explain] repeats them.
func parseText(keyword string) func(any, bson.D) (rule, error) {
	return func(arg any, _ bson.D) (rule, error) {
		if _, ok := arg.(string); !ok {
			return nil, failType(keyword, "a string")
		}
		return nil, nil
	}
}

// parseList reads a list of schemas, and passes if all, any or exactly one of them matches.
func parseList(keyword string) func(any, bson.D) (rule, error) {
	return func(arg any, _ bson.D) (rule, error) {
		a, ok := arg.(bson.A)
		switch {
		case !ok:
			return nil, failType(keyword, "an array")
		case len(a) == 0:
			return nil, mongoerr.New(mongoerr.BadValue, "$jsonSchema keyword '%s' must be a non-empty array", keyword)
		}
		list := make([]*Schema, len(a))
		for i, v := range a {
			d, ok := v.(bson.D)
			if !ok {
				return nil, failType(keyword, "an array of objects")
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

// parseNot reads a schema that a value must not match.
func parseNot(arg any, _ bson.D) (rule, error) {
	s, err := parseNested("not", arg)
	if err != nil {
		return nil, err
	}
	return func(v any) bool { return !s.Match(v) }, nil
}
