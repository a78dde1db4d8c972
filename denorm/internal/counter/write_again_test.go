package counter_test

import (
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
)

// An operation that is run again after another one changes nothing, whichever fields it
// sets, and whether they change a number or not: the parent that the child names
// remembers it.
func TestCounterSpentForAllFields(t *testing.T) {
	tenancy.Differs(t, "an _id that was deleted stays taken")
	parallel(t)
	type change = model.Change[any]
	set := func(op int, fields ...bson.E) change { return fully.Set("1", fields, token(op)) }
	draft := volume{ID: "1", House: "a", Pages: 10, State: "draft"}
	for _, test := range []struct {
		reason       string
		child        volume
		again, after change
		house, title string
		gone         bool
	}{
		{reason: "a move with a field that isn't counted, which another set sets", child: volumeOf("1", "a", 10),
			again: set(1, e("house", "b"), e("title", "first")), after: set(2, e("title", "second")), house: "b", title: "second"},
		{reason: "a field that isn't counted", child: volumeOf("1", "a", 10),
			again: set(1, e("title", "first")), after: set(2, e("title", "second")), house: "a", title: "second"},
		{reason: "a number that is what it was, and a field that isn't counted", child: volumeOf("1", "a", 10),
			again: set(1, e("pages", 10), e("title", "first")), after: set(2, e("title", "second")), house: "a", title: "second"},
		{reason: "a child for which the condition doesn't hold", child: draft,
			again: set(1, e("title", "first")), after: set(2, e("title", "second")), house: "a", title: "second"},
		{reason: "the condition held, and doesn't any more", child: volumeOf("1", "a", 10),
			again: set(1, e("state", "draft"), e("title", "first")), after: set(2, e("title", "second")), house: "a", title: "second"},
		{reason: "a move of a child that doesn't count", child: draft,
			again: set(1, e("house", "b"), e("title", "first")), after: set(2, e("title", "second")), house: "b", title: "second"},
		{reason: "an insert of a child that doesn't count, which is changed", child: volumeOf("2", "a", 10),
			again: fully.Insert(draft, token(1)), after: set(2, e("title", "second")), house: "a", title: "second"},
		{reason: "an insert of a child that doesn't count, which is deleted", child: volumeOf("2", "a", 10),
			again: fully.Insert(draft, token(1)), after: fully.Delete("1", token(2)), gone: true},
		{reason: "a delete of a child that doesn't count, which is stored again", child: draft,
			again: fully.Delete("1", token(1)), after: fully.Insert(draft, token(2)), house: "a"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			bothWays(t, func(t *testing.T, db *mongo.Database, way model.DB) {
				if err := seedHouses(t.Context(), db, test.child); err != nil {
					t.Fatal(err)
				}
				mustCount(t, way, test.again, test.after)
				before, _ := modeltest.Dump(t.Context(), db)
				_, result, err := test.again.Run(t.Context(), way)
				if err != nil && !test.gone {
					t.Errorf("%v", err)
				}
				if result.Modified() != 0 && !test.gone {
					t.Errorf("the result doesn't say that it was done before: %+v", result)
				}
				if after, _ := modeltest.Dump(t.Context(), db); after != before {
					t.Errorf("run again changed:\n%s\nfrom\n%s", after, before)
				}
				all, err := volumes.Find(bson.D{e("_id", "1")}).All(t.Context(), db)
				if err != nil || (len(all) == 0) != test.gone || !test.gone && (all[0].House != test.house || all[0].Title != test.title) {
					t.Errorf("%+v, %v", all, err)
				}
				wantAgreed(t, db, fully)
			})
		})
	}
}
