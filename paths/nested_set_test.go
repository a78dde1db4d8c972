package paths_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A nestedKind is a nested set, in a collection of its own.
type nestedKind struct {
	kind
	gap int64
}

var nestedKinds = []nestedKind{
	nestedOf("dense", paths.NestedSetSpec{}),
	nestedOf("gapped", paths.NestedSetSpec{Gap: 7}),
	nestedOf("direct", paths.NestedSetSpec{Direct: true}),
	nestedOf("direct gapped", paths.NestedSetSpec{Direct: true, Gap: 3}),
}

func nestedOf(name string, spec paths.NestedSetSpec) nestedKind {
	k := of(name, func(c *nodes, s paths.TreeSpec) *paths.Tree[category, string] {
		mine := spec // tests declare trees at the same time
		mine.TreeSpec = s
		return paths.NewNestedSet(c, mine)
	}, "left", "right", "depth")
	return nestedKind{k, max(spec.Gap, 1)}
}

// nestedSeed stores a forest that is written in the notation of shape, with canonical numbers.
func (k nestedKind) nestedSeed(t testing.TB, db *mongo.Database, f *paths.Forest[string]) {
	t.Helper()
	k.ensure(t, db)
	if _, err := db.Collection(k.name).DeleteMany(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	var list []category
	numbers := numbersOf(f, k.gap)
	for _, l := range linksOf(f) {
		c := category{ID: l.ID, Order: l.Order, Left: numbers[l.ID][0], Right: numbers[l.ID][1], Depth: depthOf(f, l.ID)}
		if !l.Root {
			c.Parent = &l.Parent
		}
		list = append(list, c)
	}
	if len(list) > 0 {
		if _, err := db.Collection(k.name).InsertMany(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
}

// nestedForest makes a forest of the notation of shape, whose ids are single letters.
func nestedForest(notation string) *paths.Forest[string] {
	f := &paths.Forest[string]{}
	var open []string
	last := ""
	for _, c := range notation {
		switch c {
		case '(':
			open = append(open, last)
		case ')':
			open = open[:len(open)-1]
		case ' ':
		default:
			last = string(c)
			at := paths.LastRoot[string]()
			if len(open) > 0 {
				at = paths.LastChild(open[len(open)-1])
			}
			if err := f.Insert(last, at); err != nil {
				panic(err)
			}
		}
	}
	return f
}

// wantNumbers fails the test unless the stored numbers are those of the forest: exactly where they are dense, and else in order.
func (k nestedKind) wantNumbers(t testing.TB, db *mongo.Database, f *paths.Forest[string], what string) {
	t.Helper()
	all, err := k.docs.Find(nil).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	got, ends := map[string][2]int64{}, map[int64]bool{}
	for _, c := range all {
		got[c.ID] = [2]int64{c.Left, c.Right}
		if c.Left < 1 || c.Right <= c.Left || ends[c.Left] || ends[c.Right] {
			t.Fatalf("%s: %s: %q has %d and %d", k.name, what, c.ID, c.Left, c.Right)
		}
		if ends[c.Left], ends[c.Right] = true, true; c.Depth != depthOf(f, c.ID) {
			t.Fatalf("%s: %s: %q has depth %d, want %d", k.name, what, c.ID, c.Depth, depthOf(f, c.ID))
		}
	}
	if k.gap > 1 { // close the gaps
		rank := map[int64]int64{}
		for i, n := range slices.Sorted(maps.Keys(ends)) {
			rank[n] = int64(i) + 1
		}
		for id, n := range got {
			got[id] = [2]int64{rank[n[0]], rank[n[1]]}
		}
	}
	if want := numbersOf(f, 1); !maps.Equal(got, want) {
		t.Fatalf("%s: %s: numbers of %s:\n got %v\nwant %v", k.name, what, shape(f), got, want)
	}
	if got := shape(k.stored(t, db)); got != shape(f) {
		t.Fatalf("%s: %s:\n got %s\nwant %s", k.name, what, got, shape(f))
	}
}

// After each of many random operations the numbers are those of the tree, in each form.
func TestNestedSetNumbers(t *testing.T) {
	parallel(t)
	steps := 150
	switch {
	case full:
		steps = 3000
	case few():
		steps = 60
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(14, 2))
		forest := &paths.Forest[string]{}
		for _, k := range nestedKinds {
			k.nestedSeed(t, db, forest)
		}
		for i := range steps {
			op, change, want := randomStep(r, forest)
			for _, k := range nestedKinds {
				if _, _, err := change(k.kind).Run(t.Context(), db); !sameErr(err, want) {
					t.Fatalf("step %d, %s: %s: %v, want %v", i, k.name, op, err, want)
				}
				k.wantNumbers(t, db, forest, fmt.Sprint("step ", i, ", ", op))
			}
		}
	})
}

// Leaves and counts are what the tree has, after random operations; each form asks in its own way.
func TestNestedSetLeaves(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(14, 3))
		forest := &paths.Forest[string]{}
		for range 150 {
			randomStep(r, forest)
		}
		for _, k := range nestedKinds[:2] {
			k.nestedSeed(t, db, forest)
			for id, doc := range k.nestedDocs(t, db) {
				got, err := ids(k.tree.Leaves(&doc).All(t.Context(), db))
				if err != nil {
					t.Fatal(err)
				}
				mustEqual(t, k.name+": leaves of "+id, got, leavesOf(forest, id))
				n, err := k.tree.Descendants(&doc, 0).Count(t.Context(), db)
				if int(n) != count(forest, id) || err != nil {
					t.Fatalf("%s: count of %q: %d, %v, want %d", k.name, id, n, err, count(forest, id))
				}
			}
		}
		for _, torn := range []category{{ID: "a"}, {ID: "a", Left: 2, Right: 1}, {ID: "a", Left: -2, Right: -5}, {ID: "a", Left: 1, Right: math.MaxInt64}} {
			if n, err := nestedKinds[0].tree.Descendants(&torn, 0).Count(t.Context(), db); err != nil || n > 0 {
				t.Errorf("%v is counted: %d, %v", torn, n, err)
			}
			if got, err := nestedKinds[0].tree.Leaves(&torn).All(t.Context(), db); err != nil || len(got) > 0 {
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
