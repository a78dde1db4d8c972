package query_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// TestExplain has why documents don't match, in the words of MongoDB's doc_validation_error.
func TestExplain(t *testing.T) {
	eleven := "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]"
	for _, c := range []struct{ reason, filter, doc, want string }{
		{"an operator", "{a: {$eq: 2}}", "{a: 1}",
			"{operatorName: '$eq', specifiedAs: {a: {$eq: 2}}, reason: 'comparison failed', consideredValue: 1}"},
		{
			reason: "no operator", filter: "{a: 2}", doc: "{a: 1}",
			want: "{operatorName: '$eq', specifiedAs: {a: 2}, reason: 'comparison failed', consideredValue: 1}",
		},
		{
			reason: "no field", filter: "{a: {$gte: 2}}", doc: "{b: 1}",
			want: "{operatorName: '$gte', specifiedAs: {a: {$gte: 2}}, reason: 'field was missing'}",
		},
		{"elements", "{'a.b': {$lt: 0}}", "{a: [{b: [1, 2]}, {b: 3}]}",
			"{operatorName: '$lt', specifiedAs: {'a.b': {$lt: 0}}, reason: 'comparison failed', " +
				"consideredValues: [1, 2, 3]}"},
		{"an empty array", "{a: {$gt: 0}}", "{a: []}",
			"{operatorName: '$gt', specifiedAs: {a: {$gt: 0}}, reason: 'comparison failed', consideredValues: []}"},
		{"eleven elements", "{a: {$lt: 0}}", "{a: " + eleven + "}",
			"{operatorName: '$lt', specifiedAs: {a: {$lt: 0}}, reason: 'comparison failed', " +
				"consideredValues: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], consideredValuesTruncated: true}"},
		{
			reason: "$ne", filter: "{a: {$ne: 2}}", doc: "{a: 2}",
			want: "{operatorName: '$ne', specifiedAs: {a: {$ne: 2}}, reason: 'comparison succeeded', " +
				"consideredValue: 2}",
		},
		{"$in", "{a: {$in: [1, 2]}}", "{a: 3}",
			"{operatorName: '$in', specifiedAs: {a: {$in: [1, 2]}}, reason: 'no matching value found in array', " +
				"consideredValue: 3}"},
		{"$nin", "{a: {$nin: [1, 2]}}", "{a: 2}",
			"{operatorName: '$nin', specifiedAs: {a: {$nin: [1, 2]}}, reason: 'matching value found in array', " +
				"consideredValue: 2}"},
		{
			reason: "$exists", filter: "{a: {$exists: true}}", doc: "{}",
			want: "{operatorName: '$exists', specifiedAs: {a: {$exists: true}}, reason: 'path does not exist'}",
		},
		{
			reason: "$exists: false", filter: "{a: {$exists: false}}", doc: "{a: 1}",
			want: "{operatorName: '$exists', specifiedAs: {a: {$exists: false}}, reason: 'path does exist'}",
		},
		{"$type", "{a: {$type: 'string'}}", "{a: 1}",
			"{operatorName: '$type', specifiedAs: {a: {$type: 'string'}}, reason: 'type did not match', " +
				"consideredValue: 1, consideredType: 'int'}"},
		{"$type of elements", "{a: {$type: 'string'}}", "{a: [1, null]}",
			"{operatorName: '$type', specifiedAs: {a: {$type: 'string'}}, reason: 'type did not match', " +
				"consideredValues: [1, null], consideredTypes: ['int', 'null']}"},
		{"$size", "{a: {$size: 2}}", "{a: [1]}",
			"{operatorName: '$size', specifiedAs: {a: {$size: 2}}, " +
				"reason: 'array length was not equal to given size', consideredValue: [1]}"},
		{"$size of no array", "{a: {$size: 2}}", "{a: 1}",
			"{operatorName: '$size', specifiedAs: {a: {$size: 2}}, reason: 'type did not match', " +
				"consideredType: 'int', expectedType: 'array', consideredValue: 1}"},
		{"$all", "{a: {$all: [1, 2]}}", "{a: [1]}",
			"{operatorName: '$all', specifiedAs: {a: {$all: [1, 2]}}, " +
				"reason: 'array did not contain all specified values', consideredValue: [1]}"},
		{"$elemMatch", "{a: {$elemMatch: {b: 1}}}", "{a: [{b: 2}]}",
			"{operatorName: '$elemMatch', specifiedAs: {a: {$elemMatch: {b: 1}}}, " +
				"reason: 'array did not satisfy the child predicate', consideredValue: [{b: 2}]}"},
		{"$mod of a string", "{a: {$mod: [2, 0]}}", "{a: 'x'}",
			"{operatorName: '$mod', specifiedAs: {a: {$mod: [2, 0]}}, reason: 'type did not match', " +
				"consideredType: 'string', " +
				"expectedTypes: ['decimal', 'double', 'int', 'long'], consideredValue: 'x'}"},
		{"$bitsAllSet", "{a: {$bitsAllSet: 5}}", "{a: 4}",
			"{operatorName: '$bitsAllSet', specifiedAs: {a: {$bitsAllSet: 5}}, " +
				"reason: 'bitwise operator failed to match', consideredValue: 4}"},
		{"$bitsAnySet of a string", "{a: {$bitsAnySet: 5}}", "{a: 'x'}",
			"{operatorName: '$bitsAnySet', specifiedAs: {a: {$bitsAnySet: 5}}, reason: 'type did not match', " +
				"consideredType: 'string', " +
				"expectedTypes: ['binData', 'decimal', 'double', 'int', 'long'], consideredValue: 'x'}"},
		{"$alwaysFalse", "{$alwaysFalse: 1}", "{}",
			"{operatorName: '$alwaysFalse', specifiedAs: {$alwaysFalse: 1}, " +
				"reason: 'expression always evaluates to false'}"},
		{"$regex", "{a: {$regex: '^x', $options: 'i'}}", "{a: 'y'}",
			"{operatorName: '$regex', specifiedAs: {a: {$regex: '^x', $options: 'i'}}, " +
				"reason: 'regular expression did not match', consideredValue: 'y'}"},
		{"$expr", "{$expr: {$gt: ['$a', '$b']}}", "{a: 1, b: 2}",
			"{operatorName: '$expr', specifiedAs: {$expr: {$gt: ['$a', '$b']}}, reason: 'expression did not match', " +
				"expressionResult: false}"},
		{"$expr that fails", "{$expr: {$divide: [1, '$a']}}", "{a: 0}",
			"{operatorName: '$expr', specifiedAs: {$expr: {$divide: [1, '$a']}}, " +
				"reason: 'failed to evaluate aggregation expression', " +
				"details: {code: 2, codeName: 'BadValue', errmsg: \"can't $divide by zero\"}}"},

		{"$and", "{$and: [{b: {$gt: 0}}, {a: {$lt: 10}}]}", "{a: 11, b: 2}",
			"{operatorName: '$and', clausesNotSatisfied: [{index: 1, details: " +
				"{operatorName: '$lt', specifiedAs: {a: {$lt: 10}}, reason: 'comparison failed', " +
				"consideredValue: 11}}]}"},
		{"several conditions", "{a: {$gt: 0, $lt: 10}, b: 1}", "{a: 11, b: 2}",
			"{operatorName: '$and', clausesNotSatisfied: [" +
				"{index: 1, details: {operatorName: '$lt', specifiedAs: {a: {$lt: 10}}, reason: 'comparison failed', " +
				"consideredValue: 11}}, " +
				"{index: 2, details: {operatorName: '$eq', specifiedAs: {b: 1}, reason: 'comparison failed', " +
				"consideredValue: 2}}]}"},
		{"$or", "{$or: [{a: 1}, {b: 1, a: 2}]}", "{a: 2, b: 2}",
			"{operatorName: '$or', clausesNotSatisfied: [" +
				"{index: 0, details: {operatorName: '$eq', specifiedAs: {a: 1}, reason: 'comparison failed', " +
				"consideredValue: 2}}, " +
				"{index: 1, details: {operatorName: '$and', clausesNotSatisfied: [" +
				"{index: 0, details: {operatorName: '$eq', specifiedAs: {b: 1}, reason: 'comparison failed', " +
				"consideredValue: 2}}]}}]}"},
		{"$nor", "{$nor: [{a: {$gt: 10}}, {b: {$lt: 10}}]}", "{a: 9, b: 9}",
			"{operatorName: '$nor', clausesSatisfied: [{index: 1, details: " +
				"{operatorName: '$lt', specifiedAs: {b: {$lt: 10}}, reason: 'comparison succeeded', " +
				"consideredValue: 9}}]}"},
		{"$not", "{a: {$not: {$lt: 10}}}", "{a: 9}",
			"{operatorName: '$not', details: {operatorName: '$lt', specifiedAs: {a: {$lt: 10}}, " +
				"reason: 'comparison succeeded', consideredValue: 9}}"},
		{"$not of several", "{a: {$not: {$lt: 20, $gt: 5}}}", "{a: 10}",
			"{operatorName: '$not', details: {operatorName: '$and', clausesSatisfied: [" +
				"{index: 0, details: {operatorName: '$lt', specifiedAs: {a: {$lt: 20}}, " +
				"reason: 'comparison succeeded', consideredValue: 10}}, " +
				"{index: 1, details: {operatorName: '$gt', specifiedAs: {a: {$gt: 5}}, " +
				"reason: 'comparison succeeded', consideredValue: 10}}]}}"},
		{"$not of $not", "{a: {$not: {$not: {$lt: 10}}}}", "{a: 11}",
			"{operatorName: '$not', details: {operatorName: '$not', details: " +
				"{operatorName: '$lt', specifiedAs: {a: {$lt: 10}}, reason: 'comparison failed', " +
				"consideredValue: 11}}}"},
		{"a schema and a condition", "{$jsonSchema: {title: 't', required: ['b']}, a: 1}", "{a: 1}",
			"{operatorName: '$and', clausesNotSatisfied: [{index: 0, title: 't', " +
				"details: {operatorName: '$jsonSchema', title: 't', schemaRulesNotSatisfied: [" +
				"{operatorName: 'required', specifiedAs: {required: ['b']}, missingProperties: ['b']}]}}]}"},
		{"a schema that is matched", "{$nor: [{$jsonSchema: {minimum: 1}}]}", "{a: 1}",
			"{operatorName: '$nor', clausesSatisfied: [{index: 0, details: {operatorName: '$jsonSchema', " +
				"reason: 'schema matched'}}]}"},
	} {
		filter, doc := valuetest.Doc(c.filter), valuetest.Doc(c.doc)
		if got := Explain(filter, doc, nil); !bsonval.Equal(got, valuetest.Doc(c.want)) {
			t.Errorf("%s:\n got %s\nwant %s", c.reason, valuetest.Text(got), valuetest.Text(valuetest.Doc(c.want)))
		}
		if ok, err := MustParse(filter).Match(doc); ok && err == nil {
			t.Errorf("%s: the document matches", c.reason)
		}
	}
}
