package bsondoc_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
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
