package parentref_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/parentref"
)

// odd holds what only declarations are tried with.
type odd struct {
	ID      int      `bson:"_id"`
	Servers []string `bson:"servers,omitempty"`
	Homes   []struct {
		Server string `bson:"server"`
	} `bson:"homes,omitempty"`
	Stamps  []int   `bson:"stamps,omitempty"`
	Server  string  `bson:"server"`
	Stamp   int     `bson:"stamp"`
	Pointer *string `bson:"pointer,omitempty"`
	In      struct {
		Server string `bson:"server"`
	} `bson:"in"`
}

var odds = model.NewCollection[odd, int]("odds")

// A mistake in a declaration panics with what is wrong, where, and what to do.
func TestParentRefDeclarations(t *testing.T) {
	testkit.Parallel(t)
	spec := func(by string) parentref.Spec { return parentref.Spec{By: by} }
	testkit.WantDeclarationErrors(t,
		testkit.Wrong(
			"a reference that isn't there",
			func() { parentref.New(entries, "sever", servers, parentref.Spec{}) }, `did you mean "server"`,
			"entries", "bson tags",
		),
		testkit.Wrong(
			"a reference of another type",
			func() { parentref.New(odds, "stamp", servers, parentref.Spec{}) }, "int, not string", "odds",
			"string",
		),
		testkit.Wrong(
			"a list of references", func() { parentref.New(odds, "servers", servers, parentref.Spec{}) },
			"crosses an array", "odds", "childrefs.New",
		),
		testkit.Wrong(
			"a reference in a list",
			func() { parentref.New(odds, "homes.server", servers, parentref.Spec{}) }, "crosses an array",
			"odds", "childrefs.New",
		),
		testkit.Wrong(
			"an order that isn't there", func() { parentref.New(entries, "server", servers, spec("when")) },
			`"when"`, "entries", "bson tags",
		),
		testkit.Wrong(
			"an order by a list", func() { parentref.New(odds, "server", servers, spec("stamps")) },
			"crosses an array", "odds", "single",
		),
		testkit.Wrong(
			"an order by the reference itself",
			func() { parentref.New(entries, "server", servers, spec("server")) }, "the reference", "entries",
			"differ",
		),
		testkit.Wrong(
			"an _id can't change its value",
			func() { parentref.New(servers, "_id", servers, parentref.Spec{}) }, "can't change", "servers",
			"another field",
		),
		testkit.Wrong("no collection of parents", func() {
			parentref.New(entries, "server", &model.Collection[server, string]{}, parentref.Spec{})
		}, "zero Collection", "_id", "NewCollection"),
		testkit.Wrong("no collection of their own", func() {
			parentref.New(&model.Collection[entry, int]{}, "server", servers, parentref.Spec{})
		}, "zero Collection", "server", "NewCollection"),
	)
}

// What can be declared although little is known of it.
func TestParentRefDeclarationsThatHold(t *testing.T) {
	testkit.Parallel(t)
	for reason, declare := range map[string]func(){
		"a reference by pointer":    func() { parentref.New(odds, "pointer", servers, parentref.Spec{}) },
		"a reference below a field": func() { parentref.New(odds, "in.server", servers, parentref.Spec{}) },
		"an order by _id, said": func() {
			parentref.New(
				entries, "server", servers, parentref.Spec{By: "_id"},
			)
		},
		"children that are parents": func() { parentref.New(servers, "rack", servers, parentref.Spec{}) },
	} {
		t.Run(reason, func(t *testing.T) {
			if err := testkit.PanicOf(declare); err != nil {
				t.Error(err)
			}
		})
	}
}

// A refusal names the collection that holds the field, and the field.
func TestParentRefRefusals(t *testing.T) {
	testkit.Parallel(t)
	tests := []struct {
		reason            string
		err               error
		collection, field string
	}{
		{"a parent's id", writes.MoveAll("a", "").Err, "entries", "server"},
		{"the parents' ids", writes.Counts("").Err, "entries", "server"},
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
