package tree_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Damage at random is found wholly, and mended, with all nodes and no other document written; then nothing is found.
func TestTreeRepair(t *testing.T) {
	testkit.Parallel(t)
	runs := 12
	if pathstest.Full {
		runs = 100
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.Kinds {
			k.Ensure(t, db)
			for seed := range runs {
				r := rand.New(rand.NewPCG(uint64(seed), 4))
				begin := &paths.Forest[string]{}
				for i := range 30 {
					at := paths.LastRoot[string]()
					if i > 2 {
						at = paths.LastChild(fmt.Sprint("n", r.IntN(i)))
					}
					_ = begin.Insert(fmt.Sprint("n", i), at)
				}
				k.Store(t, db, begin)
				damaged := map[string]bool{}
				for range 1 + r.IntN(5) {
					id := fmt.Sprint("n", r.IntN(30))
					if set := drawDamage(k, r, id); set != nil && !damaged[id] {
						damaged[id] = true
						if _, err := db.Collection(k.Name).UpdateOne(
							t.Context(), bson.D{{Key: "_id", Value: id}}, bson.D{{Key: "$set", Value: set}},
						); err != nil {
							t.Fatal(err)
						}
					}
				}
				before, err := pathstest.Inspect(t.Context(), db, k.Tree)
				if err != nil {
					t.Fatal(err)
				}
				result, err := pathstest.MendTree(k.Tree).Run(t.Context(), db)
				if err != nil {
					t.Fatalf("%s, seed %d: %v\n%v", k.Name, seed, err, before)
				}
				if (len(before) == 0) != (len(result.Steps) == 0) {
					t.Fatalf("%s, seed %d: %d writes for %v", k.Name, seed, len(result.Steps), before)
				}
				k.WantWhole(t, db)
				if f := k.ReadForest(t, db); f.Len() != 30 {
					t.Fatalf("%s, seed %d: %d nodes are left", k.Name, seed, f.Len())
				}
			}
		}
	})
}

// number is a left number that no other node has: 100 for n0, 101 for n1.
func number(id string) (n int64) {
	_, _ = fmt.Sscan(id[1:], &n)
	return 100 + n
}

// drawDamage is a change of one document that a tree doesn't survive, or one of its links that moves the node.
func drawDamage(k pathstest.Kind, r *rand.Rand, id string) bson.D {
	other := fmt.Sprint("n", r.IntN(30))
	switch n := r.IntN(6); {
	case n == 0:
		return bson.D{{Key: "parent", Value: "nobody"}}
	case n == 1:
		return bson.D{{Key: "parent", Value: other}}
	case n == 2:
		return bson.D{{Key: "order", Value: []string{"", "!", "a0", "a10"}[r.IntN(4)]}}
	case k.Name == "ancestors":
		return bson.D{{Key: "ancestors", Value: []string{other, id}}}
	case k.Name == "nested":
		return []bson.D{
			{{Key: "left", Value: number(id)}}, {{Key: "left", Value: "1" + id}},
			{{Key: "right", Value: int64(r.IntN(50))}},
			{{Key: "right", Value: nil}}, {{Key: "depth", Value: r.IntN(5)}},
		}[r.IntN(5)]
	case k.Name == "children":
		return []bson.D{
			{{Key: "children", Value: []string{other}}}, {{Key: "children", Value: []string{id, "nobody"}}},
			{{Key: "children", Value: []string{}}},
			{{Key: "children", Value: nil}}, {{Key: "children", Value: other}},
		}[r.IntN(5)]
	case k.Name == "paths":
		return bson.D{{Key: "path", Value: other + "/" + id + "/" + id + "/"}}
	}
	return nil
}
