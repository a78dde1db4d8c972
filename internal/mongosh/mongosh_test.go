package mongosh_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongosh"
)

func TestDocument(t *testing.T) {
	raw, err := bson.Marshal(bson.D{{Key: "_id", Value: int64(1)}, {Key: "a b", Value: bson.A{"it's", nil, 2.0}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := mongosh.Document(raw), `{_id: Long('1'), 'a b': ['it\'s', null, Double(2)]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := mongosh.Document(raw[:5]), "/* invalid bytes of a embedded document */"; got != want {
		t.Errorf("cut off: got %s, want %s", got, want)
	}
}

func TestShorten(t *testing.T) {
	for n, want := range map[int]string{1: "{…", 2: "{…", 3: "{é…", 4: "{é}"} {
		if got := mongosh.Shorten("{é}", n); got != want {
			t.Errorf("%d bytes: got %q, want %q", n, got, want)
		}
	}
}
