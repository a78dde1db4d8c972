package tree_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A walk through all nodes gives the forest, in its order, and loading it gives the tree again.
func TestTreeDump(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, k := range pathstest.Kinds {
			k.Ensure(t, db)
			r := rand.New(rand.NewPCG(uint64(i), 8))
			n := 60
			if i == 1 {
				n = 520 // more than a batch
			}
			f := pathstest.DrawForest(r, n)
			k.StoreNamed(t, db, f)
			var got, want []string
			var docs []pathstest.Category
			for v, err := range k.Tree.Dump(t.Context(), db) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprint(v.Depth, v.Doc.ID))
				docs = append(docs, v.Doc)
			}
			for id, depth := range f.All() {
				want = append(want, fmt.Sprint(depth, id))
			}
			pathstest.MustEqual(t, k.Name, got, want)
			same, err := paths.NewForest(
				k.Tree.Dump(t.Context(), db), func(c pathstest.Category) string { return c.ID },
			)
			if err != nil || pathstest.Shape(same) != pathstest.Shape(f) {
				t.Fatalf("%s: %v", k.Name, err)
			}
			before, err := mongotest.Dump(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			k.Clear(t, db)
			if _, err := k.Tree.Load(docs).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			after, err := mongotest.Dump(t.Context(), db)
			if err != nil || i != 1 && withoutLocks(before) != withoutLocks(after) {
				t.Fatalf("%s: %v\n%s\n%s", k.Name, err, before, after)
			}
			n = 0
			for range k.Tree.Dump(t.Context(), db) {
				if n++; n == 3 {
					break
				}
			}
			if n != 3 {
				t.Errorf("%s: %d nodes", k.Name, n)
			}
		}
		for _, k := range pathstest.Kinds {
			k.Store(t, db, pathstest.Parse("a(b(c)) d"))
			if _, err := db.Collection(k.Name).DeleteOne(t.Context(), bson.D{{Key: "_id", Value: "b"}}); err != nil {
				t.Fatal(err)
			}
			var last error
			for _, err := range k.Tree.Dump(t.Context(), db) {
				last = err
				if err != nil {
					break
				}
			}
			if _, err := paths.NewForest(
				k.Tree.Dump(t.Context(), db), func(c pathstest.Category) string { return c.ID },
			); !errors.Is(err, paths.ErrDamaged) {
				t.Errorf("%s: an orphan: %v, %v", k.Name, err, last)
			}
		}
	})
}

// withoutLocks is a dump without the lock documents, which differ.
func withoutLocks(dump string) string {
	lines := slices.DeleteFunc(strings.Split(dump, "\n"), func(l string) bool { return strings.Contains(l, "fence") })
	return strings.Join(lines, "\n")
}
