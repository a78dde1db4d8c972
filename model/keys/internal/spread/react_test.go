package spread_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// A store adds the part to a value, and changes it with the value and with what chooses the part.
func TestStored(t *testing.T) {
	testkit.Parallel(t)
	keyOf := func(key string, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, docs{"events": {event{ID: "old", Day: "d"}}})
		for _, c := range []struct {
			reason string
			change model.ChangeOf[model.Stored[event]]
			want   string
		}{
			{"a value", storeOf(four).Insert(setDay("d", makeEvent(1))), keyOf(four.Key("d", "e1"))},
			{"its key", storeOf(four).Insert(setDay(keyOf(four.Key("d", "e2")), makeEvent(2))),
				keyOf(four.Key("d", "e2"))},
			{"another value", storeOf(four).Set("e1", bson.D{e("day", "x")}), keyOf(four.Key("x", "e1"))},
			{"a value without By", storeOf(chosen).Insert(setDay("d", makeEvent(3))), keyOf(four.Key("d", "e3"))},
			{"a chosen part", storeOf(chosen).Insert(setDay("d#002", makeEvent(4))), "d#002"},
			{"another chosen part", storeOf(chosen).Set("e4", bson.D{e("day", "d#001")}), "d#001"},
			{"the other field", storeOf(byUser).Insert(setDay("d", event{ID: "e5", User: "u"})),
				keyOf(byUser.Key("d", "u"))},
			{"another value of the other field", storeOf(byUser).Set("e5", bson.D{e("user", "w")}),
				keyOf(byUser.Key("d", "w"))},
			{
				reason: "an old document",
				change: storeOf(eight).Edit("old", func(x *event) error { x.Day = "x"; return nil }),
				want:   keyOf(eight.Key("x", "old")),
			},
		} {
			s, _, err := c.change.Run(t.Context(), db)
			if err != nil || s.Doc.Day != c.want {
				t.Errorf("%s: %+v, %v, want %s", c.reason, s.Doc, err, c.want)
			}
		}
	})
}
