package bounded_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// kept is a bounded array in plain Go: append, sort, cut.
type kept struct {
	max   int
	first bool
	less  func(a, b post) int // nil keeps the order of pushing
	key   bool
	list  []post
}

func (k *kept) pushAll(more ...post) []post {
	out := append(slices.Clone(k.list), more...)
	if k.less != nil {
		slices.SortStableFunc(out, k.less)
	}
	if over := len(out) - k.max; over > 0 && k.first {
		out = out[:k.max]
	} else if over > 0 {
		out = out[over:]
	}
	return out
}

func (k *kept) hasPost(id string) bool {
	return slices.ContainsFunc(k.list, func(p post) bool { return p.ID == id })
}

// push says what a push does: applied, recognized as done, or refused as stale.
func (k *kept) push(more []post) (model.Status, error) {
	missing := slices.DeleteFunc(slices.Clone(more), func(p post) bool { return k.hasPost(p.ID) })
	switch {
	case !k.key || len(missing) == len(more):
		k.list = k.pushAll(more...)
		return model.Applied, nil
	case k.less == nil && !k.first:
		if tail := more[max(0, len(more)-k.max):]; !slices.ContainsFunc(tail, func(p post) bool {
			return !k.hasPost(p.ID)
		}) {
			return model.Already, nil
		}
	case len(missing) == 0 || len(k.list) >= k.max && slices.Equal(k.pushAll(missing...), k.pushAll()):
		return model.Already, nil
	}
	return model.NotSent, model.ErrStale
}

func (k *kept) trim() {
	if len(k.list) > k.max {
		k.list = k.pushAll()
	}
}

// Under random operations the stored array is what the plain one is.
func TestBoundedIsAppendSortCut(t *testing.T) {
	testkit.Parallel(t)
	orders := []struct {
		by   bson.D
		less func(a, b post) int
	}{
		{nil, nil},
		{byN, func(a, b post) int { return cmp.Or(cmp.Compare(a.N, b.N), cmp.Compare(a.ID, b.ID)) }},
		{byNTop, func(a, b post) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.ID, b.ID)) }},
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, order := range orders {
			for keep, first := range []bool{false, true} {
				for _, key := range []string{"", "id"} {
					t.Run(fmt.Sprintf("order %d, keep %d, key %q", i, keep, key), func(t *testing.T) {
						random := rand.New(rand.NewPCG(uint64(i), uint64(keep)+2*uint64(len(key))))
						for round := range 4 {
							b := newBounded(bounded.Spec{Max: 1 + round*2, First: first, By: order.by, Key: key})
							k := &kept{max: 1 + round*2, first: first, less: order.less, key: key != ""}
							lockstep(t, db, random, b, k)
						}
					})
				}
			}
		}
	})
}

func lockstep(t *testing.T, db *mongo.Database, random *rand.Rand, b *bounded.Bounded[board, string], k *kept) {
	for range random.IntN(9) { // what was there before the bound was declared
		k.list = append(k.list, post{ID: fmt.Sprint("old", len(k.list)), N: random.IntN(5)})
	}
	testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "b", Posts: k.list}}})
	for range 40 {
		var w model.Write
		var want error
		status := model.Applied
		switch n := random.IntN(20); {
		case n == 0:
			w, k.list = boards.Update("b", bson.D{testkit.E("$set", bson.D{testkit.E("posts", bson.A{})})}), nil
		case n == 1:
			if err := testkit.CheckJob(b.Checks()[0])(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			k.trim()
		case n == 2 && k.key:
			id := fmt.Sprint("p", random.IntN(12))
			w = b.Remove("b", id)
			k.list = slices.DeleteFunc(k.list, func(p post) bool { return p.ID == id })
		default:
			more, args := randomPosts(random)
			status, want = k.push(more)
			w = b.Push("b", args...)
		}
		var result model.Result
		var err error
		if w.Model != nil {
			result, err = w.Run(t.Context(), db)
		}
		if !errors.Is(err, want) || want == nil && w.Model != nil && result.Steps[0].Status != status {
			t.Fatalf("%s\ngave %v, %v; want status %d, %v; the array is %v", w, result.Steps, err, status, want, k.list)
		}
		stored, err := boards.ByID("b").One(t.Context(), db)
		if err != nil || !slices.Equal(stored.Posts, k.list) {
			t.Fatalf("after %s\nstored %v, want %v (%v)", w, stored.Posts, k.list, err)
		}
	}
}

// randomPosts are one to five posts with different ids.
func randomPosts(random *rand.Rand) (list []post, args []any) {
	for _, id := range random.Perm(12)[:1+random.IntN(5)] {
		p := post{ID: fmt.Sprint("p", id), N: random.IntN(5)}
		list, args = append(list, p), append(args, p)
	}
	return list, args
}

// MongoDB doesn't promise which of equal elements stays; which values stay, it does.
func TestBoundedTies(t *testing.T) {
	testkit.Parallel(t)
	tied := newBounded(bounded.Spec{Max: 3, By: bson.D{{Key: "n", Value: 1}}})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, makeBoard("a2", "b2", "c1"))
		if _, err := tied.Push("b", elements("d2", "e2")...).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		b, err := boards.ByID("b").One(t.Context(), db)
		if err != nil || len(b.Posts) != 3 || slices.ContainsFunc(b.Posts, func(p post) bool { return p.N != 2 }) {
			t.Errorf("%v, %v", b, err)
		}
	})
}
