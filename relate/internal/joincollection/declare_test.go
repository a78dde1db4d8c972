package joincollection_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
)

func TestNewJoinCollectionPanics(t *testing.T) {
	testkit.Parallel(t)
	type key struct {
		A string `bson:"a"`
	}
	type within struct {
		ID key      `bson:"_id"`
		B  string   `bson:"b"`
		Bs []string `bson:"bs,omitempty"`
	}
	ws := model.NewCollection[within, key]("ws")
	for _, c := range []struct {
		reason, want string
		declare      func()
	}{
		{
			"a path that isn't there", `did you mean "user"`,
			func() { relate.NewJoinCollection(likings, "usr", fans, "item", things, relate.JoinCollectionSpec{}) },
		},
		{
			"another type of id", "path \"item\" holds values of type int64, not string",
			func() { relate.NewJoinCollection(likings, "item", fans, "user", things, relate.JoinCollectionSpec{}) },
		},
		{
			"one path twice", "overlap",
			func() { relate.NewJoinCollection(ws, "b", fans, "b", fans, relate.JoinCollectionSpec{}) },
		},
		{
			"an end within _id", "path \"_id.a\" is in the _id",
			func() { relate.NewJoinCollection(ws, "_id.a", fans, "b", fans, relate.JoinCollectionSpec{}) },
		},
		{
			"a list of ends", "crosses an array",
			func() { relate.NewJoinCollection(ws, "bs", fans, "b", fans, relate.JoinCollectionSpec{}) },
		},
		{"an order that isn't there", "no field", func() {
			relate.NewJoinCollection(likings, "user", fans, "item", things, relate.JoinCollectionSpec{By: "time"})
		}},
		{"an order by an end", "one of the ids", func() {
			relate.NewJoinCollection(likings, "user", fans, "item", things, relate.JoinCollectionSpec{By: "user"})
		}},
		{"an order by a list", "crosses an array", func() {
			relate.NewJoinCollection(ws, "b", fans, "bs", fans, relate.JoinCollectionSpec{})
		}},
		{"the zero collection", "zero Collection", func() {
			relate.NewJoinCollection(
				likings, "user", &model.Collection[fan, string]{}, "item", things, relate.JoinCollectionSpec{},
			)
		}},
	} {
		testkit.WantPanic(t, c.reason, c.want, c.declare)
	}
}
