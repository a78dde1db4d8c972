package query_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

var matchCases = []struct {
	reason, filter, doc string
	want                bool
}{
	{"nothing asked", "{}", "{a: 1}", true},
	{"equality", "{a: 1}", "{a: 1}", true},
	{"equality across number types", "{a: 1}", "{a: {$numberLong: '1'}}", true},
	{"another type", "{a: 1}", "{a: '1'}", false},
	{"an element", "{a: 1}", "{a: [2, 1]}", true},
	{"an element's element isn't one", "{a: 1}", "{a: [[1]]}", false},
	{"a whole array", "{a: [1, 2]}", "{a: [1, 2]}", true},
	{"a whole array as an element", "{a: [1, 2]}", "{a: [[1, 2]]}", true},
	{"a part of an array", "{a: [1]}", "{a: [1, 2]}", false},
	{"document, in order", "{a: {b: 1, c: 2}}", "{a: {b: 1, c: 2}}", true},
	{"document, other order", "{a: {b: 1, c: 2}}", "{a: {c: 2, b: 1}}", false},
	{"null is null", "{a: null}", "{a: null}", true},
	{"null is missing", "{a: null}", "{}", true},
	{"null isn't an empty array", "{a: null}", "{a: []}", false},
	{"null is an element", "{a: null}", "{a: [1, null]}", true},
	{"null below a scalar", "{'a.b': null}", "{a: 5}", true},
	{"null below an array's document without the field", "{'a.b': null}", "{a: [{b: 1}, {}]}", true},
	{"nothing below an array of scalars", "{'a.b': null}", "{a: [1, 2]}", false},
	{"NaN equals NaN", "{a: {$numberDouble: 'NaN'}}", "{a: {$numberDouble: 'NaN'}}", true},
	{"dotted through documents", "{'a.b.c': 1}", "{a: {b: {c: 1}}}", true},
	{"dotted through an array", "{'a.b': 2}", "{a: [{b: 1}, {b: 2}]}", true},
	{"dotted through two arrays", "{'a.b.c': 2}", "{a: [{b: [{c: 1}, {c: 2}]}]}", true},
	{"a nested array isn't looked through", "{'a.b': 1}", "{a: [[{b: 1}]]}", false},
	{"position", "{'a.1': 2}", "{a: [1, 2]}", true},
	{"another position", "{'a.0': 2}", "{a: [1, 2]}", false},
	{"position and field", "{'a.1.b': 2}", "{a: [{b: 1}, {b: 2}]}", true},
	{"position through a nested array", "{'a.0.b': 2}", "{a: [[{b: 1}, {b: 2}]]}", true},
	{"a number as a name", "{'a.1': 2}", "{a: {'1': 2}}", true},
	{"a number as a name in an array's document", "{'a.1': 2}", "{a: [{'1': 2}]}", true},
	{"a position leads to the element alone", "{'a.0': 1}", "{a: [[1, 2]]}", false},
	{"a leading zero is no position", "{'a.01': 2}", "{a: [1, 2]}", false},
	{"DBRef is a value", "{a: {$ref: 'c', $id: 1}}", "{a: {$ref: 'c', $id: 1}}", true},

	{"$eq", "{a: {$eq: 1}}", "{a: 1}", true},
	{
		reason: "$eq of a regular expression is equality",
		filter: "{a: {$eq: {$regularExpression: {pattern: 'a', options: ''}}}}",
		doc:    "{a: 'a'}", want: false,
	},
	{"$ne", "{a: {$ne: 1}}", "{a: 2}", true},
	{"$ne of a missing field", "{a: {$ne: 1}}", "{}", true},
	{"$ne of an array that has it", "{a: {$ne: 1}}", "{a: [1, 2]}", false},
	{"$ne null of a missing field", "{a: {$ne: null}}", "{}", false},
	{"$gt", "{a: {$gt: 1}}", "{a: 1.5}", true},
	{"$gt is within its type", "{a: {$gt: 1}}", "{a: 'x'}", false},
	{"$gt of dates and numbers", "{a: {$gt: 1}}", "{a: {$date: '2020-01-01T00:00:00Z'}}", false},
	{"$gt and $lt by different elements", "{a: {$gt: 5, $lt: 3}}", "{a: [1, 9]}", true},
	{"$gte null", "{a: {$gte: null}}", "{}", true},
	{"$gt null", "{a: {$gt: null}}", "{a: null}", false},
	{"$lt doesn't match NaN", "{a: {$lt: 1}}", "{a: {$numberDouble: 'NaN'}}", false},
	{"$lte NaN", "{a: {$lte: {$numberDouble: 'NaN'}}}", "{a: {$numberDouble: 'NaN'}}", true},
	{"$gt MinKey crosses types", "{a: {$gt: {$minKey: 1}}}", "{a: 'x'}", true},
	{"$lt of arrays", "{a: {$lt: [2]}}", "{a: [1, 5]}", true},
	{"$lt of documents", "{a: {$lt: {b: 2}}}", "{a: {b: 1}}", true},
	{"$in", "{a: {$in: [1, 2]}}", "{a: 2.0}", true},
	{"$in by an element", "{a: {$in: [1, 2]}}", "{a: [5, 2]}", true},
	{"$in a whole array", "{a: {$in: [[1, 2]]}}", "{a: [1, 2]}", true},
	{"$in null and missing", "{a: {$in: [null]}}", "{}", true},
	{"$in nothing", "{a: {$in: []}}", "{a: 1}", false},
	{"$in a regular expression", "{a: {$in: [{$regularExpression: {pattern: '^x', options: ''}}]}}", "{a: 'xy'}", true},
	{"$nin", "{a: {$nin: [1, 2]}}", "{a: 3}", true},
	{"$nin of a missing field", "{a: {$nin: [1]}}", "{}", true},

	{"$and", "{$and: [{a: 1}, {b: 2}]}", "{a: 1, b: 2}", true},
	{"$or", "{$or: [{a: 1}, {b: 2}]}", "{b: 2}", true},
	{"$or of none", "{$or: [{a: 1}, {b: 2}]}", "{c: 2}", false},
	{"$nor", "{$nor: [{a: 1}, {b: 2}]}", "{c: 2}", true},
	{"$not", "{a: {$not: {$gt: 1}}}", "{a: 1}", true},
	{"$not of a missing field", "{a: {$not: {$gt: 1}}}", "{}", true},
	{"$not of all its operators together", "{a: {$not: {$gt: 1, $lt: 5}}}", "{a: 9}", true},
	{"$not a regular expression", "{a: {$not: {$regularExpression: {pattern: 'x', options: ''}}}}", "{a: 'y'}", true},
	{"$comment", "{$comment: 'x', a: 1}", "{a: 1}", true},

	{"$exists", "{a: {$exists: true}}", "{a: null}", true},
	{"$exists of an empty array", "{a: {$exists: true}}", "{a: []}", true},
	{"$exists false", "{a: {$exists: false}}", "{}", true},
	{"$exists below an array", "{'a.b': {$exists: true}}", "{a: [{}, {b: 1}]}", true},
	{"$exists false below an array that has one", "{'a.b': {$exists: false}}", "{a: [{}, {b: 1}]}", false},
	{"$type by alias", "{a: {$type: 'string'}}", "{a: 'x'}", true},
	{"$type by number", "{a: {$type: 2}}", "{a: 'x'}", true},
	{"$type number", "{a: {$type: 'number'}}", "{a: 1.5}", true},
	{"$type of an element", "{a: {$type: 'string'}}", "{a: [1, 'x']}", true},
	{"$type array", "{a: {$type: 'array'}}", "{a: []}", true},
	{"$type null isn't missing", "{a: {$type: 'null'}}", "{}", false},
	{"$type of several", "{a: {$type: ['int', 'string']}}", "{a: 1}", true},

	{"$size", "{a: {$size: 2}}", "{a: [1, 2]}", true},
	{"$size of no array", "{a: {$size: 0}}", "{a: null}", false},
	{"$size is of the whole array", "{a: {$size: 1}}", "{a: [[1], [2]]}", false},
	{"$size below an array", "{'a.b': {$size: 1}}", "{a: [{b: [1]}]}", true},
	{"$all", "{a: {$all: [1, 2]}}", "{a: [2, 3, 1]}", true},
	{"$all of a scalar", "{a: {$all: [1]}}", "{a: 1}", true},
	{"$all of none", "{a: {$all: []}}", "{a: []}", false},
	{"$all whole array", "{a: {$all: [[1, 2]]}}", "{a: [1, 2]}", true},
	{"$all $elemMatch", "{a: {$all: [{$elemMatch: {b: 1}}, {$elemMatch: {b: 2}}]}}", "{a: [{b: 2}, {b: 1}]}", true},
	{"$elemMatch on one element", "{a: {$elemMatch: {$gt: 5, $lt: 3}}}", "{a: [1, 9]}", false},
	{"$elemMatch on values", "{a: {$elemMatch: {$gt: 3, $lt: 5}}}", "{a: [1, 4]}", true},
	{"$elemMatch on documents", "{a: {$elemMatch: {b: 1, c: 2}}}", "{a: [{b: 1, c: 3}, {b: 1, c: 2}]}", true},
	{"$elemMatch needs them together", "{a: {$elemMatch: {b: 1, c: 2}}}", "{a: [{b: 1}, {c: 2}]}", false},
	{"$elemMatch of no array", "{a: {$elemMatch: {b: 1}}}", "{a: {b: 1}}", false},
	{"$elemMatch with $or", "{a: {$elemMatch: {$or: [{b: 1}, {b: 2}]}}}", "{a: [{b: 2}]}", true},
	{"$elemMatch in $elemMatch", "{a: {$elemMatch: {$elemMatch: {$eq: 1}}}}", "{a: [[2], [1]]}", true},
	{"$elemMatch with $not", "{a: {$elemMatch: {id: 1, v: {$not: {$gte: 5}}}}}", "{a: [{id: 1}]}", true},
	{"$elemMatch on nested positions", "{a: {$elemMatch: {'0': 1}}}", "{a: [[1, 2]]}", true},
	{"$mod", "{a: {$mod: [4, 1]}}", "{a: 9}", true},
	{"$mod truncates", "{a: {$mod: [4, 1]}}", "{a: 5.9}", true},
	{"$mod of no number", "{a: {$mod: [4, 0]}}", "{a: 'x'}", false},
	{"$bitsAllSet by number", "{a: {$bitsAllSet: 50}}", "{a: 54}", true}, // the manual's example
	{"$bitsAllSet by positions", "{a: {$bitsAllSet: [1, 5]}}", "{a: 20.0}", false},
	{"$bitsAllSet by binary data", "{a: {$bitsAllSet: {$binary: {base64: 'MA==', subType: '00'}}}}", "{a: 54}", true},
	{
		reason: "$bitsAllClear of binary data", filter: "{a: {$bitsAllClear: [1, 5]}}",
		doc:  "{a: {$binary: {base64: 'Zg==', subType: '00'}}}",
		want: false,
	},
	{"$bitsAllSet of a decimal", "{a: {$bitsAllSet: 4}}", "{a: {$numberDecimal: '4'}}", true},
	{"$bitsAnySet of a fraction", "{a: {$bitsAnySet: 7}}", "{a: 3.5}", false},
	{"$bitsAnyClear of a large double", "{a: {$bitsAnyClear: 7}}", "{a: 1.0e300}", false},
	{"$bitsAnySet of a string", "{a: {$bitsAnySet: 7}}", "{a: '7'}", false},
	{"a sign goes on", "{a: {$bitsAllSet: [63, 64, 200]}}", "{a: -1}", true},
	{"a sign of 0 too", "{a: {$bitsAllClear: [63, 64, 200]}}", "{a: 1}", true},
	{"binary data ends", "{a: {$bitsAllClear: [8, 200]}}", "{a: {$binary: {base64: '/w==', subType: '00'}}}", true},
	{"$bitsAnySet of an element", "{a: {$bitsAnySet: 2}}", "{a: ['x', 2]}", true},
	{"$bitsAnyClear of no positions", "{a: {$bitsAnyClear: 0}}", "{a: 1}", false},
	{"$not $bitsAllSet", "{a: {$not: {$bitsAllSet: 1}}}", "{a: 'x'}", true},
	{"$sampleRate in a branch", "{$or: [{a: 1}, {$sampleRate: 0}]}", "{a: 2}", false},
	{"$alwaysTrue", "{$alwaysTrue: 1, a: 1}", "{a: 1}", true},
	{"$nor $alwaysFalse", "{$nor: [{$alwaysFalse: 1}]}", "{}", true},
	{"$mod of a negative", "{a: {$mod: [4, -1]}}", "{a: -5}", true},

	{"regular expression", "{a: {$regularExpression: {pattern: '^x', options: ''}}}", "{a: 'xy'}", true},
	{
		reason: "regular expression of an element",
		filter: "{a: {$regularExpression: {pattern: '^x', options: ''}}}",
		doc:    "{a: ['y', 'xy']}", want: true,
	},
	{
		reason: "regular expression of itself",
		filter: "{a: {$regularExpression: {pattern: '^x', options: ''}}}",
		doc:    "{a: {$regularExpression: {pattern: '^x', options: ''}}}",
		want:   true,
	},
	{"$regex with $options", "{a: {$regex: '^X', $options: 'i'}}", "{a: 'xy'}", true},
	{"$options first", "{a: {$options: 'i', $regex: '^X'}}", "{a: 'xy'}", true},
	{"$regex of no string", "{a: {$regex: '1'}}", "{a: 1}", false},
	{"$expr", "{$expr: {$gt: ['$a', '$b']}}", "{a: 2, b: 1}", true},
	{"$jsonSchema", "{$jsonSchema: {properties: {a: {bsonType: 'int'}}}}", "{a: 1}", true},
	{"$jsonSchema in $nor", "{$nor: [{$jsonSchema: {required: ['a']}}]}", "{b: 1}", true},
	{"$expr in $or", "{$or: [{c: 1}, {$expr: {$eq: ['$a', 2]}}]}", "{a: 2}", true},
}

func TestMatch(t *testing.T) {
	for _, c := range matchCases {
		m, err := Parse(valuetest.Doc(c.filter), Options{})
		if err != nil {
			t.Errorf("%s: %s: %v", c.reason, c.filter, err)
			continue
		}
		doc := valuetest.Doc(c.doc)
		if got, err := m.Match(doc); got != c.want || err != nil {
			t.Errorf("%s: %s on %s is %t, %v", c.reason, c.filter, c.doc, got, err)
		}
	}
}

func TestMatchArrayIndex(t *testing.T) {
	for _, c := range []struct {
		reason, filter, doc string
		want                int
	}{
		{"element", "{a: 2}", "{a: [1, 2, 3]}", 1},
		{"field of an element", "{'a.b': 2}", "{a: [{b: 1}, {b: 2}]}", 1},
		{"the outermost of two", "{'a.b': 2}", "{a: [{b: [1]}, {b: [0, 0, 2]}]}", 1},
		{"$elemMatch", "{a: {$elemMatch: {b: 2}}}", "{a: [{b: 1}, {b: 2}]}", 1},
		{"range", "{a: {$gt: 2}}", "{a: [1, 2, 3]}", 2},
		{"no array", "{a: 2}", "{a: 2}", -1},
		{"negation", "{a: {$ne: 5}}", "{a: [1]}", -1},
		{"with another condition", "{_id: 1, 'a.b': 2}", "{_id: 1, a: [{b: 1}, {b: 2}]}", 1},
	} {
		matched, got, err := MustParse(valuetest.Doc(c.filter)).MatchArrayIndex(valuetest.Doc(c.doc))
		if !matched || err != nil || got != c.want {
			t.Errorf("%s: %t, %d, %v; want %d", c.reason, matched, got, err, c.want)
		}
	}
}

func TestVariables(t *testing.T) {
	filter := valuetest.Doc("{$expr: {$eq: ['$a', '$$x']}}")
	m, err := Parse(filter, Options{Vars: map[string]any{"x": int32(1)}})
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := m.Match(valuetest.Doc("{a: 1}")); !ok || err != nil {
		t.Errorf("with x = 1: %t, %v", ok, err)
	}
	if _, err := Parse(filter, Options{}); mongoerr.CodeOf(err) != 17276 {
		t.Errorf("undefined variable: %v", err)
	}
	both := RequireBoth(m, MustParse(valuetest.Doc("{b: 2}")))
	if ok, _ := both.Match(valuetest.Doc("{a: 1, b: 3}")); ok {
		t.Error("RequireBoth lets through a document that one matcher refuses")
	}
	if ok, _ := both.Match(valuetest.Doc("{a: 1, b: 2}")); !ok {
		t.Error("RequireBoth refuses a document that both matchers let through")
	}
}
