package checks

import (
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// stranger is a type of documents that no technique of the cases has, under an _id that no collection of them has.
type stranger struct {
	ID      bool `bson:"_id"`
	Strange bool `bson:"strange"`
}

// untypedNames are collections that the cases declare for documents and _ids of any type.
var untypedNames = []string{"anything", "copies", "publishers", "posts", "archive"}

// withoutTypes are techniques that leave collections out of Parts.WithDocs, with the reason.
var withoutTypes = map[string]string{
	"columns.Columns":       "it owns the flat documents",
	"normalized.Normalized": "it owns the rows",
	"feed.Feed":             "a stream's places have no Go type",
	"indextable.IndexTable": "it owns the entries",
	"inverted.Inverted":     "it owns the entries",
	"widerow.WideRow":       "it owns the rows",
	"paths.Graph":           "it owns the steps and messages",
	"paths.Supersteps":      "it owns the steps and messages",
	"migrate.Migration":     "its state has no Go type",
	"ondelete.OnDelete":     "the referring techniques tell their collections",
}

// New refuses another declaration of each collection that a technique's constructor got.
func TestTechniquesTellDocs(t *testing.T) {
	silent := map[string]bool{}
	for _, technique := range declaredTechniques {
		for _, name := range model.New("m", technique).Collections() {
			passes := func(other model.Technique) bool {
				return testkit.PanicOf(func() { model.New("m", technique, other) }) == nil
			}
			typed, untyped := model.NewCollection[stranger, bool](name), model.NewCollection[bson.D, bool](name)
			if slices.Contains(untypedNames, name) || !passes(model.Entity(typed)) || !passes(model.Entity(untyped)) {
				continue
			}
			of := typeName(technique)
			if silent[of] = true; withoutTypes[of] == "" {
				t.Errorf("%s: pass the collection %s to Parts.WithDocs, or give a reason in withoutTypes", of, name)
			}
		}
	}
	for of := range withoutTypes {
		if !silent[of] {
			t.Errorf("%s tells all collections: remove it from withoutTypes", of)
		}
	}
}
