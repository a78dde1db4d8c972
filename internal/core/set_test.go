package core_test

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
)

// A code encodes itself.
type code struct{ text string }

func (c code) MarshalBSONValue() (typ byte, data []byte, err error) {
	t, data, err := bson.MarshalValue(c.text)
	return byte(t), data, err
}

func TestSet(t *testing.T) {
	type in struct {
		N int64 `bson:"n"`
	}
	type doc struct {
		ID    string         `bson:"_id"`
		Name  string         `bson:"name"`
		In    in             `bson:"in"`
		Tags  []string       `bson:"tags"`
		Lines []in           `bson:"lines"`
		Any   map[string]any `bson:"any"`
		Code  *code          `bson:"code"`
	}
	docs := model.NewCollection[doc, string]("docs").Docs()
	set := func(pairs ...any) (d bson.D) {
		for i := 0; i < len(pairs); i += 2 {
			d = append(d, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
		}
		return d
	}
	number := bson.RawValue{Type: bson.TypeInt32, Value: []byte{1, 0, 0, 0}}
	for _, c := range []struct {
		set                 bson.D
		field, want, reason string
	}{
		{set("name", "a", "in.n", int64(1)), "", "", "fields and fields within"},
		{set("name", &[]string{"a"}[0]), "", "", "a pointer to what the field holds"},
		{set("name", nil), "", "", "null"},
		{set("code", code{"a"}), "", "", "a value that encodes itself, of a field that is a pointer"},
		{set("code", &code{"a"}), "", "", "a pointer to one"},
		{set("in", in{1}), "", "", "a document"},
		{set("tags", []string{"a"}), "", "", "an array as a whole"},
		{set("tags", bson.A{"a"}), "", "", "an array of anything"},
		{set("any", map[string]any{"a": 1}, "name", "b"), "", "", "an open value"},
		{set("any.deep.in", 7), "", "", "below an open value"},
		{set("in.n", number), "", "", "a stored value that decodes as the field's type"},
		{nil, "fields", "no field was given: give at least one", "nothing"},
		{set("nam", "a"), "path", `did you mean "name"?`, "an unknown path"},
		{set("_id", "a"), "_id", "is in the _id, which can't change", "the _id"},
		{set("lines.n", int64(1)), "lines.n", "is in an array: set the whole array", "a field within an array"},
		{
			set: set("in", in{}, "in.n", int64(1)), field: "in.n",
			want:   `overlaps "in", which is set too: give each field once`,
			reason: "two that overlap",
		},
		{set("name", "a", "name", "b"), "name", `overlaps "name", which is set too: give each field once`, "one twice"},
		{set("kept.a", 1), "path", "stores no field", "below a path that isn't there"},
		{set("name", 7), "name", "is a int, but the field is of type string", "another type"},
		{
			set: set("name", number), field: "name",
			want:   "is a BSON 32-bit integer, but the field is of type string",
			reason: "a stored value of another type",
		},
		{set("tags", "a"), "tags", "is a string, but the field is of type []string", "a scalar for an array"},
		{set("any", map[string]any{"$a": 1}), "any.$a", "dollar", "a name that can't be stored"},
		{set("any", map[string]any{"a": make(chan int)}), "any", "chan int", "a value that can't be encoded"},
	} {
		got, err := docs.Set(c.set)
		var v *model.ValueError
		switch {
		case c.want == "" && (err != nil || len(got) != len(c.set)):
			t.Errorf("%s: %v, %v", c.reason, got, err)
		case c.want != "" &&
			(!errors.As(err, &v) || v.Field != c.field || v.Collection != "docs" ||
				!strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want a *ValueError of %s that says %q", c.reason, err, c.field, c.want)
		}
		for _, e := range got {
			if _, ok := e.Value.(bson.RawValue); !ok {
				t.Errorf("%s: %s is a %T", c.reason, e.Key, e.Value)
			}
		}
	}
	if _, err := docs.Set(set("in.n", int64(1)), "in"); err == nil || !strings.Contains(err.Error(), `is in "in"`) {
		t.Errorf("a part of a path that is set as a whole only: %v", err)
	}
	if _, err := docs.Set(set("in", in{}), "in"); err != nil {
		t.Errorf("the whole of it: %v", err)
	}
}
