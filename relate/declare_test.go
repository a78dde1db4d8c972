package relate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
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
	Grid    [][]string `bson:"grid,omitempty"`
	Docs    []bson.M   `bson:"docs,omitempty"`
	Any     any        `bson:"any,omitempty"`
	Servers []string   `bson:"servers,omitempty"`
	Homes   []struct {
		Server string `bson:"server"`
		Number int    `bson:"number"`
	} `bson:"homes,omitempty"`
	Stamps  []int              `bson:"stamps,omitempty"`
	Links   []relate.Link[int] `bson:"links,omitempty"`
	Server  string             `bson:"server"`
	Stamp   int                `bson:"stamp"`
	Pointer *string            `bson:"pointer,omitempty"`
	In      struct {
		Server string `bson:"server"`
	} `bson:"in"`
}

var (
	odds     = model.NewCollection[odd, int]("odds")
	anything = model.NewCollection[bson.D, any]("anything")
)

// A mistake in a declaration panics with what is wrong, where, and what to do.
func TestDeclarations(t *testing.T) {
	parallel(t)
	spec := func(by string) relate.ParentRefSpec { return relate.ParentRefSpec{By: by} }
	tests := []struct {
		reason              string
		declare             func()
		problem, at, remedy string // a part of each
	}{
		{"a list that isn't there", func() { relate.NewChildRefs(gadgets, "screw", screws) }, `did you mean "screws"`, "gadgets", "bson tags"},
		{"not even below a field", func() { relate.NewChildRefs(folios, "holdings.share", shares) }, `"share"`, "folios", "bson tags"},
		{"no list", func() { relate.NewChildRefs(gadgets, "name", screws) }, "not an array", "gadgets", "slice"},
		{"below no document", func() { relate.NewChildRefs(gadgets, "screws.id", screws) }, `no field "id"`, "gadgets", "bson tags"},
		{"a list of another type", func() { relate.NewChildRefs(odds, "stamps", screws) }, "int, not string", "odds", "string"},
		{"elements whose id is of another type", func() { relate.NewChildRefs(odds, "homes.number", screws) }, "int, not string", "odds", "string"},
		{"the elements instead of their ids", func() { relate.NewChildRefs(folios, "holdings", shares) }, "holding, not int64", "folios", "int64"},
		{"a nil list that is stored as null", func() { relate.NewChildRefs(odds, "nulls", screws) }, "null", "odds", "omitempty"},
		{"a list within a list", func() { relate.NewChildRefs(odds, "rows.screws", screws) }, "crosses 2 arrays", "odds", "array"},
		{"a list of lists", func() { relate.NewChildRefs(odds, "grid", screws) }, "crosses 2 arrays", "odds", "array"},
		{"an _id is no list", func() { relate.NewChildRefs(gadgets, "_id", screws) }, "not an array", "gadgets", "slice"},
		{"an empty path", func() { relate.NewChildRefs(gadgets, "", screws) }, "must not be empty", "gadgets", "path"},
		{"a path that is an operator", func() { relate.NewChildRefs(anything, "$where", anything) }, "dollar", "anything", "path"},
		{"a path with an empty part", func() { relate.NewChildRefs(anything, "a..b", anything) }, "must not be empty", "anything", "path"},
		{"no collection", func() { relate.NewChildRefs(&model.Collection[gadget, string]{}, "screws", screws) }, "zero Collection", "screws", "NewCollection"},
		{"no collection of children", func() { relate.NewChildRefs(gadgets, "screws", &model.Collection[screw, string]{}) }, "zero Collection", "_id", "NewCollection"},

		{"a reference that isn't there", func() { relate.NewParentRef(entries, "sever", servers) }, `did you mean "server"`, "entries", "bson tags"},
		{"a reference of another type", func() { relate.NewParentRef(odds, "stamp", servers) }, "int, not string", "odds", "string"},
		{"a list of references", func() { relate.NewParentRef(odds, "servers", servers) }, "crosses an array", "odds", "NewChildRefs"},
		{"a reference in a list", func() { relate.NewParentRef(odds, "homes.server", servers) }, "crosses an array", "odds", "NewChildRefs"},
		{"an order that isn't there", func() { relate.NewParentRef(entries, "server", servers, spec("when")) }, `"when"`, "entries", "bson tags"},
		{"an order by a list", func() { relate.NewParentRef(odds, "server", servers, spec("stamps")) }, "crosses an array", "odds", "single"},
		{"an order by the reference itself", func() { relate.NewParentRef(entries, "server", servers, spec("server")) }, "the reference", "entries", "differ"},
		{"two specs", func() { relate.NewParentRef(entries, "server", servers, spec(""), spec("at")) }, "more than one", "entries", "one"},
		{"an _id can't change its value", func() { relate.NewParentRef(servers, "_id", servers) }, "can't change", "servers", "own"},
		{"no collection of parents", func() { relate.NewParentRef(entries, "server", &model.Collection[server, string]{}) }, "zero Collection", "_id", "NewCollection"},
		{"no collection of their own", func() { relate.NewParentRef(&model.Collection[entry, int]{}, "server", servers) }, "zero Collection", "server", "NewCollection"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			err := panicOf(test.declare)
			var d *model.DeclarationError
			if !errors.As(err, &d) {
				t.Fatalf("panicked with %v, want a *model.DeclarationError", err)
			}
			for _, part := range []struct{ what, text, want string }{
				{"problem", d.Problem, test.problem}, {"place", d.Place, test.at}, {"remedy", d.Remedy, test.remedy},
			} {
				if !strings.Contains(part.text, part.want) {
					t.Errorf("%s %q doesn't say %q", part.what, part.text, part.want)
				}
			}
		})
	}
}

func panicOf(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

// What can be declared although little is known of it.
func TestDeclarationsThatHold(t *testing.T) {
	parallel(t)
	empty := true
	filled := model.NewCollection[odd, int]("odds", model.CollectionOptions{BSON: &options.BSONOptions{NilSliceAsEmpty: empty}})
	for reason, declare := range map[string]func(){
		"a nil slice that the options store as empty": func() { relate.NewChildRefs(filled, "nulls", screws) },
		"documents of any form":                       func() { relate.NewChildRefs(anything, "refs", anything) },
		"elements of any form":                        func() { relate.NewChildRefs(odds, "docs.id", screws) },
		"a field of any form":                         func() { relate.NewChildRefs(odds, "any", screws) },
		"a reference by pointer":                      func() { relate.NewParentRef(odds, "pointer", servers) },
		"a reference below a field":                   func() { relate.NewParentRef(odds, "in.server", servers) },
		"an order by _id, said":                       func() { relate.NewParentRef(entries, "server", servers, relate.ParentRefSpec{By: "_id"}) },
		"children that are parents":                   func() { relate.NewParentRef(servers, "rack", servers) },
	} {
		t.Run(reason, func(t *testing.T) {
			if err := panicOf(declare); err != nil {
				t.Error(err)
			}
		})
	}
	rows := relate.NewChildRefs(odds, "docs.id", screws)
	if got, want := rows.AddElement(1, bson.M{"id": "a"}).String(), "db.odds.updateOne({_id: 1, 'docs.id': {$ne: 'a'}}, {$push: {docs: {id: 'a'}}})"; got != want {
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
		t.Run(reason, func(t *testing.T) { wantError(t, rows.AddElement(1, element).Err, errRefused) })
	}
}

// A refusal names the collection that holds the field, and the field.
func TestRefusalsNameTheField(t *testing.T) {
	parallel(t)
	tests := []struct {
		reason            string
		err               error
		collection, field string
	}{
		{"an id of a list", uses.Add("g", "").Err, "gadgets", "screws"},
		{"an id of an element", holds.AddElement(bson.ObjectID{}, holding{ShareID: 1}).Err, "folios", "_id"},
		{"the parent", uses.Add("", "a").Err, "gadgets", "_id"},
		{"a parent's id", writes.Move(1, "a", "").Err, "entries", "server"},
		{"the parents' ids", writes.Counts("").Err, "entries", "server"},
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
