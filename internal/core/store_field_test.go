package core_test

import (
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A memo has a field that stores use by default.
type memo struct {
	ID   int32  `bson:"_id"`
	Mine string `bson:"_m"`
	Text string `bson:"text"`
}

func memosWith(field string) *model.Collection[memo, int32] {
	return model.NewCollectionWith[memo, int32]("memos", model.CollectionOptions{StoreField: field})
}

func TestStoreFieldRefusals(t *testing.T) {
	m := model.New("memos")
	for field, want := range map[string]string{
		"_id": "can't have the field", "a.b": "can't have the field", "$m": "can't have the field",
		"a\x00": "can't have the field",
		"text":  "the documents have a field text",
	} {
		if err := testkit.PanicOf(func() { memosWith(field) }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", field, err, want)
		}
	}
	err := testkit.PanicOf(func() { model.NewStore(m, memosWith("")) })
	if err == nil || !strings.Contains(err.Error(), "the documents have a field _m") ||
		!strings.Contains(err.Error(), "CollectionOptions.StoreField") {
		t.Errorf("%v, want the field and the remedy", err)
	}
	if err := testkit.PanicOf(func() { model.NewStore(m, memosWith("lib")) }); err != nil {
		t.Error(err)
	}
	for name, m := range map[string]*model.Model{
		"another store": m, "a technique": model.New("memos", model.Entity(memosWith("lib"))),
	} {
		err := testkit.PanicOf(func() { model.NewStore(m, memosWith("kept")) })
		if err == nil || !strings.Contains(err.Error(), "with stores' field kept") ||
			!strings.Contains(err.Error(), "lib") {
			t.Errorf("beside %s with another field: %v, want both fields", name, err)
		}
	}
}

func TestStoreFieldRemoveFrom(t *testing.T) {
	loose := model.NewCollectionWith[bson.D, any]("loose", model.CollectionOptions{StoreField: "lib"})
	field := loose.Docs().StoreField()
	for _, c := range []struct{ in, want bson.D }{
		{nil, nil},
		{d("_id", 1), d("_id", 1)},
		{d("_id", 1, "_m", 2, "lib", d("ops", bson.A{}), "a", d("lib", 1)), d("_id", 1, "_m", 2, "a", d("lib", 1))},
		{d("lib", 1), bson.D{}},
	} {
		var in, want bson.Raw
		if c.in != nil {
			in, want = testkit.Raw(c.in).Value, testkit.Raw(c.want).Value
		}
		if got := field.RemoveFrom(in); string(got) != string(want) {
			t.Errorf("%v: got %v, want %v", in, got, want)
		}
	}
}

// Two techniques must agree on the field.
func TestStoreFieldsDiffer(t *testing.T) {
	a, b := memosWith("lib").Docs(), memosWith("kept").Docs()
	if diff := a.Compare(b); diff == nil || !strings.Contains(diff.Own+diff.Other, "kept") {
		t.Errorf("got %v", diff)
	}
	if diff := a.Compare(memosWith("lib").Docs()); diff != nil {
		t.Errorf("got %v", diff)
	}
}
