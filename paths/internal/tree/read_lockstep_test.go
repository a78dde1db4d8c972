// The whole tree, in every representation: random operations are done to a stored tree and to a
// forest in memory, and every query must give the same answer.

package tree_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Random operations leave every representation as they leave the plain tree, with the same errors; and every query
// gives the same.
// By hand, DOCMODEL_STEPS says how many, and DOCMODEL_SEED which; from 2,000 on, the tree grows to 300 nodes, and
// chains to 20 levels.
func TestLockstep(t *testing.T) {
	testkit.Parallel(t)
	steps, seed, most := 150, 5, 60
	if testkit.Few() {
		steps = 60
	}
	for name, n := range map[string]*int{"DOCMODEL_STEPS": &steps, "DOCMODEL_SEED": &seed} {
		if s, err := strconv.Atoi(os.Getenv(name)); err == nil {
			*n = s
		}
	}
	if steps >= 2000 {
		most = 300
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.Kinds {
			k.Ensure(t, db)
		}
		draw := &pathstest.Drawing{
			R: rand.New(rand.NewPCG(uint64(steps), uint64(seed))), Forest: &paths.Forest[string]{}, Most: most,
		}
		forest, done, largest, deepest := draw.Forest, map[string]int{}, 0, 0
		for i := range steps {
			s := draw.Step()
			wanted := pathstest.Shape(forest)
			done[s.Name]++
			for _, k := range pathstest.Kinds {
				if _, err := s.Change(k).Run(t.Context(), db); !pathstest.SameError(err, s.Want) {
					t.Fatalf(
						"step %d, %s: %s %q: %v, want %v\nof %s", i, k.Name, s.Name, s.ID, err, s.Want,
						pathstest.Shape(forest),
					)
				}
				if got := pathstest.Shape(k.ReadForest(t, db)); got != wanted {
					t.Fatalf("step %d, %s: %s %q\n got %s\nwant %s", i, k.Name, s.Name, s.ID, got, wanted)
				}
			}
			if forest.Len() > 0 && (most == 60 || i%20 == 0) {
				compareNode(t, db, forest, draw.Pick(), draw.Pick())
			}
			if most > 60 && i%1000 == 999 {
				t.Log(i+1, "steps")
				for id := range forest.All() {
					compareNode(t, db, forest, id, draw.Pick())
				}
				for _, k := range pathstest.Kinds {
					k.WantWhole(t, db)
				}
			}
			largest = max(largest, forest.Len())
			for _, depth := range forest.All() {
				deepest = max(deepest, depth)
			}
		}
		t.Log(done, "at most", largest, "nodes, to depth", deepest)
	})
}

// compareNode asks every query of a node, of every representation.
func compareNode(t *testing.T, db *mongo.Database, f *paths.Forest[string], id, other string) {
	t.Helper()
	if !pathstest.Contains(f, id) || !pathstest.Contains(f, other) {
		return
	}
	ctx := t.Context()
	for _, k := range pathstest.Kinds {
		check := func(what string, want []string) func([]string, error) {
			return func(got []string, err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("%s: %s of %q: %v", k.Name, what, id, err)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s: %s of %q in %s: got %q, want %q", k.Name, what, id, pathstest.Shape(f), got, want)
				}
			}
		}
		check("roots", f.Roots())(pathstest.IDs(k.Tree.Roots().All(ctx, db)))
		check("children", pathstest.Must(f.Children(id)))(pathstest.IDs(k.Find(ctx, db, id, k.Tree.Children)))
		check("siblings", pathstest.SiblingsOf(f, id))(pathstest.IDs(k.Find(ctx, db, id, k.Tree.Siblings)))
		check("ancestors", pathstest.Must(f.Ancestors(id)))(pathstest.IDs(k.Ask(ctx, db, id, k.Tree.Ancestors)))
		for _, depth := range []int{0, 1, 2} {
			check(
				fmt.Sprint("descendants to ", depth), pathstest.Must(f.Descendants(id, depth)),
			)(pathstest.IDs(k.ReadBelow(ctx, db, id, depth)))
		}
		leaves, err := pathstest.IDs(k.Ask(ctx, db, id, k.Tree.Leaves))
		if !strings.HasPrefix(k.Name, "nested") { // which gives them in order
			slices.Sort(leaves)
			check("leaves", slices.Sorted(slices.Values(pathstest.LeavesOf(f, id))))(leaves, err)
		} else {
			check("leaves", pathstest.LeavesOf(f, id))(leaves, err)
		}
		n, err := pathstest.FindNode(ctx, db, k.Docs, id)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := k.Tree.Descendants(n, 0).Count(ctx, db); err != nil || int(n) != pathstest.CountBelow(f, id) {
			t.Fatalf("%s: count of %q: %d, %v, want %d", k.Name, id, n, err, pathstest.CountBelow(f, id))
		}
		line, err := k.ReadAncestors(ctx, db, id)
		others, errOther := k.ReadAncestors(ctx, db, other)
		want, ok := pathstest.FindCommon(
			append(pathstest.Must(f.Ancestors(id)), id), append(pathstest.Must(f.Ancestors(other)), other),
		)
		if got, found := pathstest.FindCommon(line, others); err != nil || errOther != nil || found != ok ||
			got != want {
			t.Fatalf("%s: common ancestor of %q and %q: %q, %v, %v, want %q", k.Name, id, other, got, found, err, want)
		}
		visits, err := k.Walk(ctx, db, id, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range visits {
			got = append(got, fmt.Sprint(v.Doc.ID, v.Depth))
		}
		check("walk", pathstest.WalkIDs(f, id))(got, nil)
	}
}
