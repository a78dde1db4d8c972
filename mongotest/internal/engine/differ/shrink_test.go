package differ

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestShrink(t *testing.T) {
	c := Case{
		Collection: "c",
		Docs:       []bson.D{d("_id", 1, "a", 1), d("_id", 2, "b", bson.A{d("x", 1, "y", 2), 7}), d("_id", 3)},
		Command: d("find", "c", "filter", d("$and", bson.A{d("a", 1), d("b", d("$in", bson.A{1, 2}, "$gt", 0))}),
			"sort", d("_id", 1)),
	}
	// The difference needs the field y of a document, and $gt.
	got := shrink(c, 1000, func(c Case) bool {
		y, gt := false, false
		for _, doc := range c.Docs {
			walk(doc, func(key string, _ any) { y = y || key == "y" })
		}
		walk(c.Command, func(key string, _ any) { gt = gt || key == "$gt" })
		return y && gt
	})
	if len(got.Docs) != 1 || !equalDoc(got.Docs[0], d("_id", 2, "b", bson.A{d("y", 2)})) {
		t.Errorf("the documents became %v", got.Docs)
	}
	filter, _ := got.get("filter").(bson.D)
	if len(encode(filter)) > len(encode(d("$and", bson.A{d("b", d("$gt", 0))}))) {
		t.Errorf("the filter became %v", filter)
	}
	if got.get("sort") != nil {
		t.Error("the sort is still there")
	}
}

func TestShrinkKeepsIDs(t *testing.T) {
	c := Case{Collection: "c", Docs: []bson.D{d("_id", 1, "a", 1)}, Command: d("find", "c", "filter", d("a", 1))}
	for _, next := range smaller(c) {
		for _, doc := range next.Docs {
			if lookup(doc, "_id") == nil {
				t.Fatalf("%v lost its _id", doc)
			}
		}
	}
}

func TestShrinkStopsAtTheLimit(t *testing.T) {
	asked := 0
	c := Generate(1, 3)
	shrink(c, 5, func(Case) bool { asked++; return false })
	if asked > 5 {
		t.Errorf("asked %d times", asked)
	}
}
