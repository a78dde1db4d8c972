package model_test

import (
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// textSearches are pipelines whose first stage searches text. The document 1 of each
// tenant matches, and the document 2 doesn't.
func textSearches() map[string]mongo.Pipeline {
	text := d("$text", d("$search", "oak"))
	return map[string]mongo.Pipeline{
		"alone":          {d("$match", text)},
		"with a field":   {d("$match", d("$text", d("$search", "oak"), "x", 1))},
		"within $and":    {d("$match", d("$and", bson.A{d("x", 1), text}))},
		"encoded":        {d("$match", raw(d("$and", bson.A{text})))},
		"before a stage": {d("$match", text), d("$sort", d("_id", 1)), d("$limit", 2)},
		"before a $lookup": {
			d("$match", text),
			d("$lookup", d("from", "parts", "as", "same", "pipeline", mongo.Pipeline{d("$match", d("x", 1))})),
		},
		"before a $facet": {
			d("$match", text),
			d("$facet", d("a", mongo.Pipeline{d("$limit", 5)})),
			d("$unwind", "$a"), d("$replaceWith", "$a"),
		},
		"with the tenant":    {d("$match", d("$text", d("$search", "oak"), "tenant", "a"))},
		"of another's words": {d("$match", d("$text", d("$search", "oak elm")))},
	}
}

// A scope's condition joins a $match that searches text, because the server accepts the search only in the first stage.
func TestScopeTextSearch(t *testing.T) {
	tenancy.Differs(t, "it has tenants of its own")
	db := mongotest.NewClient(t).Database("x")
	ctx := t.Context()
	if _, err := db.Collection("parts").InsertMany(ctx, []any{
		d("_id", int32(1), "tenant", "a", "x", 1, "says", "an oak"),
		d("_id", int32(2), "tenant", "a", "x", 1, "says", "a fir"),
		d("_id", int32(3), "tenant", "b", "x", 1, "says", "an oak and an elm"),
		d("_id", int32(4), "tenant", "a", "x", 1, "says", "an oak", "gone", true),
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Collection("parts").Indexes().CreateOne(ctx, mongo.IndexModel{Keys: d("says", "text")}); err != nil {
		t.Fatal(err)
	}
	outer := model.Scope{Tenant: d("tenant", "a")}.On(db)
	both := model.Scope{Delete: d("gone", true)}.On(outer)
	for name, pipeline := range textSearches() {
		for on, want := range map[model.DB][]int32{outer: {1, 4}, both: {1}} {
			ids, err := idsOf(anyParts.Aggregate(pipeline).All(ctx, on))
			if slices.Sort(ids); err != nil || !slices.Equal(ids, want) {
				t.Errorf("%s: found %v, %v, want %v", name, ids, err, want)
			}
		}
	}
}
