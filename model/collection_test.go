package model_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"

	"github.com/docmodel/docmodel/internal/core"
)

type (
	noID    struct{ Name string }
	sliceID struct {
		ID []string `bson:"_id"`
	}
	skipID struct {
		ID string `bson:"-"`
	}
	twiceName struct {
		ID   string `bson:"_id"`
		A, B string `bson:"x"`
	}
	badInline struct {
		ID string `bson:"_id"`
		N  int    `bson:",inline"`
	}
	twoMaps struct {
		ID   string         `bson:"_id"`
		A, B map[string]any `bson:",inline"`
	}
	inItself struct {
		ID    string     `bson:"_id"`
		Inner *inItself2 `bson:",inline"`
	}
	inItself2 struct {
		Again *inItself2 `bson:",inline"`
	}
)

func TestNewCollectionPanics(t *testing.T) {
	for _, c := range []struct {
		declare      func()
		want, reason string
	}{
		{func() { model.NewCollection[part, int32]("") }, "needs a name", "no name"},
		{func() { model.NewCollection[part, int32]("a$b") }, "dollar sign", "the server refuses dollar signs"},
		{func() { model.NewCollection[part, int32]("a\x00") }, "NUL", "NUL ends a name"},
		{func() { model.NewCollection[part, int32]("system.users") }, "reserved by the server", "reserved by the server"},
		{func() { model.NewCollection[part, int32](".a") }, "dot", "a leading dot"},
		{func() { model.NewCollection[part, int32]("a.") }, "dot", "a trailing dot"},
		{func() { parts.Named("") }, "needs a name", "Named checks too"},
		{func() { model.NewCollection[int, int]("x") }, "n't stored as a document", "a scalar as document"},
		{func() { model.NewCollection[time.Time, string]("x") }, "n't stored as a document", "a struct that is a scalar"},
		{func() { model.NewCollection[[]part, int32]("x") }, "n't stored as a document", "a slice as document"},
		{func() { model.NewCollection[bson.A, string]("x") }, "n't stored as a document", "an array as document"},
		{func() { model.NewCollection[noID, string]("x") }, `no field "_id"`, "no _id"},
		{func() { model.NewCollection[skipID, string]("x") }, `no field "_id"`, "the _id is not stored"},
		{func() { model.NewCollection[part, string]("x") }, "int32, not string", "an _id of another type"},
		{func() { model.NewCollection[part, any]("x") }, "int32, not interface", "K is the type, not one that it satisfies"},
		{func() { model.NewCollection[sliceID, string]("x") }, "can't be an array", "an array of K as _id"},
		{func() { model.NewCollection[sliceID, []string]("x") }, "can't be an array", "an array as _id"},
		{func() { model.NewCollection[bson.D, []string]("x") }, "can't be an array", "an array as _id of an open document"},
		{
			declare: func() { model.NewCollection[twiceName, string]("x") },
			want:    `two fields as "x"`, reason: "the driver refuses it at the first insert",
		},
		{
			declare: func() { model.NewCollection[badInline, string]("x") },
			want:    "can be inlined", reason: "the driver refuses it at the first insert",
		},
		{func() { model.NewCollection[twoMaps, string]("x") }, "can be inlined", "the driver refuses it at the first insert"},
		{func() { model.NewCollection[inItself, string]("x") }, "contains itself inline", "the driver overflows its stack"},
		{func() { (&model.Collection[part, int32]{}).Docs().MustField("name") }, "zero Collection", "the zero Collection"},
		{
			declare: func() { core.NewReader[int64](parts.Docs(), "qty") },
			want:    "holds values of type int32, not int64", reason: "a reader of another type",
		},
	} {
		e := catch(t, c.declare)
		if e == nil || !strings.Contains(e.Problem, c.want) {
			t.Errorf("want a panic with %q, got %v: %s", c.want, e, c.reason)
		}
	}
	for _, name := range []string{"a.b", "a b", "_x", "é", "0"} {
		if e := catch(t, func() { parts.Named(name) }); e != nil {
			t.Errorf("Named(%q): %v; MongoDB takes it", name, e)
		}
	}
	model.NewCollection[*part, int32]("pointers to documents are documents")
	model.NewCollection[map[string]any, any]("maps too")
}
