package joincollection_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/joincollection"
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
			func() { joincollection.New(likings, "usr", fans, "item", things, joincollection.Spec{}) },
		},
		{
			"another type of id", "path \"item\" holds values of type int64, not string",
			func() { joincollection.New(likings, "item", fans, "user", things, joincollection.Spec{}) },
		},
		{
			"one path twice", "overlap",
			func() { joincollection.New(ws, "b", fans, "b", fans, joincollection.Spec{}) },
		},
		{
			"an end within _id", "path \"_id.a\" is in the _id",
			func() { joincollection.New(ws, "_id.a", fans, "b", fans, joincollection.Spec{}) },
		},
		{
			"a list of ends", "crosses an array",
			func() { joincollection.New(ws, "bs", fans, "b", fans, joincollection.Spec{}) },
		},
		{"an order that isn't there", "no field", func() {
			joincollection.New(likings, "user", fans, "item", things, joincollection.Spec{By: "time"})
		}},
		{"an order by an end", "one of the ids", func() {
			joincollection.New(likings, "user", fans, "item", things, joincollection.Spec{By: "user"})
		}},
		{"an order by a list", "crosses an array", func() {
			joincollection.New(ws, "b", fans, "bs", fans, joincollection.Spec{})
		}},
		{"the zero collection", "zero Collection", func() {
			joincollection.New(
				likings, "user", &model.Collection[fan, string]{}, "item", things, joincollection.Spec{},
			)
		}},
	} {
		testkit.WantPanic(t, c.reason, c.want, c.declare)
	}
}
