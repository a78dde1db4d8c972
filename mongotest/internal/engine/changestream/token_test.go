package changestream

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

func TestTokensSortAsChanges(t *testing.T) {
	at := func(seconds, i, n uint32) store.Position {
		return store.Position{Timestamp: bson.Timestamp{T: seconds, I: i}, N: n}
	}
	var last bson.D
	for _, want := range []token{
		{at(9, 1, 0), changed}, {at(9, 1, 0), invalidated}, {at(9, 1, 0), passed}, {at(9, 1, 1), changed},
		{at(9, 2, 0), changed}, {at(10, 1, 0), changed}, {at(256, 1, 0), passed},
	} {
		d := want.document()
		if got, err := readToken(d); got != want || err != nil {
			t.Errorf("%v was read as %v, %v", want, got, err)
		}
		if last != nil && bsonval.Compare(last, d) >= 0 {
			t.Errorf("%v isn't before %v", last, d)
		}
		last = d
	}
}

func TestReadTokenRefuses(t *testing.T) {
	for text, code := range map[string]int32{
		"no digits": mongoerr.FailedToParse, "82": mongoerr.FailedToParse, "": mongoerr.FailedToParse,
		"830000000900000001000000000000": mongoerr.FailedToParse,
	} {
		if _, err := readToken(bson.D{{Key: "_data", Value: text}}); mongoerr.CodeOf(err) != code {
			t.Errorf("%q gave %v", text, err)
		}
	}
	if _, err := readToken(bson.D{}); mongoerr.CodeOf(err) != 40647 {
		t.Errorf("a document without a token gave %v", err)
	}
}
