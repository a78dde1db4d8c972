package found_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/model"
)

type row struct {
	ID     string        `bson:"_id"`
	Stored bson.RawValue `bson:"stored"`
}

func findingOf(t *testing.T, check string, doc any) model.Finding {
	t.Helper()
	detail, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return model.Finding{Check: check, Detail: detail}
}

// mendRows writes what was stored, and nothing for the row "skip".
func mendRows(list []row) model.Plan {
	return found.PlanWrites(list, "some are mended", func(i int, r row) model.Write {
		switch {
		case r.ID == "skip":
			return model.Write{Collection: "books"}
		case r.Stored.Type == 0:
			return found.RefuseFinding("books", i, "stored")
		}
		return model.Write{
			Collection: "books",
			Model: &mongo.UpdateOneModel{
				Filter: bson.D{{Key: "_id", Value: r.ID}},
				Update: bson.D{{Key: "$set", Value: bson.D{{Key: "was", Value: r.Stored}}}},
			},
		}
	})
}

// A finding that isn't of the check, or that was changed, refuses the whole plan.
func TestMendRowsRefuses(t *testing.T) {
	mend := found.MendRows("books: wrong", "books", mendRows)
	good := findingOf(t, "books: wrong", bson.D{{Key: "_id", Value: "a"}, {Key: "stored", Value: 1}})
	for _, c := range []struct {
		what string
		bad  model.Finding
	}{
		{"another check", findingOf(t, "books: lost", bson.D{{Key: "_id", Value: "b"}, {Key: "stored", Value: 1}})},
		{"another type", findingOf(t, "books: wrong", bson.D{{Key: "_id", Value: 7}, {Key: "stored", Value: 1}})},
		{"bytes that are cut off", model.Finding{Check: "books: wrong", Detail: good.Detail[:5]}},
		{"a missing value", findingOf(t, "books: wrong", bson.D{{Key: "_id", Value: "b"}})},
	} {
		var bad *model.ValueError
		p := mend([]model.Finding{good, c.bad})
		if err := p.Err(); !errors.As(err, &bad) || bad.Field != "found[1]" || bad.Collection != "books" {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// A plan outlives the findings that it was made of.
func TestMendRows(t *testing.T) {
	good := findingOf(t, "books: wrong", bson.D{{Key: "_id", Value: "a"}, {Key: "stored", Value: int32(1)}})
	none := findingOf(t, "books: wrong", bson.D{{Key: "_id", Value: "skip"}, {Key: "stored", Value: int32(1)}})
	p := found.MendRows("books: wrong", "books", mendRows)([]model.Finding{good, none})
	clear(good.Detail)
	const want = "db.books.updateOne({_id: 'a'}, {$set: {was: 1}})"
	if got := p.String(); p.Err() != nil || got != want {
		t.Errorf("%s, %v, want %s", got, p.Err(), want)
	}
}

// A repair by _id writes only to documents that the check would still find.
func TestMendMatching(t *testing.T) {
	update := mongo.UpdateOneModel{Update: bson.D{{Key: "$unset", Value: bson.D{{Key: "n", Value: ""}}}}}
	is := bson.D{{Key: "n", Value: bson.D{{Key: "$lt", Value: 0}}}}
	mend := found.MendMatching("books: below 0", "books", is, "some are mended", update)
	p := mend([]model.Finding{
		findingOf(t, "books: below 0", bson.D{{Key: "_id", Value: "a"}}),
		findingOf(t, "books: below 0", bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: ""}}}}),
	})
	const want = "db.books.updateOne({_id: 'a', n: {$lt: 0}}, {$unset: {n: ''}})\n" +
		"db.books.updateOne({_id: {$eq: {$gt: ''}}, n: {$lt: 0}}, {$unset: {n: ''}})"
	if got := p.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if p := mend([]model.Finding{findingOf(t, "books: below 0", bson.D{})}); p.Err() == nil {
		t.Error("a finding without an _id")
	}
}
