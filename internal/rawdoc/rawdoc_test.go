package rawdoc_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongosh"
	"github.com/docmodel/docmodel/internal/rawdoc"
)

func TestRemoveFields(t *testing.T) {
	doc, err := rawdoc.EncodeDocument(bson.D{
		{Key: "_id", Value: int32(1)},
		{Key: "a", Value: bson.D{{Key: "b", Value: int32(2)}, {Key: "c", Value: bson.D{{Key: "d", Value: "x"}}}}},
		{Key: "list", Value: bson.A{bson.D{{Key: "b", Value: int32(3)}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const whole = "{_id: 1, a: {b: 2, c: {d: 'x'}}, list: [{b: 3}]}"
	for _, c := range []struct {
		what  string
		paths []string
		want  string
	}{
		{"nothing", nil, whole},
		{"a field", []string{"a"}, "{_id: 1, list: [{b: 3}]}"},
		{"fields of documents", []string{"a.b", "a.c.d"}, "{_id: 1, a: {c: {}}, list: [{b: 3}]}"},
		{"a field within an array stays", []string{"list.b", "list.0"}, whole},
		{"a missing field", []string{"z", "a.z", "a.b.z"}, whole},
		{"a field of what is removed", []string{"a", "a.b"}, "{_id: 1, list: [{b: 3}]}"},
	} {
		got, err := rawdoc.RemoveFields(doc, c.paths...)
		if err != nil || mongosh.Document(got) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.what, mongosh.Document(got), err, c.want)
		}
	}
	if got := mongosh.Document(doc); got != whole {
		t.Errorf("the document became %s", got)
	}
	if _, err := rawdoc.RemoveFields(doc[:9], "a"); err == nil {
		t.Error("a document that is cut off")
	}
}

func TestJoinPath(t *testing.T) {
	if got := rawdoc.JoinPath("", "a"); got != "a" {
		t.Error(got)
	}
	if got := rawdoc.JoinPath("a.b", "c"); got != "a.b.c" {
		t.Error(got)
	}
}
