// Nested sets, whose documents have the numbers left, right and depth.

package pathstest

import (
	"testing"

	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A NestedKind is a nested set, in a collection of its own.
type NestedKind struct {
	Kind
	Gap int64 // the distance of neighbouring numbers in a new tree, at least 1
}

// NestedKinds are nested sets: dense, with gaps, and both with direct shifts. Dense numbers have no room, so each
// insert shifts the numbers after it. A direct shift is one update of many documents.
var NestedKinds = []NestedKind{
	NestedKindOf("dense", paths.NestedSetSpec{}),
	NestedKindOf("gapped", paths.NestedSetSpec{Gap: 7}),
	NestedKindOf("direct", paths.NestedSetSpec{Direct: true}),
	NestedKindOf("direct gapped", paths.NestedSetSpec{Direct: true, Gap: 3}),
}

// NestedKindOf declares a nested set in a collection with the given name.
func NestedKindOf(name string, spec paths.NestedSetSpec) NestedKind {
	k := KindOf(name, func(c *Nodes, s paths.TreeSpec) *paths.Tree[Category, string] {
		mine := spec // tests declare trees at the same time
		mine.TreeSpec = s
		return paths.NewNestedSet(c, mine)
	}, "left", "right", "depth")
	return NestedKind{k, max(spec.Gap, 1)}
}

// Seed makes the indexes, empties the collection, and stores a forest past the tree, with the numbers of [NumbersOf].
func (k NestedKind) Seed(t testing.TB, db *mongo.Database, f *paths.Forest[string]) {
	t.Helper()
	k.Ensure(t, db)
	if _, err := db.Collection(k.Name).DeleteMany(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	var list []Category
	numbers := NumbersOf(f, k.Gap)
	for _, l := range LinksOf(f) {
		c := Category{
			ID: l.ID, Order: l.Order, Left: numbers[l.ID][0], Right: numbers[l.ID][1], Depth: DepthOf(f, l.ID),
		}
		if !l.Root {
			c.Parent = &l.Parent
		}
		list = append(list, c)
	}
	if len(list) > 0 {
		if _, err := db.Collection(k.Name).InsertMany(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
}
