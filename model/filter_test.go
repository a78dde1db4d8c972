package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
)

func TestAnd(t *testing.T) {
	for _, c := range []struct {
		in           []bson.D
		want, reason string
	}{
		{nil, "null", "no filter"},
		{[]bson.D{nil, {}}, "null", "empty filters add nothing"},
		{[]bson.D{d("a", 1)}, "{a: 1}", "one"},
		{[]bson.D{nil, d("a", 1), {}}, "{a: 1}", "one among empty ones"},
		{[]bson.D{d("a", 1), d("b", 2), d("c", 3)}, "{a: 1, b: 2, c: 3}", "no field in common"},
		{
			in:   []bson.D{d("a", d("$gt", 1)), d("a", d("$lt", 5))},
			want: "{$and: [{a: {$gt: 1}}, {a: {$lt: 5}}]}", reason: "a field in common: neither replaces the other",
		},
		{[]bson.D{d("a", 1), d("a", 1, "b", 2)}, "{a: 1, b: 2}", "the same condition twice: an upsert fails on it"},
		{[]bson.D{d("a", 1), d("a", int64(1))}, "{$and: [{a: 1}, {a: Long('1')}]}", "another type is another condition"},
		{
			in:   []bson.D{d("$or", bson.A{d("a", 1)}), d("$or", bson.A{d("b", 1)})},
			want: "{$and: [{$or: [{a: 1}]}, {$or: [{b: 1}]}]}", reason: "$or of each must hold",
		},
		{
			in:   []bson.D{d("$and", bson.A{d("a", 1)}), d("$and", bson.A{d("a", 2)})},
			want: "{$and: [{a: 1}, {a: 2}]}", reason: "$and of $and is one",
		},
		{[]bson.D{d("a", 1, "a", 2)}, "{a: 1, a: 2}", "what the caller wrote twice stays"},
		{[]bson.D{d("a", 1), d("$and", bson.A{d("b", 1)})}, "{a: 1, $and: [{b: 1}]}", "an $and beside a field"},
	} {
		before := model.Shell(c.in)
		if diff := cmp.Diff(c.want, model.Shell(model.And(c.in...))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
		if model.Shell(c.in) != before {
			t.Errorf("%s: an argument was changed", c.reason)
		}
	}
	first := d("a", 1)
	got := model.And(first)
	got[0].Value = 2
	_ = append(got[:0], d("z", 1)...)
	if first[0].Value != 1 {
		t.Error("the result shares its slice with the argument")
	}
}

func TestEq(t *testing.T) {
	for _, c := range []struct {
		v            any
		want, reason string
	}{
		{"$where", "'$where'", "a string is no operator"},
		{nil, "null", "a null; it matches missing fields too"},
		{oid(1), "ObjectId('5f0000000000000000000001')", "a scalar"},
		{d("$gt", 1), "{$eq: {$gt: 1}}", "a document that would be operators"},
		{bson.M{"$gt": 1}, "{$eq: {$gt: 1}}", "a map"},
		{bson.Regex{Pattern: "^.*"}, "{$eq: RegExp('^.*')}", "a pattern would match"},
		{bson.A{1}, "{$eq: [1]}", "an array"},
	} {
		if got := model.Shell(model.Eq(c.v)); got != c.want {
			t.Errorf("Eq(%s) = %s, want %s: %s", model.Shell(c.v), got, c.want, c.reason)
		}
	}
}
