package model_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

type sticker struct {
	ID    int      `bson:"_id"`
	Kind  string   `bson:"kind,omitempty"`
	Tags  []string `bson:"tags,omitempty"`
	Parts []struct {
		Size int `bson:"size"`
	} `bson:"parts,omitempty"`
}

var stickers = model.NewCollection[sticker, int]("stickers")

func TestDistinct(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, doc := range []bson.D{
			{{Key: "_id", Value: 1}, {Key: "kind", Value: "a"}, {Key: "tags", Value: bson.A{"x", "y"}}},
			{{Key: "_id", Value: 2}, {Key: "kind", Value: "b"}, {Key: "tags", Value: bson.A{"y", "z"}}},
			{
				{Key: "_id", Value: 3}, {Key: "kind", Value: "a"},
				{Key: "parts", Value: bson.A{bson.D{{Key: "size", Value: 4}}, bson.D{{Key: "size", Value: 5}}}},
			},
			{{Key: "_id", Value: 4}},
		} {
			if _, err := db.Collection("stickers").InsertOne(t.Context(), doc); err != nil {
				t.Fatal(err)
			}
		}
		below := model.Scope{Filter: bson.D{{Key: "_id", Value: bson.D{{Key: "$lt", Value: 2}}}}}.On(db)
		for _, c := range []struct {
			what string
			on   model.DB
			find *model.Find[sticker]
			path string
			want []string
		}{
			{"a field", db, stickers.Find(nil), "kind", []string{"a", "b"}},
			{"elements of an array", db, stickers.Find(nil), "tags", []string{"x", "y", "z"}},
			{"with a filter", db, stickers.Find(bson.D{{Key: "kind", Value: "b"}}), "tags", []string{"y", "z"}},
			{"sorted", db, stickers.Find(nil).Sorted(bson.D{{Key: "kind", Value: -1}}), "kind", []string{"a", "b"}},
			{"of a scope", below, stickers.Find(nil), "tags", []string{"x", "y"}},
			{"of no document", db, stickers.Find(bson.D{{Key: "kind", Value: "c"}}), "tags", []string{}},
		} {
			var got []string
			err := c.find.Distinct(t.Context(), c.on, c.path, &got)
			if slices.Sort(got); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, %v", c.what, got, err)
			}
		}
		var sizes []int
		if err := stickers.Find(nil).Distinct(t.Context(), db, "parts.size", &sizes); err != nil || len(sizes) != 2 {
			t.Errorf("in elements of an array: %v, %v", sizes, err)
		}
		if err := stickers.Find(nil).Distinct(t.Context(), db, "kind", &sizes); err == nil {
			t.Error("strings were decoded as numbers")
		}
	})
}

func TestDistinctRefused(t *testing.T) {
	db := mongotest.NewClient(t).Database("test")
	skipped, let := stickers.Find(nil), stickers.Find(nil)
	skipped.Skip, let.Options.Let = 1, bson.D{{Key: "x", Value: 1}}
	for what, err := range map[string]error{
		"an unknown path": stickers.Find(nil).Distinct(t.Context(), db, "knd", new([]string)),
		"no path":         stickers.Find(nil).Distinct(t.Context(), db, "", new([]string)),
		"no slice":        stickers.Find(nil).Distinct(t.Context(), db, "kind", new(string)),
		"nil":             stickers.Find(nil).Distinct(t.Context(), db, "kind", nil),
		"an expression":   stickers.Find(nil).Distinct(t.Context(), db, "$kind", new([]string)),
		"a limit":         stickers.Find(nil).Limited(1).Distinct(t.Context(), db, "kind", new([]string)),
		"a skip":          skipped.Distinct(t.Context(), db, "kind", new([]string)),
		"variables":       let.Distinct(t.Context(), db, "kind", new([]string)),
		"a wrong filter":  stickers.Find(bson.D{{Key: "knd", Value: 1}}).Distinct(t.Context(), db, "kind", new([]string)),
	} {
		if !errors.As(err, new(*model.ValueError)) {
			t.Errorf("%s: %v", what, err)
		}
	}
	find := stickers.Find(nil)
	find.Options.Collation = &options.Collation{Locale: "en", Strength: 1}
	if err := find.Distinct(t.Context(), db, "kind", new([]string)); err != nil {
		t.Error(err)
	}
}
