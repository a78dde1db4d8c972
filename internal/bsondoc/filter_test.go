package bsondoc_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/google/go-cmp/cmp"
)

func encode(t *testing.T, v any) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Values of two Go types are the same if their bytes are; an int32 and an int64 aren't.
func TestSameValue(t *testing.T) {
	a := bson.D{{Key: "a", Value: int32(1)}}
	raw := encode(t, a)
	for _, c := range []struct {
		what string
		x, y any
		same bool
	}{
		{"null", nil, bson.Null{}, true},
		{"numbers of one type", int64(1), int64(1), true},
		{"an int and an int32", 1, int32(1), true},
		{"an int32 and an int64", int32(1), int64(1), false},
		{"an int and a double", 1, 1.0, false},
		{"texts", "a", "b", false},
		{"a document and its bytes", a, raw, true},
		{"a document and a map", a, bson.M{"a": 1}, true},
		{"maps", map[string]int{"a": 1, "b": 2, "c": 3}, map[string]int{"c": 3, "b": 2, "a": 1}, true},
		{"a document and a struct", a, struct{ A int32 }{1}, true},
		{"another order", bson.D{{Key: "a"}, {Key: "b"}}, bson.D{{Key: "b"}, {Key: "a"}}, false},
		{"a raw value", int32(1), raw.Lookup("a"), true},
		{"an empty document and null", bson.D{}, nil, false},
		{"what BSON can't hold", make(chan int), make(chan int), false},
	} {
		if bsondoc.SameValue(c.x, c.y) != c.same || bsondoc.SameValue(c.y, c.x) != c.same {
			t.Errorf("%s: want %v", c.what, c.same)
		}
	}
	deep := bson.D{}
	for range bsonval.MaxLevels + 1 {
		deep = bson.D{{Key: "a", Value: deep}}
	}
	if bsondoc.SameValue(deep, deep) {
		t.Error("a value of more levels than are compared")
	}
}

// An _id is pinned by one value, in every form that a program may give it.
func TestIDOf(t *testing.T) {
	for _, c := range []struct {
		what string
		id   any
		ok   bool
	}{
		{"a number", 1, true},
		{"null", nil, true},
		{"a document", bson.D{{Key: "a", Value: 1}}, true},
		{"an empty document", bson.D{}, true},
		{"$eq", bson.D{{Key: "$eq", Value: 1}}, true},
		{"$gt", bson.D{{Key: "$gt", Value: 1}}, false},
		{"$eq beside another condition", bson.D{{Key: "$eq", Value: 1}, {Key: "$gt", Value: 0}}, false},
		{"a map of operators", bson.M{"$in": bson.A{1}}, false},
		{"a map of fields", bson.M{"a": 1}, true},
		{"bytes of a document", encode(t, bson.D{{Key: "a", Value: 1}}), true},
		{"bytes of operators", encode(t, bson.D{{Key: "$gt", Value: 1}}), false},
		{"a pattern", bson.Regex{Pattern: "a"}, false},
		{"a struct", struct{ A int }{1}, true},
		{"what BSON can't hold", func() {}, false},
	} {
		filter := bson.D{{Key: "n", Value: 1}, {Key: "_id", Value: c.id}}
		if _, ok := bsondoc.IDOf(filter); ok != c.ok {
			t.Errorf("%s: %v, want %v", c.what, ok, c.ok)
		}
	}
	if _, ok := bsondoc.IDOf(bson.D{{Key: "n", Value: 1}}); ok || bsondoc.IndexOfID(nil) >= 0 {
		t.Error("a filter without an _id")
	}
	if got := bsondoc.EqualTo(bson.D{{Key: "$eq", Value: 7}}); got != 7 {
		t.Errorf("$eq compares with %v", got)
	}
}

func TestJoinFilters(t *testing.T) {
	for _, c := range []struct {
		in           []bson.D
		want, reason string
	}{
		{nil, "null", "no filter"},
		{[]bson.D{nil, {}}, "null", "empty filters add nothing"},
		{[]bson.D{testkit.D("a", 1)}, "{a: 1}", "one"},
		{[]bson.D{nil, testkit.D("a", 1), {}}, "{a: 1}", "one among empty ones"},
		{[]bson.D{testkit.D("a", 1), testkit.D("b", 2), testkit.D("c", 3)}, "{a: 1, b: 2, c: 3}", "no field in common"},
		{
			in:   []bson.D{testkit.D("a", testkit.D("$gt", 1)), testkit.D("a", testkit.D("$lt", 5))},
			want: "{$and: [{a: {$gt: 1}}, {a: {$lt: 5}}]}", reason: "a field in common: neither replaces the other",
		},
		{[]bson.D{testkit.D("a", 1), testkit.D("a", 1, "b", 2)}, "{a: 1, b: 2}",
			"the same condition twice: an upsert fails on it"},
		{[]bson.D{testkit.D("a", 1), testkit.D("a", int64(1))}, "{$and: [{a: 1}, {a: Long('1')}]}",
			"another type is another condition"},
		{
			in:   []bson.D{testkit.D("$or", bson.A{testkit.D("a", 1)}), testkit.D("$or", bson.A{testkit.D("b", 1)})},
			want: "{$and: [{$or: [{a: 1}]}, {$or: [{b: 1}]}]}", reason: "$or of each must hold",
		},
		{
			in:   []bson.D{testkit.D("$and", bson.A{testkit.D("a", 1)}), testkit.D("$and", bson.A{testkit.D("a", 2)})},
			want: "{$and: [{a: 1}, {a: 2}]}", reason: "$and of $and is one",
		},
		{[]bson.D{testkit.D("a", 1, "a", 2)}, "{a: 1, a: 2}", "what the caller wrote twice stays"},
		{[]bson.D{testkit.D("a", 1), testkit.D("$and", bson.A{testkit.D("b", 1)})}, "{a: 1, $and: [{b: 1}]}",
			"an $and beside a field"},
	} {
		before := model.Shell(c.in)
		if diff := cmp.Diff(c.want, model.Shell(bsondoc.JoinFilters(c.in...))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
		if model.Shell(c.in) != before {
			t.Errorf("%s: an argument was changed", c.reason)
		}
	}
	first := testkit.D("a", 1)
	got := bsondoc.JoinFilters(first)
	got[0].Value = 2
	_ = append(got[:0], testkit.D("z", 1)...)
	if first[0].Value != 1 {
		t.Error("the result shares its slice with the argument")
	}
}
