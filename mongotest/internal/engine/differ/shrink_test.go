package differ

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/grammar"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

func TestShrink(t *testing.T) {
	c := cases.Case{
		Collection: "c",
		Docs: []bson.D{
			tree.D("_id", 1, "a", 1),
			tree.D("_id", 2, "b", bson.A{tree.D("x", 1, "y", 2), 7}),
			tree.D("_id", 3),
		},
		Command: tree.D("find", "c", "filter",
			tree.D("$and", bson.A{tree.D("a", 1), tree.D("b", tree.D("$in", bson.A{1, 2}, "$gt", 0))}),
			"sort", tree.D("_id", 1)),
	}
	// The difference needs the field y of a document, and $gt.
	got := shrink(c, 1000, func(c cases.Case) bool {
		y, gt := false, false
		for _, doc := range c.Docs {
			tree.Walk(doc, func(key string, _ any) { y = y || key == "y" })
		}
		tree.Walk(c.Command, func(key string, _ any) { gt = gt || key == "$gt" })
		return y && gt
	})
	if len(got.Docs) != 1 || !outcome.EqualDoc(got.Docs[0], tree.D("_id", 2, "b", bson.A{tree.D("y", 2)})) {
		t.Errorf("the documents became %v", got.Docs)
	}
	filter, _ := got.Get("filter").(bson.D)
	if len(tree.Encode(filter)) > len(tree.Encode(tree.D("$and", bson.A{tree.D("b", tree.D("$gt", 0))}))) {
		t.Errorf("the filter became %v", filter)
	}
	if got.Get("sort") != nil {
		t.Error("the sort is still there")
	}
}

func TestShrinkKeepsIDs(t *testing.T) {
	c := cases.Case{
		Collection: "c", Docs: []bson.D{tree.D("_id", 1, "a", 1)},
		Command: tree.D("find", "c", "filter", tree.D("a", 1)),
	}
	for _, next := range smaller(c) {
		for _, doc := range next.Docs {
			if tree.Lookup(doc, "_id") == nil {
				t.Fatalf("%v lost its _id", doc)
			}
		}
	}
}

func TestShrinkStopsAtTheLimit(t *testing.T) {
	asked := 0
	c := grammar.Generate(1, 3)
	shrink(c, 5, func(cases.Case) bool { asked++; return false })
	if asked > 5 {
		t.Errorf("asked %d times", asked)
	}
}
