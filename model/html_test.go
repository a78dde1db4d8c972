package model_test

import (
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// indexed is a technique that is its relations and indexes.
type indexed struct {
	ties
	indexes []model.Index
}

func (x indexed) Indexes() []model.Index { return x.indexes }

// modelNamed is a model of three collections, whose names and texts end in s.
func modelNamed(s string) *model.Model {
	unique := model.NewIndex("b"+s, bson.D{{Key: "of" + s, Value: 1}})
	unique.Unique, unique.Why = true, "finds "+s
	partial := model.NewIndex("b"+s, bson.D{{Key: "of" + s, Value: -1}, {Key: "at", Value: 1}})
	partial.Partial, partial.ExpireAfter = bson.D{{Key: "state", Value: s}}, -1
	return model.New("named"+s, indexed{ties{
		{
			From: "a" + s, FromPath: "up" + s, To: "a" + s, ToPath: "_id", FromEnd: model.Many, ToEnd: model.ZeroOrOne,
			Label: "up" + s + "?",
		},
		{
			From: "b" + s, FromPath: "of" + s, To: "a" + s, ToPath: "_id", FromEnd: model.Many, ToEnd: model.ExactlyOne,
			Label: "of" + s + "?",
		},
		{
			From: "c" + s, FromPath: "of" + s, To: "b" + s, ToPath: "_id", FromEnd: model.ZeroOrOne, ToEnd: model.ExactlyOne,
			Label: "of" + s + "?",
		},
	}, []model.Index{unique, partial, model.NewIndex("b"+s, bson.D{{Key: "_id", Value: 1}})}})
}

func TestHTML(t *testing.T) {
	html := modelNamed("").HTML()
	testkit.PageShape(t, html)
	golden(t, "model.html", html)
	if again := modelNamed("").HTML(); again != html {
		t.Error("two pages of one model differ")
	}
	testkit.PageShape(t, model.New("empty").HTML())
}

func TestHTMLHostileNames(t *testing.T) {
	want := testkit.PageShape(t, modelNamed("x").HTML())
	for _, s := range testkit.HostileTexts {
		if got := testkit.PageShape(t, modelNamed(s).HTML()); !slices.Equal(got, want) {
			t.Errorf("%q changes the page:\n%s", s, cmp.Diff(want, got))
		}
	}
}
