package tree_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// At each moment of a move, a reader finds the node below one of both parents, and below what lies above both.
func TestChildTreeBetween(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, to := range []string{"c", "a", ""} {
			childKind.Store(t, db, pathstest.Parse("a(b(x(y)) c)"))
			at := paths.LastRoot[string]()
			if to != "" {
				at = paths.LastChild(to)
			}
			steps := pathstest.MakePlan(t, db, childTree.Move("x", at), 7).Steps
			for i := 0; i <= len(steps); i++ {
				found := ""
				for _, id := range []string{"a", "b", "c"} {
					below, err := pathstest.IDs(childKind.ReadBelow(t.Context(), db, id, 0))
					if err != nil {
						t.Fatal(err)
					}
					if slices.Contains(below, "x") != slices.Contains(below, "y") {
						t.Errorf("to %q, after %d: below %s are %v", to, i, id, below)
					}
					if slices.Contains(below, "x") {
						found += id
					}
				}
				roots, err := pathstest.IDs(childKind.Tree.Roots().All(t.Context(), db))
				if want := map[string]string{
					"c": "ac", "a": "a", "": "",
				}[to]; err != nil || found != "ab" && found != want || found == "" && !slices.Contains(roots, "x") {
					t.Errorf("to %q, after %d writes it is below %q, %v", to, i, found, err)
				}
				if i < len(steps) {
					one := model.NewPlan(steps[i])
					if _, err := one.Run(t.Context(), db); err != nil {
						t.Fatal(err)
					}
				}
			}
			childKind.WantWhole(t, db)
		}
	})
}

// A move of a node that was moved in the meantime is stale, and takes back what it wrote; another that moved it there
// stays.
func TestChildTreeStale(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, to := range []string{"b", "c", "d"} {
			childKind.Store(t, db, pathstest.Parse("a(x) b(y) c d"))
			other := pathstest.MakePlan(t, db, childTree.Move("x", paths.LastChild(to)), 6)
			late := pathstest.MakePlan(t, db, childTree.Move("x", paths.FirstChild("b")), 7)
			if _, err := other.Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if _, err := late.Run(t.Context(), db); !errors.Is(err, model.ErrStale) {
				t.Errorf("to %s: %v", to, err)
			}
			childKind.WantWhole(t, db)
		}
	})
}

// A plan that is run again, wholly or in part, after others have gone on, changes nothing more.
func TestChildTreeLate(t *testing.T) {
	testkit.Parallel(t)
	runs := 40
	if pathstest.Full {
		runs = 400
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(21, 6))
		for range runs {
			f := pathstest.Parse("a(b(c d) e(f g)) h")
			childKind.Store(t, db, f)
			var plans []model.Plan
			for change := int64(5); change < 10; change++ {
				id, to := pathstest.PickID(r, f), pathstest.PickID(r, f)
				if f.Move(id, paths.LastChild(to)) != nil {
					continue
				}
				p := pathstest.MakePlan(t, db, childTree.Move(id, paths.LastChild(to)), change)
				if _, err := p.Run(t.Context(), db); err != nil {
					t.Fatal(p, err)
				}
				if len(p.Steps) > 0 { // else it was there already
					plans = append(plans, p)
				}
			}
			if len(plans) == 0 {
				continue
			}
			late := plans[r.IntN(len(plans))]
			for _, s := range late.Steps[r.IntN(len(late.Steps)):] {
				p := model.NewPlan(s)
				if _, err := p.Run(t.Context(), db); err != nil && !errors.Is(err, model.ErrStale) && !errors.Is(
					err, model.ErrNotFound,
				) {
					t.Fatal(err)
				}
			}
			if got := pathstest.Shape(childKind.ReadForest(t, db)); got != pathstest.Shape(f) {
				t.Fatalf("%s, want %s\n%v", got, pathstest.Shape(f), late)
			}
			childKind.WantWhole(t, db)
		}
	})
}

// A node in the middle of a list is deleted, and its children take its place: cut after any write and run again, they
// stay there.
func TestChildTreePromoteCut(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for mode, want := range map[paths.DeleteMode]string{
			paths.Promote: "a(b d e f)", paths.Rootify: "a(b f) d e", paths.Subtree: "a(b f)",
		} {
			for cut := 0; ; cut++ {
				childKind.Store(t, db, pathstest.Parse("a(b c(d e) f)"))
				change := childKind.Tree.Delete("c", mode)
				plan, err := change.Plan(runctx.WithFence(t.Context(), 9), db)
				if err != nil {
					t.Fatal(err)
				}
				if cut > len(plan.Steps) {
					break
				}
				for _, p := range []model.Plan{model.NewPlan(plan.Steps[:cut]...), plan, plan} {
					if _, err := p.Run(t.Context(), db); err != nil {
						t.Fatal(err)
					}
				}
				if got := pathstest.Shape(childKind.ReadForest(t, db)); got != want {
					t.Errorf("%v, cut after %d: %s", pathstest.ModeName(mode), cut, got)
				}
				childKind.WantWhole(t, db)
			}
		}
	})
}
