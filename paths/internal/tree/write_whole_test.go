package tree_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
)

// A load that was cut can be run again, and one that is whole too: nothing comes twice.
func TestLoadAgain(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.Kinds {
			k.Ensure(t, db)
			f := pathstest.Parse("a(b(c d(e)) f) g(h)")
			nodes := pathstest.NodesOf(f)
			if _, err := k.Tree.Load(nodes).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Collection(k.Name).DeleteMany(
				t.Context(), bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: []string{"e", "f", "g"}}}}},
			); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := k.Tree.Load(nodes).Run(t.Context(), db); err != nil {
					t.Fatalf("%s: %v", k.Name, err)
				}
				if got := pathstest.Shape(k.ReadForest(t, db)); got != pathstest.Shape(f) {
					t.Fatalf("%s: %s is stored", k.Name, got)
				}
				k.WantWhole(t, db)
			}
		}
	})
}

func TestTreeLoadRefuses(t *testing.T) {
	none, self := "none", "a"
	a, b := "a", "b"
	for _, c := range []struct {
		reason string
		nodes  []pathstest.Category
		want   string
	}{
		{"an orphan", []pathstest.Category{{ID: "a", Parent: &none}}, "missing parent"},
		{"its own parent", []pathstest.Category{{ID: "a", Parent: &self}}, "missing parent"},
		{"a cycle", []pathstest.Category{{ID: "a", Parent: &b}, {ID: "b", Parent: &a}}, "missing parent"},
		{"twice", []pathstest.Category{{ID: "a"}, {ID: "a"}}, "missing parent"},
		{"no _id", []pathstest.Category{{}}, "empty"},
	} {
		for _, k := range pathstest.Kinds {
			db := mongotest.NewClient(t).Database("test")
			if _, err := k.Tree.Load(c.nodes).Run(t.Context(), db); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %s: %v", k.Name, c.reason, err)
			}
		}
	}
}

// A rename changes the paths of all below, and nothing else.
func TestTreeRename(t *testing.T) {
	testkit.Parallel(t)
	docs := model.NewCollection[pathstest.Category, string]("shop")
	tree := paths.NewMaterializedPath(docs, paths.MaterializedPathSpec{Segment: "name"})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := model.New("test", tree).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		insert := func(id, name string, at paths.Place[string], want error) {
			t.Helper()
			if _, err := tree.Insert(
				pathstest.Category{ID: id, Name: name}, at,
			).Run(t.Context(), db); !errors.Is(err, want) {
				t.Fatalf("%s: %v, want %v", id, err, want)
			}
		}
		insert("1", "Men's", paths.LastRoot[string](), nil)
		insert("2", "Shoes/Boots", paths.LastChild("1"), nil)
		insert("3", "é𝄞", paths.LastChild("2"), nil)
		insert("4", "Men's", paths.LastRoot[string](), paths.ErrSegment)
		insert("4", "", paths.LastRoot[string](), paths.ErrSegment)
		insert("4", "a\x00b", paths.LastRoot[string](), paths.ErrSegment)
		insert("4", "Women's", paths.LastRoot[string](), nil)
		insert("5", "Shoes/Boots", paths.LastChild("4"), nil)
		rename := func(id, name string, want error) {
			t.Helper()
			if _, err := tree.Rename(id, name).Run(t.Context(), db); !errors.Is(err, want) {
				t.Fatalf("rename %s: %v, want %v", id, err, want)
			}
		}
		rename("1", "Women's", paths.ErrSegment)
		rename("1", "", paths.ErrSegment)
		rename("9", "x", model.ErrNotFound)
		rename("1", "𝄞/%", nil)
		rename("2", "Boots", nil)
		if _, err := tree.Move("2", paths.LastChild("4")).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		rename("2", "Shoes/Boots", paths.ErrSegment)
		all, err := docs.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).All(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range all {
			got = append(got, c.Path)
		}
		pathstest.MustEqual(
			t, "paths", got,
			[]string{"𝄞%2F%25/", "Women's/Boots/", "Women's/Boots/é𝄞/", "Women's/", "Women's/Shoes%2FBoots/"},
		)
		if _, err := pathstest.Kinds[0].Tree.Rename("a", "b").Run(t.Context(), db); err == nil {
			t.Error("a tree without segments renames")
		}
	})
}

// Inserts at one place make the order keys long; then the siblings get short ones, and stay in order.
func TestTreeCrowd(t *testing.T) {
	testkit.Parallel(t)
	n := 320
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		k := pathstest.Kinds[1]
		k.Store(t, db, pathstest.Parse("a(b c)"))
		want := []string{"b", "c"}
		for i := range n {
			id := fmt.Sprint("n", i)
			if _, err := k.Tree.Insert(
				pathstest.Category{ID: id}, paths.After("b"),
			).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			want = slices.Insert(want, 1, id)
		}
		children, err := k.Find(t.Context(), db, "a", k.Tree.Children)
		if err != nil {
			t.Fatal(err)
		}
		got, longest := []string{}, 0
		for _, c := range children {
			got, longest = append(got, c.ID), max(longest, len(c.Order))
		}
		pathstest.MustEqual(t, "children", got, want)
		if longest > 50 {
			t.Errorf("an order key has %d characters", longest)
		}
		if a := "a"; longest > 2 {
			if _, err := k.Tree.Rebalance(&a).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		after, err := pathstest.IDs(k.Find(t.Context(), db, "a", k.Tree.Children))
		if err != nil {
			t.Fatal(err)
		}
		pathstest.MustEqual(t, "rebalanced", after, want)
		k.WantWhole(t, db)
	})
}

// A load that is cut leaves the first nodes in preorder.
func TestLoadCuts(t *testing.T) {
	testkit.Parallel(t)
	const all = "a(b(c d(e)) f) g(h)"
	for _, k := range pathstest.CutKinds() {
		pathstest.Cut{
			Seed: func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
				return model.New("test", k.Tree).Indexes().Ensure(ctx, db)
			},
			Run: pathstest.LoadShape(all, false),
			Stays: func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
				got, err := k.Docs.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).All(ctx, db)
				for i, c := range got { // the names of the nodes are in preorder
					if want := string(rune('a' + i)); c.ID != want && err == nil {
						err = fmt.Errorf("%q is stored before %q", c.ID, want)
					}
				}
				return err
			},
			Want:   pathstest.WantShape(all),
			Server: "paths gapped",
		}.Test(t, k)
	}
}
