package jsonschema_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/mongotest/internal/engine/jsonschema"
)

// TestExplain has what is said of each keyword, of a property "a" if the schema begins with "a: ".
func TestExplain(t *testing.T) {
	for _, c := range []struct{ reason, schema, doc, want string }{
		{"type", "a: {bsonType: ['double', 'string']}", "{a: 1}",
			"[{operatorName: 'bsonType', specifiedAs: {bsonType: ['double', 'string']}, reason: 'type did not " +
				"match', consideredValue: 1, consideredType: 'int'}]"},
		{"a type is told after other keywords", "a: {type: 'string', enum: ['x']}", "{a: 1}",
			"[{operatorName: 'enum', specifiedAs: {enum: ['x']}, reason: 'value was not found in enum', " +
				"consideredValue: 1}, " +
				"{operatorName: 'type', specifiedAs: {type: 'string'}, reason: 'type did not match', " +
				"consideredValue: 1, consideredType: 'int'}]"},
		{"maximum comes before minimum", "a: {minimum: 10, exclusiveMinimum: true, maximum: -10}", "{a: 10}",
			"[{operatorName: 'maximum', specifiedAs: {maximum: -10}, reason: 'comparison failed', " +
				"consideredValue: 10}, " +
				"{operatorName: 'minimum', specifiedAs: {minimum: 10, exclusiveMinimum: true}, reason: " +
				"'comparison failed', consideredValue: 10}]"},
		{"lengths", "a: {minLength: 4}", "{a: 'foo'}",
			"[{operatorName: 'minLength', specifiedAs: {minLength: 4}, reason: 'specified string length was not " +
				"satisfied', consideredValue: 'foo'}]"},
		{"pattern", "a: {pattern: '^S'}", "{a: 'slow'}",
			"[{operatorName: 'pattern', specifiedAs: {pattern: '^S'}, reason: 'regular expression did not match', " +
				"consideredValue: 'slow'}]"},
		{"multipleOf", "a: {multipleOf: 2}", "{a: 3}",
			"[{operatorName: 'multipleOf', specifiedAs: {multipleOf: 2}, reason: 'considered value is not a " +
				"multiple of the specified value', consideredValue: 3}]"},
		{"items' number", "a: {minItems: 2}", "{a: [1]}",
			"[{operatorName: 'minItems', specifiedAs: {minItems: 2}, reason: 'array did not match specified " +
				"length', consideredValue: [1], numberOfItems: 1}]"},
		{"uniqueItems", "a: {uniqueItems: true}", "{a: [1, 3, 3, 1]}",
			"[{operatorName: 'uniqueItems', specifiedAs: {uniqueItems: true}, reason: 'found a duplicate item', " +
				"consideredValue: [1, 3, 3, 1], duplicatedValue: 3}]"},
		{"items", "a: {items: {bsonType: 'int', description: 'd'}}", "{a: [1, 'x', 'y']}",
			"[{operatorName: 'items', description: 'd', reason: 'At least one item did not match the sub-schema', " +
				"itemIndex: 1, details: [" +
				"{operatorName: 'bsonType', specifiedAs: {bsonType: 'int'}, reason: 'type did not match', " +
				"consideredValue: 'x', consideredType: 'string'}]}]"},
		{
			reason: "items by position",
			schema: "a: {items: [{type: 'number'}, {type: 'string'}], additionalItems: {type: 'object'}}",
			doc:    "{a: [1, 2, {}, 3]}",

			want: "[{operatorName: 'items', details: [{itemIndex: 1, details: [" +
				"{operatorName: 'type', specifiedAs: {type: 'string'}, reason: 'type did not match', " +
				"consideredValue: 2, consideredType: 'int'}]}]}, " +
				"{operatorName: 'additionalItems', reason: 'At least one additional item did not match the " +
				"sub-schema', itemIndex: 3, details: [" +
				"{operatorName: 'type', specifiedAs: {type: 'object'}, reason: 'type did not match', " +
				"consideredValue: 3, consideredType: 'int'}]}]",
		},
		{"no additional items", "a: {items: [{}], additionalItems: false}", "{a: [1, 2, 3]}",
			"[{operatorName: 'additionalItems', specifiedAs: {additionalItems: false}, reason: 'found additional " +
				"items', additionalItems: [2, 3]}]"},
		{"within", "a: {properties: {b: {minimum: 1}}, required: ['d', 'c']}", "{a: {b: 0}}",
			"[{operatorName: 'properties', propertiesNotSatisfied: [{propertyName: 'b', details: [" +
				"{operatorName: 'minimum', specifiedAs: {minimum: 1}, reason: 'comparison failed', " +
				"consideredValue: 0}]}]}, " +
				"{operatorName: 'required', specifiedAs: {required: ['d', 'c']}, missingProperties: ['c', 'd']}]"},
		{"not", "a: {not: {minimum: 1}}", "{a: 1}", "[{operatorName: 'not', reason: 'child expression matched'}]"},
		{"allOf", "a: {allOf: [{minimum: 1}, {maximum: 3, title: 't'}]}", "{a: 4}",
			"[{operatorName: 'allOf', schemasNotSatisfied: [{index: 1, title: 't', details: [" +
				"{operatorName: 'maximum', specifiedAs: {maximum: 3}, reason: 'comparison failed', " +
				"consideredValue: 4}]}]}]"},
		{"oneOf of which several match", "a: {oneOf: [{minimum: 1}, {minimum: 9}, {maximum: 3}]}", "{a: 2}",
			"[{operatorName: 'oneOf', reason: 'more than one subschema matched', matchingSchemaIndexes: [0, 2]}]"},
		{"oneOf of which none matches", "a: {oneOf: [{minimum: 4}]}", "{a: 2}",
			"[{operatorName: 'oneOf', schemasNotSatisfied: [{index: 0, details: [" +
				"{operatorName: 'minimum', specifiedAs: {minimum: 4}, reason: 'comparison failed', " +
				"consideredValue: 2}]}]}]"},

		{"fields", "{maxProperties: 1}", "{a: 1, b: 2}",
			"[{operatorName: 'maxProperties', specifiedAs: {maxProperties: 1}, reason: 'specified number of " +
				"properties was not satisfied', numberOfProperties: 2}]"},
		{"no other fields", "{properties: {a: {}}, additionalProperties: false}", "{a: 1, b: 2, c: 3}",
			"[{operatorName: 'additionalProperties', specifiedAs: {additionalProperties: false}, " +
				"additionalProperties: ['b', 'c']}]"},
		{"other fields", "{properties: {a: {}}, additionalProperties: {minimum: 3, title: 't'}}", "{a: 1, b: 3, c: 2}",
			"[{operatorName: 'additionalProperties', title: 't', reason: 'at least one additional property did " +
				"not match the subschema', " +
				"failingProperty: 'c', details: [{operatorName: 'minimum', specifiedAs: {minimum: 3}, reason: " +
				"'comparison failed', consideredValue: 2}]}]"},
		{"patterns", "{patternProperties: {'^x': {maximum: 0, description: 'd'}}}", "{x1: 0, x2: 1, x3: 2}",
			"[{operatorName: 'patternProperties', details: [{propertyName: 'x2', description: 'd', regexMatched: " +
				"'^x', details: [" +
				"{operatorName: 'maximum', specifiedAs: {maximum: 0}, reason: 'comparison failed', " +
				"consideredValue: 1}]}]}]"},
		{"dependencies", "{dependencies: {a: ['c', 'b'], b: ['a'], d: {required: ['e']}}}", "{a: 1, d: 1}",
			"[{operatorName: 'dependencies', failingDependencies: [{conditionalProperty: 'a', missingProperties: " +
				"['c', 'b']}, " +
				"{conditionalProperty: 'd', details: [{operatorName: 'required', specifiedAs: {required: ['e']}, " +
				"missingProperties: ['e']}]}]}]"},
	} {
		want := "{operatorName: '$jsonSchema', schemaRulesNotSatisfied: " + c.want + "}"
		if c.schema[0] == 'a' {
			c.schema = "{properties: {" + c.schema + "}}"
			want =
				"{operatorName: '$jsonSchema', schemaRulesNotSatisfied: [{operatorName: 'properties', " +
					"propertiesNotSatisfied: [" +
					"{propertyName: 'a', details: " + c.want + "}]}]}"
		}
		got := jsonschema.Explain(valuetest.Doc(c.schema), valuetest.Doc(c.doc))
		if !bsonval.Equal(got, valuetest.Doc(want)) {
			t.Errorf("%s:\n got %s\nwant %s", c.reason, valuetest.Text(got), valuetest.Text(valuetest.Doc(want)))
		}
	}
}

// A schema that no document can conform to is told as such, and every keyword can be told.
func TestExplainAll(t *testing.T) {
	got := jsonschema.Explain(valuetest.Doc("{type: 'number'}"), valuetest.Doc("{a: 1}"))
	want :=
		"{operatorName: '$jsonSchema', specifiedAs: {$jsonSchema: {type: 'number'}}, reason: 'expression always " +
			"evaluates to false'}"
	if !bsonval.Equal(got, valuetest.Doc(want)) {
		t.Errorf("got %s", valuetest.Text(got))
	}
	if missing := jsonschema.ListUnexplained(); missing != nil {
		t.Errorf("%v can fail, and are not told", missing)
	}
}
