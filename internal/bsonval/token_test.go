package bsonval_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// The time of a token is where MongoDB has it; other tokens have none.
func TestTokenTime(t *testing.T) {
	for _, c := range []struct {
		reason, data string
		want         bson.Timestamp
		ok           bool
	}{
		{
			reason: "of an event, from MongoDB's manual",
			data: "82635019A0000000012B042C0100296E5A1004AB1154ACACD849A48C61756D70D3B21F463C6F7065726174696F6E5" +
				"4797065003C696E736572740046646F63756D656E744B65790046645F69640064635019A078BE67426D7CF4D2000004",
			want: bson.Timestamp{T: 1666193824, I: 1}, ok: true,
		},
		{"of a batch", "82635019A1000000022B0429296E1404", bson.Timestamp{T: 1666193825, I: 2}, true},
		{"the shortest", "82FFFFFFFFFFFFFFFF", bson.Timestamp{T: 1<<32 - 1, I: 1<<32 - 1}, true},
		{"cut", "82FFFFFFFFFFFFFFF", bson.Timestamp{}, false},
		{"of another server", "016350191a000000010100000001000000001", bson.Timestamp{}, false},
		{"no digits", "82zzzzzzzzzzzzzzzzzz", bson.Timestamp{}, false},
		{"empty", "", bson.Timestamp{}, false},
	} {
		token, err := bson.Marshal(bson.D{{Key: "_data", Value: c.data}})
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := bsonval.TokenTime(token); got != c.want || ok != c.ok {
			t.Errorf("%s: %v, %v, want %v, %v", c.reason, got, ok, c.want, c.ok)
		}
	}
	if _, ok := bsonval.TokenTime(nil); ok {
		t.Error("nil has a time")
	}
}
