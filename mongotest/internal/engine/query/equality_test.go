package query_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

func TestEqualityFields(t *testing.T) {
	for _, c := range []struct {
		reason, filter, want string
		code                 int32
	}{
		{"implicit, $eq and $and", "{a: 1, b: {$eq: 2}, $and: [{c: 3}]}", `{"a":1,"b":2,"c":3}`, 0},
		{"others are left out", "{a: {$gt: 1}, b: {$in: [1, 2]}, c: null}", `{"c":null}`, 0},
		{"single $or and $in", "{$or: [{a: 1}], b: {$in: [2]}}", `{"a":1,"b":2}`, 0},
		{"dotted", "{'a.b': 1, 'a.c': 2}", `{"a.b":1,"a.c":2}`, 0},
		{"twice", "{a: 1, $and: [{a: 2}]}", "", mongoerr.NotSingleValueField},
		{"below", "{a: 1, 'a.b': 2}", "", mongoerr.NotSingleValueField},
	} {
		got, err := MustParse(valuetest.Doc(c.filter)).EqualityFields()
		if mongoerr.CodeOf(err) != c.code || (err == nil && valuetest.Text(got) != c.want) {
			t.Errorf("%s: %s, %v", c.reason, valuetest.Text(got), err)
		}
	}
}
