package childrefs_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/childrefs"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// odd holds what only declarations are tried with.
type odd struct {
	ID    int      `bson:"_id"`
	Nulls []string `bson:"nulls"`
	Rows  []struct {
		Screws []string `bson:"screws"`
	} `bson:"rows,omitempty"`
	Grid  [][]string `bson:"grid,omitempty"`
	Docs  []bson.M   `bson:"docs,omitempty"`
	Any   any        `bson:"any,omitempty"`
	Homes []struct {
		Number int `bson:"number"`
	} `bson:"homes,omitempty"`
	Stamps []int `bson:"stamps,omitempty"`
}

var (
	odds     = model.NewCollection[odd, int]("odds")
	anything = model.NewCollection[bson.D, any]("anything")
)

// A mistake in a declaration panics with what is wrong, where, and what to do.
func TestChildRefsDeclarations(t *testing.T) {
	testkit.Parallel(t)
	testkit.WantDeclarationErrors(t,
		testkit.Wrong(
			"a list that isn't there", func() { childrefs.New(gadgets, "screw", screws) },
			`did you mean "screws"`, "gadgets", "bson tags",
		),
		testkit.Wrong(
			"not even below a field", func() { childrefs.New(folios, "holdings.share", shares) }, `"share"`,
			"folios", "bson tags",
		),
		testkit.Wrong(
			"no list", func() { childrefs.New(gadgets, "name", screws) }, "not an array", "gadgets", "slice",
		),
		testkit.Wrong(
			"below no document", func() { childrefs.New(gadgets, "screws.id", screws) }, `no field "id"`,
			"gadgets", "bson tags",
		),
		testkit.Wrong(
			"a list of another type", func() { childrefs.New(odds, "stamps", screws) }, "int, not string", "odds",
			"string",
		),
		testkit.Wrong(
			"elements whose id is of another type", func() { childrefs.New(odds, "homes.number", screws) },
			"int, not string", "odds", "string",
		),
		testkit.Wrong(
			"the elements instead of their ids", func() { childrefs.New(folios, "holdings", shares) },
			"holding, not int64", "folios", "int64",
		),
		testkit.Wrong(
			"a nil list that is stored as null", func() { childrefs.New(odds, "nulls", screws) }, "null", "odds",
			"omitempty",
		),
		testkit.Wrong(
			"a list within a list", func() { childrefs.New(odds, "rows.screws", screws) }, "crosses 2 arrays",
			"odds", "array",
		),
		testkit.Wrong(
			"a list of lists", func() { childrefs.New(odds, "grid", screws) }, "crosses 2 arrays", "odds",
			"array",
		),
		testkit.Wrong(
			"an _id is no list", func() { childrefs.New(gadgets, "_id", screws) }, "not an array", "gadgets",
			"slice",
		),
		testkit.Wrong(
			"an empty path", func() { childrefs.New(gadgets, "", screws) }, "must not be empty", "gadgets",
			"path",
		),
		testkit.Wrong(
			"a path that is an operator", func() { childrefs.New(anything, "$where", anything) }, "dollar",
			"anything", "path",
		),
		testkit.Wrong(
			"a path with an empty part", func() { childrefs.New(anything, "a..b", anything) },
			"must not be empty", "anything", "path",
		),
		testkit.Wrong(
			"no collection", func() { childrefs.New(&model.Collection[gadget, string]{}, "screws", screws) },
			"zero Collection", "screws", "NewCollection",
		),
		testkit.Wrong(
			"no collection of children",
			func() { childrefs.New(gadgets, "screws", &model.Collection[screw, string]{}) }, "zero Collection",
			"_id", "NewCollection",
		),
	)
}

// What can be declared although little is known of it.
func TestChildRefsDeclarationsThatHold(t *testing.T) {
	testkit.Parallel(t)
	filled := model.NewCollectionWith[odd, int](
		"odds", model.CollectionOptions{BSON: &options.BSONOptions{NilSliceAsEmpty: true}},
	)
	for reason, declare := range map[string]func(){
		"a nil slice that the options store as empty": func() { childrefs.New(filled, "nulls", screws) },
		"documents of any form":                       func() { childrefs.New(anything, "refs", anything) },
		"elements of any form":                        func() { childrefs.New(odds, "docs.id", screws) },
		"a field of any form":                         func() { childrefs.New(odds, "any", screws) },
	} {
		t.Run(reason, func(t *testing.T) {
			if err := testkit.PanicOf(declare); err != nil {
				t.Error(err)
			}
		})
	}
	rows := childrefs.New(odds, "docs.id", screws)
	if got, want := rows.AddElement(
		1, bson.M{"id": "a"},
	).String(), "db.odds.updateOne({_id: 1, 'docs.id': {$ne: 'a'}}, {$push: {docs: {id: 'a'}}})"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for reason, element := range map[string]any{
		"a modifier of $push is no element":      bson.M{"$each": bson.A{}, "id": "a"},
		"nor is a modifier further down":         bson.M{"id": "a", "in": bson.M{"$slice": 0}},
		"a name with a dot can't be found again": bson.M{"id": "a", "b.c": 1},
		"the id is missing":                      bson.M{"name": "a"},
		"the id is empty":                        bson.M{"id": ""},
		"the id is of another type":              bson.M{"id": 5},
		"the id is null":                         bson.M{"id": nil},
	} {
		t.Run(reason, func(t *testing.T) { testkit.WantError(t, rows.AddElement(1, element).Err, testkit.ErrRefused) })
	}
}

// A refusal names the collection that holds the field, and the field.
func TestChildRefsRefusals(t *testing.T) {
	testkit.Parallel(t)
	tests := []struct {
		reason            string
		err               error
		collection, field string
	}{
		{"an id of a list", uses.Add("g", "").Err, "gadgets", "screws"},
		{"an id of an element", holds.AddElement(bson.ObjectID{}, holding{ShareID: 1}).Err, "folios", "_id"},
		{"the parent", uses.Add("", "a").Err, "gadgets", "_id"},
		{"no id at all", uses.Remove("g").Err, "gadgets", "screws"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var bad *model.ValueError
			if !errors.As(test.err, &bad) || bad.Collection != test.collection || bad.Field != test.field {
				t.Errorf("%v, want one about %s of %s", test.err, test.field, test.collection)
			}
		})
	}
}
