package relate_test

import (
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// TestMigrationDeclarations: a mistake is found when the program starts.
func TestMigrationDeclarations(t *testing.T) {
	parallel(t)
	extract := func(spec relate.ExtractSpec[string, int]) {
		relate.NewExtract(blogPosts, "comments", blogRemarks, spec)
	}
	for _, tc := range []struct {
		reason, want string
		declare      func()
	}{
		{"the reference must be declared too", `no field "publisher"`, func() { relate.NewInvert(imprints, "books", volumes, "publisher") }},
		{"the order must exist", `no field "nth"`, func() {
			relate.NewInvert(imprints, "books", volumes, "pub-id", relate.InvertSpec{Order: "nth"})
		}},
		{"fields beside the ids would be lost", "not bare ids", func() {
			relate.NewInvert(blogPosts, "comments.id", blogRemarks, "post")
		}},
		{"a list is no single reference", "not int", func() { relate.NewInvert(imprints, "name", volumes, "pub-id") }},
		{"two specs", "more than one InvertSpec", func() {
			relate.NewInvert(imprints, "books", volumes, "pub-id", relate.InvertSpec{}, relate.InvertSpec{})
		}},
		{"an unknown policy", "none of the policies", func() {
			relate.NewInvert(imprints, "books", volumes, "pub-id", relate.InvertSpec{Shared: 7})
		}},
		{"a negative batch", "BatchSize is negative", func() {
			relate.NewInvert(imprints, "books", volumes, "pub-id", relate.InvertSpec{BatchSize: -1})
		}},
		{"elements need an id", "one of Key and ID", func() { extract(relate.ExtractSpec[string, int]{Parent: "post", Order: "place"}) }},
		{"one side holds the reference", "one of Refs and Parent", func() { extract(relate.ExtractSpec[string, int]{Key: "id"}) }},
		{"elements without ids need a place", "need a place", func() {
			extract(relate.ExtractSpec[string, int]{ID: func(string, int, bson.Raw) (int, error) { return 0, nil }, Parent: "post"})
		}},
		{"a key is a name, not a path", "dot", func() { extract(relate.ExtractSpec[string, int]{Key: "a.id", Parent: "post"}) }},
		{"a mark is a name that can be stored", "dollar", func() {
			extract(relate.ExtractSpec[string, int]{Key: "id", Parent: "post", Mark: "$mark"})
		}},
		{"a field can't be two things", "used twice", func() {
			extract(relate.ExtractSpec[string, int]{Key: "id", Parent: "post", Order: "place", Mark: "place"})
		}},
		{"a single id can't hold an array's", "no place for the ids", func() {
			relate.NewExtract(dwellers, "all", homeAddresses, relate.ExtractSpec[string, int]{Key: "_id", Refs: "at"})
		}},
		{"the ids have an order", "both Refs and Order", func() {
			relate.NewAbsorb(residents, "addresses", homeAddresses, relate.AbsorbSpec{Refs: "addressIds", Order: "street"})
		}},
		{"the ids can't be where the elements go", "one path", func() {
			relate.NewAbsorb(anyParents, "list", anyChildren, relate.AbsorbSpec{Refs: "list"})
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			defer func() {
				err, ok := recover().(*model.DeclarationError)
				if !ok || !strings.Contains(err.Error(), tc.want) || err.Remedy == "" {
					t.Errorf("%v; want %q", err, tc.want)
				}
			}()
			tc.declare()
		})
	}
}

// TestMigrationValues: a migration gives the same each time that it is asked, and what the caller changes in it changes
// nothing else.
func TestMigrationValues(t *testing.T) {
	parallel(t)
	x := newExtract(relate.ExtractSpec[string, int]{Key: "id", Refs: "ids"})
	for name, verify := range map[string]func() model.Aggregate[relate.Mismatch]{
		"to refs": newInvert(relate.InvertSpec{Order: "at"}).ToRefs().Verify, "to lists": newInvert(relate.InvertSpec{}).ToLists().Verify,
		"extract": x.Verify, "absorb": newAbsorb(relate.AbsorbSpec{Parent: "post"}).Verify,
	} {
		first := verify()
		want := first.String()
		if first.Err != nil || len(first.Pipeline) == 0 {
			t.Errorf("%s: %v", name, first.Err)
		}
		clear(first.Pipeline)
		if got := verify().String(); got != want {
			t.Errorf("%s changed: %s", name, got)
		}
	}
	if got := x.Restart().String(); got != "db.getCollection('docmodel.migrations').deleteOne({_id: 'extract: p.list > c'})" {
		t.Error(got)
	}
	indexes := model.Indexes(x, newInvert(relate.InvertSpec{Order: "at"}), newAbsorb(relate.AbsorbSpec{Parent: "post", Order: "at"}))
	want := "db.p.createIndex({ids: 1})\ndb.p.createIndex({list: 1})\n" +
		"db.c.createIndex({'of.parent': 1, at: 1, _id: 1})\ndb.c.createIndex({post: 1, at: 1, _id: 1})\n"
	if got := indexes.String(); got != want {
		t.Errorf("indexes:\n%s", got)
	}
}

// TestMigrationAfter: a pass through two collections can't begin after an _id of one of them.
func TestMigrationAfter(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		x := newExtract(relate.ExtractSpec[string, int]{Key: "id", Refs: "ids"})
		_, err := x.Copy().Run(t.Context(), db, model.JobOptions{After: bson.RawValue{Type: bson.TypeNull}})
		if err == nil || !strings.Contains(err.Error(), "Checkpoint") {
			t.Errorf("%v", err)
		}
		if n, err := db.Collection("docmodel.migrations").CountDocuments(t.Context(), bson.D{}); n != 0 || err != nil {
			t.Errorf("a refused pass wrote %d, %v", n, err)
		}
	})
}
