package tree_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// wantNumbers fails the test unless the stored numbers are those of the forest: exactly where they are dense, and else
// in order.
func wantNumbers(k pathstest.NestedKind, t testing.TB, db *mongo.Database, f *paths.Forest[string], what string) {
	t.Helper()
	all, err := k.Docs.Find(nil).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	got, ends := map[string][2]int64{}, map[int64]bool{}
	for _, c := range all {
		got[c.ID] = [2]int64{c.Left, c.Right}
		if c.Left < 1 || c.Right <= c.Left || ends[c.Left] || ends[c.Right] {
			t.Fatalf("%s: %s: %q has %d and %d", k.Name, what, c.ID, c.Left, c.Right)
		}
		if ends[c.Left], ends[c.Right] = true, true; c.Depth != pathstest.DepthOf(f, c.ID) {
			t.Fatalf("%s: %s: %q has depth %d, want %d", k.Name, what, c.ID, c.Depth, pathstest.DepthOf(f, c.ID))
		}
	}
	if k.Gap > 1 { // close the gaps
		rank := map[int64]int64{}
		for i, n := range slices.Sorted(maps.Keys(ends)) {
			rank[n] = int64(i) + 1
		}
		for id, n := range got {
			got[id] = [2]int64{rank[n[0]], rank[n[1]]}
		}
	}
	if want := pathstest.NumbersOf(f, 1); !maps.Equal(got, want) {
		t.Fatalf("%s: %s: numbers of %s:\n got %v\nwant %v", k.Name, what, pathstest.Shape(f), got, want)
	}
	if got := pathstest.Shape(k.ReadForest(t, db)); got != pathstest.Shape(f) {
		t.Fatalf("%s: %s:\n got %s\nwant %s", k.Name, what, got, pathstest.Shape(f))
	}
}

// After each of many random operations the numbers are those of the tree, in each form.
func TestNestedSetNumbers(t *testing.T) {
	testkit.Parallel(t)
	steps := 150
	switch {
	case pathstest.Full:
		steps = 3000
	case testkit.Few():
		steps = 60
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(14, 2))
		forest := &paths.Forest[string]{}
		for _, k := range pathstest.NestedKinds {
			k.Seed(t, db, forest)
		}
		for i := range steps {
			op, change, want := pathstest.DrawStep(r, forest)
			for _, k := range pathstest.NestedKinds {
				if _, err := change(k.Kind).Run(t.Context(), db); !pathstest.SameError(err, want) {
					t.Fatalf("step %d, %s: %s: %v, want %v", i, k.Name, op, err, want)
				}
				wantNumbers(k, t, db, forest, fmt.Sprint("step ", i, ", ", op))
			}
		}
	})
}

// Leaves and counts are what the tree has, after random operations; each form asks in its own way.
func TestNestedSetLeaves(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(14, 3))
		forest := &paths.Forest[string]{}
		for range 150 {
			pathstest.DrawStep(r, forest)
		}
		for _, k := range pathstest.NestedKinds[:2] {
			k.Seed(t, db, forest)
			for id, doc := range nestedDocs(k, t, db) {
				got, err := pathstest.IDs(k.Tree.Leaves(&doc).All(t.Context(), db))
				if err != nil {
					t.Fatal(err)
				}
				pathstest.MustEqual(t, k.Name+": leaves of "+id, got, pathstest.LeavesOf(forest, id))
				n, err := k.Tree.Descendants(&doc, 0).Count(t.Context(), db)
				if int(n) != pathstest.CountBelow(forest, id) || err != nil {
					t.Fatalf("%s: count of %q: %d, %v, want %d", k.Name, id, n, err, pathstest.CountBelow(forest, id))
				}
			}
		}
		for _, torn := range []pathstest.Category{
			{ID: "a"}, {ID: "a", Left: 2, Right: 1}, {ID: "a", Left: -2, Right: -5},
			{ID: "a", Left: 1, Right: math.MaxInt64},
		} {
			if n, err := pathstest.NestedKinds[0].Tree.Descendants(&torn, 0).Count(t.Context(), db); err != nil ||
				n > 0 {
				t.Errorf("%v is counted: %d, %v", torn, n, err)
			}
			if got, err := pathstest.NestedKinds[0].Tree.Leaves(&torn).All(t.Context(), db); err != nil ||
				len(got) > 0 {
				t.Errorf("leaves of %v: %v, %v", torn, got, err)
			}
		}
	})
}

func TestNestedSetDeclaration(t *testing.T) {
	type odd struct {
		ID     string  `bson:"_id"`
		Parent *string `bson:"parent"`
		Order  string  `bson:"order"`
		Change int64   `bson:"change"`
		Left   int64   `bson:"left"`
		Right  int64   `bson:"right"`
		Depth  int64   `bson:"depth"`
		Short  int32   `bson:"short"`
		List   []int64 `bson:"list"`
		Real   float64 `bson:"real"`
		Deep   struct {
			L int64 `bson:"l"`
		} `bson:"deep"`
	}
	docs := model.NewCollection[odd, string]("odd")
	for _, c := range []struct {
		spec paths.NestedSetSpec
		want string // "" for right
	}{
		{paths.NestedSetSpec{}, ""},
		{paths.NestedSetSpec{Left: "deep.l", Depth: "short", Gap: 1 << 32}, ""},
		{paths.NestedSetSpec{Left: "short"}, "not an int64"},
		{paths.NestedSetSpec{Right: "list"}, "not an int64"},
		{paths.NestedSetSpec{Depth: "real"}, "not an integer"},
		{paths.NestedSetSpec{Left: "right"}, "two fields of the tree"},
		{paths.NestedSetSpec{Depth: "change"}, "two fields of the tree"},
		{paths.NestedSetSpec{Left: "lft"}, "lft"},
		{paths.NestedSetSpec{Gap: -1}, "Gap is -1"},
		{paths.NestedSetSpec{Gap: 1<<32 + 1}, "Gap is 4294967297"},
	} {
		func() {
			defer func() {
				err, _ := recover().(*model.DeclarationError)
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("%+v: %v, want %q", c.spec, err, c.want)
				}
			}()
			paths.NewNestedSet(docs, c.spec)
		}()
	}
}
