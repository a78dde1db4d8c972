package query_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		reason, filter string
		code           int32
	}{
		{"unknown operator", "{a: {$foo: 1}}", mongoerr.BadValue},
		{"unknown operator after a known one", "{a: {$gt: 1, x: 2}}", mongoerr.BadValue},
		{"unknown operator at the top", "{$foo: 1}", mongoerr.BadValue},
		{"$where", "{$where: 'x'}", mongoerr.NotImplemented},
		{"$sampleRate within a field", "{a: {$elemMatch: {$sampleRate: 0.5}}}", mongoerr.BadValue},
		{"a position that is no int", "{a: {$bitsAllSet: [4294967296]}}", mongoerr.BadValue},
		{"a mask that is no long", "{a: {$bitsAllSet: 1.0e300}}", mongoerr.FailedToParse},
		{"a mask that isn't a number", "{a: {$bitsAllSet: {$numberDouble: 'NaN'}}}", mongoerr.FailedToParse},
		{"$near where no collection is", "{a: {$near: [1, 2]}}", mongoerr.BadValue},
		{"$text where no collection is", "{$text: {$search: 'a'}}", mongoerr.BadValue},
		{"$in without array", "{a: {$in: 1}}", mongoerr.BadValue},
		{"operator in $in", "{a: {$in: [{$gt: 1}]}}", mongoerr.BadValue},
		{
			reason: "$ne a regular expression", filter: "{a: {$ne: {$regularExpression: {pattern: 'a', options: ''}}}}",
			code: mongoerr.BadValue,
		},
		{
			reason: "$gt a regular expression", filter: "{a: {$gt: {$regularExpression: {pattern: 'a', options: ''}}}}",
			code: mongoerr.BadValue,
		},
		{"$not of a value", "{a: {$not: 1}}", mongoerr.BadValue},
		{"empty $not", "{a: {$not: {}}}", mongoerr.BadValue},
		{"$or of no array", "{$or: {a: 1}}", mongoerr.BadValue},
		{"empty $or", "{$or: []}", mongoerr.BadValue},
		{"$or of values", "{$or: [1]}", mongoerr.BadValue},
		{"negative $size", "{a: {$size: -1}}", mongoerr.BadValue},
		{"fractional $size", "{a: {$size: 1.5}}", mongoerr.BadValue},
		{"$mod by zero", "{a: {$mod: [0, 1]}}", mongoerr.BadValue},
		{"short $mod", "{a: {$mod: [1]}}", mongoerr.BadValue},
		{"unknown $type", "{a: {$type: 'x'}}", mongoerr.BadValue},
		{"unknown $type number", "{a: {$type: 50}}", mongoerr.BadValue},
		{"$options alone", "{a: {$options: 'i'}}", mongoerr.BadValue},
		{"options twice", "{a: {$regex: {$regularExpression: {pattern: 'a', options: 'i'}}, $options: 'm'}}", 51075},
		{"recursion", "{a: {$regex: '(?R)'}}", 51091},
		{"unknown option", "{a: {$regex: 'a', $options: 'z'}}", 51108},
		{"$jsonSchema of no object", "{$jsonSchema: 1}", mongoerr.TypeMismatch},
		{"$jsonSchema of an unknown keyword", "{$jsonSchema: {foo: 1}}", mongoerr.FailedToParse},
		{"$jsonSchema in $elemMatch", "{a: {$elemMatch: {$jsonSchema: {}}}}", mongoerr.BadValue},
		{"$expr in $elemMatch", "{a: {$elemMatch: {$expr: true}}}", mongoerr.BadValue},
		{"mixed $all", "{a: {$all: [{$elemMatch: {b: 1}}, 2]}}", mongoerr.BadValue},
		{"$elemMatch of a value", "{a: {$elemMatch: 1}}", mongoerr.BadValue},
	} {
		// $regex and $options mean something in extended JSON too; here they are operators.
		if _, err := Parse(valuetest.Doc(c.filter), Options{}); mongoerr.CodeOf(err) != c.code {
			t.Errorf("%s: %s: %v, want code %d", c.reason, c.filter, err, c.code)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range matchCases {
		a, _ := bsonval.Append(nil, valuetest.Doc(c.filter))
		b, _ := bsonval.Append(nil, valuetest.Doc(c.doc))
		f.Add(a, b)
	}
	f.Fuzz(func(t *testing.T, filter, doc []byte) {
		q, err := bsonval.Decode(filter)
		if err != nil {
			return
		}
		d, err := bsonval.Decode(doc)
		if err != nil {
			return
		}
		m, err := Parse(q, Options{})
		if err != nil {
			return
		}
		first, err := m.Match(d)
		second, _, err2 := m.MatchArrayIndex(d)
		if first != second || (err == nil) != (err2 == nil) {
			t.Fatalf("Match says %t, %v and MatchArrayIndex %t, %v", first, err, second, err2)
		}
		checkBounds(t, m, d, first)
		_, _ = m.EqualityFields()
	})
}
