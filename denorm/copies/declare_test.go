package copies_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Bad declarations panic and say what to do.
func TestCopyDeclarations(t *testing.T) {
	testkit.Parallel(t)
	name := []copies.Field{{From: "name", To: "items.name"}}
	type nulls struct {
		ID    string `bson:"_id"`
		Items []held `bson:"items"`
	}
	withNulls := model.NewCollection[nulls, string]("nulls")
	for reason, declare := range map[string]func(){
		"no key": func() { copies.New(origins, holders, copies.Spec{Fields: name}) },
		"key and list": func() {
			copies.New(origins, holders, copies.Spec{KeyPath: "src", Listed: "docs", Fields: name})
		},
		"no fields": func() { copies.New(origins, holders, copies.Spec{KeyPath: "src"}) },
		"half a version": func() {
			copies.New(origins, holders, copies.Spec{KeyPath: "items.id", Fields: name, Version: "v"})
		},
		"unknown key": func() { copies.New(origins, holders, copies.Spec{KeyPath: "itms.id", Fields: name}) },
		"key type":    func() { copies.New(origins, holders, copies.Spec{KeyPath: "items.v", Fields: name}) },
		"key in _id":  func() { copies.New(origins, holders, copies.Spec{KeyPath: "_id", Fields: name}) },
		"array of ids": func() {
			copies.New(origins, holders, copies.Spec{
				KeyPath: "tags",
				Fields:  []copies.Field{{From: "name", To: "name"}},
			})
		},
		"outside element": func() {
			copies.New(origins, holders, copies.Spec{
				KeyPath: "items.id",
				Fields:  []copies.Field{{From: "name", To: "name"}},
			})
		},
		"further array": func() { copies.New(origins, holders, copies.Spec{KeyPath: "src", Fields: name}) },
		"type of field": func() {
			copies.New(origins, holders, copies.Spec{
				KeyPath: "src", Fields: []copies.Field{{From: "name", To: "v"}},
			})
		},
		"list and scalar": func() {
			copies.New(origins, holders, copies.Spec{
				KeyPath: "src",
				Fields:  []copies.Field{{From: "tags", To: "name"}},
			})
		},
		"to the _id": func() {
			copies.New(origins, holders, copies.Spec{
				KeyPath: "src",
				Fields:  []copies.Field{{From: "name", To: "_id"}},
			})
		},
		"from the _id": func() {
			copies.New(origins, holders, copies.Spec{
				KeyPath: "src",
				Fields:  []copies.Field{{From: "_id", To: "name"}},
			})
		},
		"over the key": func() {
			copies.New(origins, holders, copies.Spec{
				KeyPath: "src",
				Fields:  []copies.Field{{From: "name", To: "src"}},
			})
		},
		"one place twice": func() {
			copies.New(origins, holders, copies.Spec{
				KeyPath: "src",
				Fields:  []copies.Field{{From: "name", To: "name"}, {From: "note", To: "name"}},
			})
		},
		"version of text": func() {
			copies.New(origins, holders, copies.Spec{
				KeyPath: "src",
				Fields:  []copies.Field{{From: "name", To: "name"}},
				Version: "note", VersionTo: "src",
			})
		},
		"needless Lists": func() {
			copies.New(origins, holders, copies.Spec{
				KeyPath: "items.id", Fields: name, Lists: []string{"items"},
			})
		},
		"listed elsewhere": func() {
			copies.New(origins, holders, copies.Spec{
				Listed: "v",
				Fields: []copies.Field{{From: "name", To: "name"}},
			})
		},
		"null list": func() { copies.New(origins, withNulls, copies.Spec{KeyPath: "items.id", Fields: name}) },
		"a copy of a copy": func() {
			copies.New(holders, holders, copies.Spec{
				KeyPath: "src",
				Fields:  []copies.Field{{From: "name", To: "name"}},
			})
		},
		"inside a list": func() {
			copies.New(holders, origins, copies.Spec{
				KeyPath: "note",
				Fields:  []copies.Field{{From: "items.name", To: "name"}},
			})
		},
		"counts up a text": func() {
			copies.New(origins, holders, copies.Spec{KeyPath: "items.id", Fields: name, CountUp: "name"})
		},
		"counts up within a list": func() {
			copies.New(origins, holders, copies.Spec{KeyPath: "items.id", Fields: name, CountUp: "items.v"})
		},
		"counts up what is copied": func() {
			copies.New(origins, holders, copies.Spec{
				KeyPath: "src", Fields: []copies.Field{{From: "v", To: "rev"}}, CountUp: "rev",
			})
		},
		"counts up what isn't there": func() {
			copies.New(origins, holders, copies.Spec{KeyPath: "items.id", Fields: name, CountUp: "version"})
		},
		"a list as Version": func() {
			copies.New(origins, holders, copies.Spec{
				KeyPath: "src",
				Fields:  []copies.Field{{From: "name", To: "name"}},
				Version: "tags", VersionTo: "tags",
			})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			defer func() {
				if d, ok := recover().(*model.DeclarationError); !ok || d.Problem == "" ||
					d.Place == "" || d.Remedy == "" {
					t.Errorf("panicked with %v, want a *model.DeclarationError", d)
				}
			}()
			declare()
		})
	}
}

// Bad input is refused before anything is written.
func TestCopyRefusals(t *testing.T) {
	testkit.Parallel(t)
	loose := model.NewCollection[bson.D, any]("origins")
	c := copies.New(loose, looseDocs, copies.Spec{
		KeyPath: "src", Fields: []copies.Field{{From: "x", To: "x"}}, Version: "v", VersionTo: "v",
	})
	doc := func(v any) *bson.D { return &bson.D{testkit.E("_id", 1), testkit.E("x", 1), testkit.E("v", v)} }
	for reason, err := range map[string]error{
		"no _id":                 ofDocument.Propagate(&origin{}).Err(),
		"nil":                    ofDocument.Propagate(nil).Err(),
		"a version that is text": c.Propagate(doc("x")).Err(),
		"an operator in a value": c.Propagate(&bson.D{
			testkit.E("_id", 1), testkit.E("x", bson.D{testkit.E("$y", 1)}),
		}).Err(),
		"no id to refresh":        ofDocument.Refresh("").Err,
		"a drift of nothing":      inItems.Checks()[0].Mend(testkit.EmptyFinding(inItems.Checks()[0])).Err(),
		"a field that can't drop": ofDocument.Fold("$x").Err,
		"a filter of channels":    ofDocument.Checks()[0].In(bson.D{testkit.E("x", make(chan int))}).Find().Err,
	} {
		var bad *model.ValueError
		if !errors.As(err, &bad) || bad.Collection == "" || bad.Field == "" || bad.Reason == "" {
			t.Errorf("%s: error %v, want a *model.ValueError with collection, field and reason", reason, err)
		}
	}
}
