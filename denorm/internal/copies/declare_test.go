package copies_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Bad declarations panic and say what to do.
func TestCopyDeclarations(t *testing.T) {
	testkit.Parallel(t)
	name := []denorm.Field{{From: "name", To: "items.name"}}
	type nulls struct {
		ID    string `bson:"_id"`
		Items []held `bson:"items"`
	}
	withNulls := model.NewCollection[nulls, string]("nulls")
	for reason, declare := range map[string]func(){
		"no key": func() { denorm.NewCopy(origins, holders, denorm.CopySpec{Fields: name}) },
		"key and list": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{KeyPath: "src", Listed: "docs", Fields: name})
		},
		"no fields": func() { denorm.NewCopy(origins, holders, denorm.CopySpec{KeyPath: "src"}) },
		"half a version": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{KeyPath: "items.id", Fields: name, Version: "v"})
		},
		"unknown key": func() { denorm.NewCopy(origins, holders, denorm.CopySpec{KeyPath: "itms.id", Fields: name}) },
		"key type":    func() { denorm.NewCopy(origins, holders, denorm.CopySpec{KeyPath: "items.v", Fields: name}) },
		"key in _id":  func() { denorm.NewCopy(origins, holders, denorm.CopySpec{KeyPath: "_id", Fields: name}) },
		"array of ids": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{
				KeyPath: "tags",
				Fields:  []denorm.Field{{From: "name", To: "name"}},
			})
		},
		"outside element": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{
				KeyPath: "items.id",
				Fields:  []denorm.Field{{From: "name", To: "name"}},
			})
		},
		"further array": func() { denorm.NewCopy(origins, holders, denorm.CopySpec{KeyPath: "src", Fields: name}) },
		"type of field": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{
				KeyPath: "src", Fields: []denorm.Field{{From: "name", To: "v"}},
			})
		},
		"list and scalar": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{
				KeyPath: "src",
				Fields:  []denorm.Field{{From: "tags", To: "name"}},
			})
		},
		"to the _id": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{
				KeyPath: "src",
				Fields:  []denorm.Field{{From: "name", To: "_id"}},
			})
		},
		"from the _id": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{
				KeyPath: "src",
				Fields:  []denorm.Field{{From: "_id", To: "name"}},
			})
		},
		"over the key": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{
				KeyPath: "src",
				Fields:  []denorm.Field{{From: "name", To: "src"}},
			})
		},
		"one place twice": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{
				KeyPath: "src",
				Fields:  []denorm.Field{{From: "name", To: "name"}, {From: "note", To: "name"}},
			})
		},
		"version of text": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{
				KeyPath: "src",
				Fields:  []denorm.Field{{From: "name", To: "name"}},
				Version: "note", VersionTo: "src",
			})
		},
		"needless Lists": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{
				KeyPath: "items.id", Fields: name, Lists: []string{"items"},
			})
		},
		"listed elsewhere": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{
				Listed: "v",
				Fields: []denorm.Field{{From: "name", To: "name"}},
			})
		},
		"null list": func() { denorm.NewCopy(origins, withNulls, denorm.CopySpec{KeyPath: "items.id", Fields: name}) },
		"a copy of a copy": func() {
			denorm.NewCopy(holders, holders, denorm.CopySpec{
				KeyPath: "src",
				Fields:  []denorm.Field{{From: "name", To: "name"}},
			})
		},
		"inside a list": func() {
			denorm.NewCopy(holders, origins, denorm.CopySpec{
				KeyPath: "note",
				Fields:  []denorm.Field{{From: "items.name", To: "name"}},
			})
		},
		"counts up a text": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{KeyPath: "items.id", Fields: name, CountUp: "name"})
		},
		"counts up within a list": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{KeyPath: "items.id", Fields: name, CountUp: "items.v"})
		},
		"counts up what is copied": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{
				KeyPath: "src", Fields: []denorm.Field{{From: "v", To: "rev"}}, CountUp: "rev",
			})
		},
		"counts up what isn't there": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{KeyPath: "items.id", Fields: name, CountUp: "version"})
		},
		"a list as Version": func() {
			denorm.NewCopy(origins, holders, denorm.CopySpec{
				KeyPath: "src",
				Fields:  []denorm.Field{{From: "name", To: "name"}},
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
	c := denorm.NewCopy(loose, looseDocs, denorm.CopySpec{
		KeyPath: "src", Fields: []denorm.Field{{From: "x", To: "x"}}, Version: "v", VersionTo: "v",
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
