// The whole nested set: writers that move nodes at the same time.

package tree_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Sixteen writers move nodes at the same time: every node is there in the end, once, and the numbers fit the links.
func TestNestedSetMovers(t *testing.T) {
	testkit.Parallel(t)
	moves := 6
	if pathstest.Full {
		moves = 60
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		forest := pathstest.Parse("a(b(c d) e) f(g(h i) j) k(l(m(n)) o) p")
		for _, k := range []pathstest.NestedKind{
			pathstest.NestedKinds[0], pathstest.NestedKinds[1], pathstest.NestedKinds[2],
		} {
			k.Seed(t, db, forest)
			var writers sync.WaitGroup
			for w := range 16 {
				writers.Go(func() {
					r := rand.New(rand.NewPCG(uint64(w), 16))
					letter := func() string { return string(rune('a' + r.IntN(16))) }
					for range moves {
						to := []paths.Place[string]{
							paths.FirstChild(letter()), paths.LastChild(letter()), paths.Before(letter()),
							paths.After(letter()), paths.FirstRoot[string](),
						}[r.IntN(5)]
						if _, err := k.Tree.Move(letter(), to).Run(t.Context(), db); err != nil &&
							!errors.Is(err, paths.ErrCycle) {
							t.Error(err)
						}
					}
				})
			}
			writers.Wait()
			after := k.ReadForest(t, db)
			if after.Len() != forest.Len() {
				t.Fatalf("%s: %d nodes", k.Name, after.Len())
			}
			wantNumbers(k, t, db, after, "after all")
		}
	})
}

// A direct shift fails under a unique index: what the other form is for.
func TestNestedSetDirectNotUnique(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		k := pathstest.NestedKinds[2]
		k.Seed(t, db, pathstest.Parse(nestedShape))
		unique := mongo.IndexModel{Keys: bson.D{{Key: "left", Value: 1}}, Options: options.Index().SetUnique(true)}
		if _, err := db.Collection(k.Name).Indexes().CreateOne(t.Context(), unique); err != nil {
			t.Fatal(err)
		}
		_, err := k.Tree.Move("k", paths.FirstRoot[string]()).Run(t.Context(), db)
		if !mongo.IsDuplicateKeyError(err) {
			t.Errorf("got %v, want a duplicate key", err)
		}
	})
}
