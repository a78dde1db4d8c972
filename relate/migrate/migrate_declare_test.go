package migrate_test

import (
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/migrate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A crowd has many addresses and one number, which is no place for their ids.
type crowd struct {
	ID  string        `bson:"_id"`
	At  int           `bson:"at,omitempty"`
	All []homeAddress `bson:"all,omitempty"`
}

var crowds = model.NewCollection[crowd, string]("p")

// TestMigrationDeclarations: a mistake is found when the program starts.
func TestMigrationDeclarations(t *testing.T) {
	testkit.Parallel(t)
	extract := func(spec migrate.ExtractSpec[string, int]) {
		migrate.NewExtract(blogPosts, "comments", blogRemarks, spec)
	}
	for _, tc := range []struct {
		reason, want string
		declare      func()
	}{
		{
			reason: "the reference must be declared too", want: `no field "publisher"`,
			declare: func() { migrate.NewInvert(imprints, "books", volumes, "publisher", migrate.InvertSpec{}) },
		},
		{"the order must exist", `no field "nth"`, func() {
			migrate.NewInvert(imprints, "books", volumes, "pub-id", migrate.InvertSpec{Order: "nth"})
		}},
		{"fields beside the ids would be lost", "not bare ids", func() {
			migrate.NewInvert(blogPosts, "comments.id", blogRemarks, "post", migrate.InvertSpec{})
		}},
		{
			reason: "a list is no single reference", want: "not int",
			declare: func() { migrate.NewInvert(imprints, "name", volumes, "pub-id", migrate.InvertSpec{}) },
		},
		{
			reason: "elements need an id", want: "Key and ID are both given or both missing",
			declare: func() { extract(migrate.ExtractSpec[string, int]{Parent: "post", Order: "place"}) },
		},
		{
			reason: "one side holds the reference", want: "Refs and Parent are both given or both missing",
			declare: func() { extract(migrate.ExtractSpec[string, int]{Key: "id"}) },
		},
		{"elements without ids need an order", "need an order", func() {
			extract(migrate.ExtractSpec[string, int]{
				ID:     func(string, int, bson.Raw) (int, error) { return 0, nil },
				Parent: "post",
			})
		}},
		{
			reason: "a key is a name, not a path", want: "dot",
			declare: func() { extract(migrate.ExtractSpec[string, int]{Key: "a.id", Parent: "post"}) },
		},
		{"a mark is a name that can be stored", "dollar", func() {
			extract(migrate.ExtractSpec[string, int]{Key: "id", Parent: "post", Mark: "$mark"})
		}},
		{"a field can't be two things", "used twice", func() {
			extract(migrate.ExtractSpec[string, int]{Key: "id", Parent: "post", Order: "place", Mark: "place"})
		}},
		{"a single id can't hold an array's", "path \"at\" can't hold the ids of \"all\"", func() {
			migrate.NewExtract(crowds, "all", homeAddresses, migrate.ExtractSpec[string, int]{Key: "_id", Refs: "at"})
		}},
		{"the ids have an order", "Refs and Order are both given", func() {
			migrate.NewAbsorb(residents, "addresses", homeAddresses,
				migrate.AbsorbSpec{Refs: "addressIds", Order: "street"})
		}},
		{"the ids can't be where the elements go", "the elements and the ids have the same path", func() {
			migrate.NewAbsorb(model.NewCollection[bson.D, string]("p"), "list", model.NewCollection[bson.D, int]("c"),
				migrate.AbsorbSpec{Refs: "list"})
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
