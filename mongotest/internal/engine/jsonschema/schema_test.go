package jsonschema_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/jsonschema"
)

var matchCases = []struct {
	reason, schema, doc string
	want                bool
}{
	{"nothing asked", "{}", "{a: 1}", true},
	{"texts say nothing", "{title: 'x', description: 'y'}", "{a: 1}", true},
	{"a document is an object", "{bsonType: 'object'}", "{}", true},
	{"and nothing else", "{bsonType: 'array'}", "{}", false},
	{"nor in JSON", "{type: 'number'}", "{}", false},
	{"numbers at the top say nothing", "{minimum: 3}", "{}", true},

	{"a type", "{properties: {a: {bsonType: 'int'}}}", "{a: 1}", true},
	{"an int is no long", "{properties: {a: {bsonType: 'long'}}}", "{a: 1}", false},
	{"a number is any", "{properties: {a: {bsonType: 'number'}}}", "{a: {$numberDecimal: '1'}}", true},
	{"several types", "{properties: {a: {bsonType: ['int', 'null']}}}", "{a: null}", true},
	{"missing isn't null, and passes", "{properties: {a: {bsonType: 'int'}}}", "{}", true},
	{"null is a value", "{properties: {a: {bsonType: 'int'}}}", "{a: null}", false},
	{"an array is no element of its own", "{properties: {a: {bsonType: 'int'}}}", "{a: [1]}", false},
	{"JSON's number", "{properties: {a: {type: 'number'}}}", "{a: 1.5}", true},
	{"JSON's boolean", "{properties: {a: {type: 'boolean'}}}", "{a: true}", true},
	{"a dot is part of a name", "{properties: {'a.b': {bsonType: 'int'}}}", "{a: {b: 'x'}}", true},

	{"enum", "{properties: {a: {enum: [1, 'x']}}}", "{a: 'x'}", true},
	{"enum, of numbers by value", "{properties: {a: {enum: [1]}}}", "{a: {$numberLong: '1'}}", true},
	{"enum, another", "{properties: {a: {enum: [1]}}}", "{a: 2}", false},
	{"enum doesn't look into arrays", "{properties: {a: {enum: [1]}}}", "{a: [1]}", false},
	{"enum, whatever the order of fields", "{properties: {a: {enum: [{x: 1, y: 2}]}}}", "{a: {y: 2, x: 1}}", true},
	{"enum at the top", "{enum: [{a: 1}]}", "{a: 1}", true},

	{"minimum", "{properties: {a: {minimum: 1}}}", "{a: 1}", true},
	{"exclusive minimum", "{properties: {a: {minimum: 1, exclusiveMinimum: true}}}", "{a: 1}", false},
	{"a minimum that isn't exclusive", "{properties: {a: {minimum: 1, exclusiveMinimum: false}}}", "{a: 1.0}", true},
	{"maximum", "{properties: {a: {maximum: 1}}}", "{a: 1.5}", false},
	{"exclusive maximum", "{properties: {a: {maximum: 1, exclusiveMaximum: true}}}", "{a: 1}", false},
	{"not a number has no order", "{properties: {a: {maximum: 1}}}", "{a: {$numberDouble: 'NaN'}}", false},
	{"texts have no minimum", "{properties: {a: {minimum: 1}}}", "{a: 'x'}", true},
	{"multiple", "{properties: {a: {multipleOf: 3}}}", "{a: 9}", true},
	{"no multiple", "{properties: {a: {multipleOf: 3}}}", "{a: 10.5}", false},
	{"multiple of a decimal fraction", "{properties: {a: {multipleOf: 0.1}}}", "{a: 0.3}", true},

	{"length counts characters", "{properties: {a: {maxLength: 2}}}", "{a: 'éé'}", true},
	{"too long", "{properties: {a: {maxLength: 2}}}", "{a: 'abc'}", false},
	{"too short", "{properties: {a: {minLength: 2}}}", "{a: 'a'}", false},
	{"numbers have no length", "{properties: {a: {minLength: 2}}}", "{a: 1}", true},
	{"pattern, anywhere", "{properties: {a: {pattern: 'b'}}}", "{a: 'abc'}", true},
	{"no pattern", "{properties: {a: {pattern: '^b'}}}", "{a: 'abc'}", false},
	{"a pattern that looks ahead", "{properties: {a: {pattern: '^(?!ab)'}}}", "{a: 'abc'}", false},
	{"a name by a pattern that looks ahead", "{patternProperties: {'^(?!_)': {bsonType: 'int'}}}", "{a: 'x'}", false},
	{"numbers have no pattern", "{properties: {a: {pattern: '^b'}}}", "{a: 1}", true},

	{"items", "{properties: {a: {items: {bsonType: 'int'}}}}", "{a: [1, 2]}", true},
	{"an item that isn't", "{properties: {a: {items: {bsonType: 'int'}}}}", "{a: [1, 'x']}", false},
	{"what is no array has no items", "{properties: {a: {items: {bsonType: 'int'}}}}", "{a: 'x'}", true},
	{
		reason: "items by position",
		schema: "{properties: {a: {items: [{bsonType: 'int'}, {bsonType: 'string'}]}}}",
		doc:    "{a: [1, 'x', null]}", want: true,
	},
	{
		reason: "items by position, too few",
		schema: "{properties: {a: {items: [{bsonType: 'int'}, {bsonType: 'string'}]}}}",
		doc:    "{a: [1]}", want: true,
	},
	{"no more items", "{properties: {a: {items: [{}], additionalItems: false}}}", "{a: [1, 2]}", false},
	{
		reason: "more items of a type",
		schema: "{properties: {a: {items: [{}], additionalItems: {bsonType: 'int'}}}}",
		doc:    "{a: ['x', 2]}", want: true,
	},
	{
		reason: "additionalItems beside one schema for all",
		schema: "{properties: {a: {items: {}, additionalItems: false}}}",
		doc:    "{a: [1, 2]}", want: true,
	},
	{"minItems", "{properties: {a: {minItems: 1}}}", "{a: []}", false},
	{"maxItems", "{properties: {a: {maxItems: 1}}}", "{a: [1, 2]}", false},
	{"unique", "{properties: {a: {uniqueItems: true}}}", "{a: [1, 2]}", true},
	{"twice, as another type", "{properties: {a: {uniqueItems: true}}}", "{a: [1, 1.0]}", false},
	{"twice, in another order", "{properties: {a: {uniqueItems: true}}}", "{a: [{x: 1, y: 2}, {y: 2, x: 1}]}", false},

	{"required", "{required: ['a', 'b']}", "{a: 1, b: null}", true},
	{"required, missing", "{required: ['a', 'b']}", "{a: 1}", false},
	{"required below", "{properties: {a: {required: ['b']}}}", "{a: {}}", false},
	{"required of a number", "{properties: {a: {required: ['b']}}}", "{a: 1}", true},
	{"nothing else, _id neither", "{properties: {a: {}}, additionalProperties: false}", "{_id: 1, a: 1}", false},
	{"nothing else", "{properties: {_id: {}, a: {}}, additionalProperties: false}", "{_id: 1, a: 1}", true},
	{
		reason: "others of a type",
		schema: "{properties: {_id: {}}, additionalProperties: {bsonType: 'int'}}",
		doc:    "{_id: 'x', b: 1, c: 'x'}", want: false,
	},
	{"names by pattern", "{patternProperties: {'^n_': {bsonType: 'int'}}}", "{n_a: 1, m: 'x'}", true},
	{"names by pattern, of another type", "{patternProperties: {'^n_': {bsonType: 'int'}}}", "{n_a: 'x'}", false},
	{
		reason: "a pattern names its properties",
		schema: "{patternProperties: {'^n_': {}}, additionalProperties: false}",
		doc:    "{n_a: 'x'}", want: true,
	},
	{"minProperties", "{minProperties: 2}", "{a: 1}", false},
	{"maxProperties", "{maxProperties: 1}", "{a: 1}", true},
	{"dependencies of names", "{dependencies: {a: ['b']}}", "{a: 1}", false},
	{"dependencies of what is missing", "{dependencies: {a: ['b']}}", "{c: 1}", true},
	{"dependencies of a schema", "{dependencies: {a: {properties: {b: {bsonType: 'int'}}}}}", "{a: 1, b: 'x'}", false},

	{"allOf", "{allOf: [{required: ['a']}, {required: ['b']}]}", "{a: 1}", false},
	{"anyOf", "{anyOf: [{required: ['a']}, {required: ['b']}]}", "{a: 1, b: 1}", true},
	{"oneOf", "{oneOf: [{required: ['a']}, {required: ['b']}]}", "{a: 1, b: 1}", false},
	{"not", "{not: {required: ['a']}}", "{a: 1}", false},
}

func TestMatch(t *testing.T) {
	seen := ""
	for _, c := range matchCases {
		s, err := jsonschema.Parse(valuetest.Doc(c.schema))
		if err != nil {
			t.Errorf("%s: %s: %v", c.reason, c.schema, err)
			continue
		}
		if got := s.Match(valuetest.Doc(c.doc)); got != c.want {
			t.Errorf("%s: %s on %s is %t", c.reason, c.schema, c.doc, got)
		}
		seen += c.schema
	}
	for _, k := range jsonschema.Keywords() {
		if !strings.Contains(seen, k+":") {
			t.Errorf("no case has %s", k)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		reason, schema string
		code           int32
	}{
		{"an unknown keyword", "{foo: 1}", mongoerr.FailedToParse},
		{"an unknown keyword below", "{properties: {a: {foo: 1}}}", mongoerr.FailedToParse},
		{"what MongoDB doesn't support", "{$ref: '#/a'}", mongoerr.FailedToParse},
		{"nor this", "{properties: {a: {format: 'date'}}}", mongoerr.FailedToParse},
		{"encryption", "{encryptMetadata: {}}", mongoerr.NotImplemented},
		{"type and bsonType", "{type: 'string', bsonType: 'string'}", mongoerr.FailedToParse},
		{"JSON's integer", "{type: 'integer'}", mongoerr.FailedToParse},
		{"an unknown type", "{bsonType: 'text'}", mongoerr.BadValue},
		{"an alias of BSON in type", "{type: 'int'}", mongoerr.BadValue},
		{"a type by number", "{bsonType: 2}", mongoerr.TypeMismatch},
		{"a type twice", "{bsonType: ['int', 'int']}", mongoerr.FailedToParse},
		{"no type", "{bsonType: []}", mongoerr.FailedToParse},
		{"enum of nothing", "{enum: []}", mongoerr.FailedToParse},
		{"enum with a duplicate", "{enum: [1, 1.0]}", mongoerr.FailedToParse},
		{"enum of no array", "{enum: 1}", mongoerr.TypeMismatch},
		{"minimum of a text", "{properties: {a: {minimum: 'x'}}}", mongoerr.TypeMismatch},
		{"exclusive alone", "{properties: {a: {exclusiveMaximum: true}}}", mongoerr.FailedToParse},
		{"exclusive of a number", "{properties: {a: {maximum: 1, exclusiveMaximum: 1}}}", mongoerr.TypeMismatch},
		{"multiple of nothing", "{properties: {a: {multipleOf: 0}}}", mongoerr.FailedToParse},
		{"multiple of a text", "{properties: {a: {multipleOf: 'x'}}}", mongoerr.TypeMismatch},
		{"a negative length", "{properties: {a: {maxLength: -1}}}", mongoerr.FailedToParse},
		{"a fraction of an item", "{properties: {a: {maxItems: 1.5}}}", mongoerr.FailedToParse},
		{"a pattern of a number", "{properties: {a: {pattern: 1}}}", mongoerr.TypeMismatch},
		{"recursion", "{properties: {a: {pattern: '(?R)'}}}", 51091},
		{"items of a number", "{items: 1}", mongoerr.TypeMismatch},
		{"items of a list of numbers", "{items: [1]}", mongoerr.TypeMismatch},
		{"additionalItems of a number", "{items: [{}], additionalItems: 1}", mongoerr.TypeMismatch},
		{"uniqueItems of a number", "{uniqueItems: 1}", mongoerr.TypeMismatch},
		{"properties of a number", "{properties: 1}", mongoerr.TypeMismatch},
		{"a property of a number", "{properties: {a: 1}}", mongoerr.TypeMismatch},
		{"additionalProperties of a number", "{additionalProperties: 1}", mongoerr.TypeMismatch},
		{"required of a text", "{required: 'a'}", mongoerr.TypeMismatch},
		{"required of nothing", "{required: []}", mongoerr.FailedToParse},
		{"required twice", "{required: ['a', 'a']}", mongoerr.FailedToParse},
		{"required of numbers", "{required: [1]}", mongoerr.TypeMismatch},
		{"dependencies of a number", "{dependencies: {a: 1}}", mongoerr.TypeMismatch},
		{"dependencies of an array", "{dependencies: []}", mongoerr.TypeMismatch},
		{"anyOf of nothing", "{anyOf: []}", mongoerr.BadValue},
		{"anyOf of a document", "{anyOf: {}}", mongoerr.TypeMismatch},
		{"anyOf of numbers", "{anyOf: [1]}", mongoerr.TypeMismatch},
		{"not of a number", "{not: 1}", mongoerr.TypeMismatch},
		{"a title of a number", "{title: 1}", mongoerr.TypeMismatch},
	} {
		if _, err := jsonschema.Parse(valuetest.Doc(c.schema)); mongoerr.CodeOf(err) != c.code {
			t.Errorf("%s: %s: %v, want code %d", c.reason, c.schema, err, c.code)
		}
	}
	if !slices.IsSorted(jsonschema.Keywords()) {
		t.Error("keywords aren't sorted")
	}
}
