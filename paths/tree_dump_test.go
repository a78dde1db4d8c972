package paths_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A walk through all nodes gives the forest, in its order, and loading it gives the tree again.
func TestTreeDump(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, k := range kinds {
			k.ensure(t, db)
			r := rand.New(rand.NewPCG(uint64(i), 8))
			n := 60
			if i == 1 {
				n = 520 // more than a batch
			}
			f := convertForest(r, n)
			k.convertStore(t, db, f)
			var got, want []string
			var docs []category
			for v, err := range k.tree.Dump(t.Context(), db) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprint(v.Depth, v.Doc.ID))
				docs = append(docs, v.Doc)
			}
			for id, depth := range f.All() {
				want = append(want, fmt.Sprint(depth, id))
			}
			mustEqual(t, k.name, got, want)
			same, err := paths.NewForest(k.tree.Dump(t.Context(), db), func(c category) string { return c.ID })
			if err != nil || shape(same) != shape(f) {
				t.Fatalf("%s: %v", k.name, err)
			}
			before, err := mongotest.Dump(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			k.convertClear(t, db)
			if _, _, err := k.tree.Load(docs).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			after, err := mongotest.Dump(t.Context(), db)
			if err != nil || i != 1 && withoutLocks(before) != withoutLocks(after) {
				t.Fatalf("%s: %v\n%s\n%s", k.name, err, before, after)
			}
			n = 0
			for range k.tree.Dump(t.Context(), db) {
				if n++; n == 3 {
					break
				}
			}
			if n != 3 {
				t.Errorf("%s: %d nodes", k.name, n)
			}
		}
		for _, k := range kinds {
			k.store(t, db, parse("a(b(c)) d"))
			if _, err := db.Collection(k.name).DeleteOne(t.Context(), bson.D{{Key: "_id", Value: "b"}}); err != nil {
				t.Fatal(err)
			}
			var last error
			for _, err := range k.tree.Dump(t.Context(), db) {
				last = err
				if err != nil {
					break
				}
			}
			if _, err := paths.NewForest(k.tree.Dump(t.Context(), db), func(c category) string { return c.ID }); !errors.Is(err, paths.ErrDamaged) {
				t.Errorf("%s: an orphan: %v, %v", k.name, err, last)
			}
		}
	})
}

// withoutLocks is a dump without the lock documents, which differ.
func withoutLocks(dump string) string {
	lines := slices.DeleteFunc(strings.Split(dump, "\n"), func(l string) bool { return strings.Contains(l, "fence") })
	return strings.Join(lines, "\n")
}
