package paths_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Sixteen writers move nodes under each other at the same time. The tree stays one, with every node.
func TestTreeMovers(t *testing.T) {
	parallel(t)
	each := 6
	switch {
	case full:
		each = 20
	case few():
		each = 3
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range kinds {
			k.ensure(t, db)
			begin := &paths.Forest[string]{}
			r := rand.New(rand.NewPCG(3, 3))
			for i := range 24 {
				at := paths.LastRoot[string]()
				if i > 2 {
					at = paths.LastChild(fmt.Sprint("n", r.IntN(i)))
				}
				_ = begin.Insert(fmt.Sprint("n", i), at)
			}
			k.store(t, db, begin)
			var wg sync.WaitGroup
			var mu sync.Mutex
			moved, cycles := 0, 0
			for w := range 16 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					r := rand.New(rand.NewPCG(uint64(w), 9))
					for range each {
						id, to := fmt.Sprint("n", r.IntN(24)), fmt.Sprint("n", r.IntN(24))
						_, _, err := k.tree.Move(id, paths.LastChild(to)).Run(t.Context(), db)
						mu.Lock()
						switch {
						case err == nil:
							moved++
						case errors.Is(err, paths.ErrCycle):
							cycles++
						default:
							t.Errorf("%s: move %s to %s: %v", k.name, id, to, err)
						}
						mu.Unlock()
					}
				}()
			}
			wg.Wait()
			if f := k.stored(t, db); f.Len() != begin.Len() {
				t.Errorf("%s: %d nodes, want %d", k.name, f.Len(), begin.Len())
			}
			k.whole(t, db)
			if moved == 0 || cycles == 0 {
				t.Errorf("%s: %d moved, %d cycles", k.name, moved, cycles)
			}
		}
	})
}

// Damage at random is found wholly, and mended, with all nodes and no other document written; then nothing is found.
func TestTreeRepair(t *testing.T) {
	parallel(t)
	runs := 12
	if full {
		runs = 100
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range kinds {
			k.ensure(t, db)
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
				k.store(t, db, begin)
				damaged := map[string]bool{}
				for range 1 + r.IntN(5) {
					id := fmt.Sprint("n", r.IntN(30))
					if set := k.damage(r, id); set != nil && !damaged[id] {
						damaged[id] = true
						if _, err := db.Collection(k.name).UpdateOne(t.Context(), bson.D{{Key: "_id", Value: id}}, bson.D{{Key: "$set", Value: set}}); err != nil {
							t.Fatal(err)
						}
					}
				}
				before, err := inspect(t.Context(), db, k.tree)
				if err != nil {
					t.Fatal(err)
				}
				_, result, err := mends(k.tree).Run(t.Context(), db)
				if err != nil {
					t.Fatalf("%s, seed %d: %v\n%v", k.name, seed, err, before)
				}
				if (len(before) == 0) != (len(result.Steps) == 0) {
					t.Fatalf("%s, seed %d: %d writes for %v", k.name, seed, len(result.Steps), before)
				}
				k.whole(t, db)
				if f := k.stored(t, db); f.Len() != 30 {
					t.Fatalf("%s, seed %d: %d nodes are left", k.name, seed, f.Len())
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

// damage is a change of one document that a tree doesn't survive, or one of its links that moves the node.
func (k kind) damage(r *rand.Rand, id string) bson.D {
	other := fmt.Sprint("n", r.IntN(30))
	switch n := r.IntN(6); {
	case n == 0:
		return bson.D{{Key: "parent", Value: "nobody"}}
	case n == 1:
		return bson.D{{Key: "parent", Value: other}}
	case n == 2:
		return bson.D{{Key: "order", Value: []string{"", "!", "a0", "a10"}[r.IntN(4)]}}
	case k.name == "ancestors":
		return bson.D{{Key: "ancestors", Value: []string{other, id}}}
	case k.name == "nested":
		return []bson.D{
			{{Key: "left", Value: number(id)}}, {{Key: "left", Value: "1" + id}}, {{Key: "right", Value: int64(r.IntN(50))}},
			{{Key: "right", Value: nil}}, {{Key: "depth", Value: r.IntN(5)}},
		}[r.IntN(5)]
	case k.name == "children":
		return []bson.D{
			{{Key: "children", Value: []string{other}}}, {{Key: "children", Value: []string{id, "nobody"}}}, {{Key: "children", Value: []string{}}},
			{{Key: "children", Value: nil}}, {{Key: "children", Value: other}},
		}[r.IntN(5)]
	case k.name == "paths":
		return bson.D{{Key: "path", Value: other + "/" + id + "/" + id + "/"}}
	}
	return nil
}

func TestTreeLoadRefuses(t *testing.T) {
	none, self := "none", "a"
	a, b := "a", "b"
	for _, c := range []struct {
		reason string
		nodes  []category
		want   string
	}{
		{"an orphan", []category{{ID: "a", Parent: &none}}, "missing parent"},
		{"its own parent", []category{{ID: "a", Parent: &self}}, "missing parent"},
		{"a cycle", []category{{ID: "a", Parent: &b}, {ID: "b", Parent: &a}}, "missing parent"},
		{"twice", []category{{ID: "a"}, {ID: "a"}}, "missing parent"},
		{"no _id", []category{{}}, "empty"},
	} {
		for _, k := range kinds {
			db := mongotest.NewClient(t).Database("test")
			if _, _, err := k.tree.Load(c.nodes).Run(t.Context(), db); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %s: %v", k.name, c.reason, err)
			}
		}
	}
}

// A rename changes the paths of all below, and nothing else.
func TestTreeRename(t *testing.T) {
	parallel(t)
	docs := model.NewCollection[category, string]("shop")
	tree := paths.NewMaterializedPath(docs, paths.MaterializedPathSpec{Segment: "name"})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := model.New("test", tree).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		insert := func(id, name string, at paths.Place[string], want error) {
			t.Helper()
			if _, _, err := tree.Insert(category{ID: id, Name: name}, at).Run(t.Context(), db); !errors.Is(err, want) {
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
			if _, _, err := tree.Rename(id, name).Run(t.Context(), db); !errors.Is(err, want) {
				t.Fatalf("rename %s: %v, want %v", id, err, want)
			}
		}
		rename("1", "Women's", paths.ErrSegment)
		rename("1", "", paths.ErrSegment)
		rename("9", "x", model.ErrNotFound)
		rename("1", "𝄞/%", nil)
		rename("2", "Boots", nil)
		if _, _, err := tree.Move("2", paths.LastChild("4")).Run(t.Context(), db); err != nil {
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
		mustEqual(t, "paths", got, []string{"𝄞%2F%25/", "Women's/Boots/", "Women's/Boots/é𝄞/", "Women's/", "Women's/Shoes%2FBoots/"})
		if _, _, err := kinds[0].tree.Rename("a", "b").Run(t.Context(), db); err == nil {
			t.Error("a tree without segments renames")
		}
	})
}

// Inserts at one place make the order keys long; then the siblings get short ones, and stay in order.
func TestTreeCrowd(t *testing.T) {
	parallel(t)
	n := 320
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		k := kinds[1]
		k.store(t, db, parse("a(b c)"))
		want := []string{"b", "c"}
		for i := range n {
			id := fmt.Sprint("n", i)
			if _, _, err := k.tree.Insert(category{ID: id}, paths.After("b")).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			want = slices.Insert(want, 1, id)
		}
		children, err := k.found(t.Context(), db, "a", k.tree.Children)
		if err != nil {
			t.Fatal(err)
		}
		got, longest := []string{}, 0
		for _, c := range children {
			got, longest = append(got, c.ID), max(longest, len(c.Order))
		}
		mustEqual(t, "children", got, want)
		if longest > 50 {
			t.Errorf("an order key has %d characters", longest)
		}
		if a := "a"; longest > 2 {
			if _, _, err := k.tree.Rebalance(&a).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		after, err := ids(k.found(t.Context(), db, "a", k.tree.Children))
		if err != nil {
			t.Fatal(err)
		}
		mustEqual(t, "rebalanced", after, want)
		k.whole(t, db)
	})
}
