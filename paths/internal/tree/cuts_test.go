// The whole of changes without a stored plan: they are cut at each write, as a fault matrix, and run
// again.

package tree_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// linksOnly is the tree of the same documents by their links alone.
func linksOnly(k pathstest.Kind) *paths.Tree[pathstest.Category, string] {
	return paths.NewParentTree(k.Docs, paths.TreeSpec{})
}

// cutLinks says that the links make the whole tree of a shape.
func cutLinks(want string) func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
	return func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
		report, err := pathstest.Inspect(ctx, db, linksOnly(k))
		if err != nil || len(report) > 0 {
			return fmt.Errorf("%v, %w", report, err)
		}
		f, err := paths.NewForest(linksOnly(k).Dump(ctx, db), func(c pathstest.Category) string { return c.ID })
		if err == nil && pathstest.Shape(f) != want {
			err = fmt.Errorf("the links make %s, not %s", pathstest.Shape(f), want)
		}
		return err
	}
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

// A conversion in place that is cut leaves the tree that it is converted from whole, and goes on when it is run again.
func TestConvertCuts(t *testing.T) {
	testkit.Parallel(t)
	const all = "a(b(c d(e)) f) g(h)"
	for _, k := range pathstest.CutKinds() {
		if len(k.Fields) == 0 {
			continue
		}
		pathstest.Cut{
			Seed: func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
				_, err := linksOnly(k).Load(pathstest.NodesOf(pathstest.Parse(all))).Run(ctx, db)
				return err
			},
			Run: func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
				_, err := paths.Convert(linksOnly(k), k.Tree).Run(ctx, db)
				return err
			},
			Stays:  cutLinks(all),
			Want:   pathstest.WantShape(all),
			Server: "children nested",
		}.Test(t, k)
	}
}

// A drop that is cut leaves the links, and takes away the rest when it is run again.
func TestDropCuts(t *testing.T) {
	testkit.Parallel(t)
	const all = "a(b(c d(e)) f) g(h)"
	for _, k := range pathstest.CutKinds() {
		if len(k.Fields) == 0 || k.Name == "direct" || k.Name == "direct gapped" { // which drop the same
			continue
		}
		pathstest.Cut{
			Seed: pathstest.LoadShape(all, false),
			Run: func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
				job := k.Tree.Drop(paths.NewParentTree(k.Docs, paths.TreeSpec{}))
				job.Stages[0].BatchSize = 3
				_, err := job.Run(ctx, db, model.JobOptions{})
				return err
			},
			Stays: cutLinks(all),
			Want: func(t testing.TB, db *mongo.Database, k pathstest.Kind) {
				for _, f := range k.Fields {
					if n, err := db.Collection(k.Name).CountDocuments(
						t.Context(), bson.D{{Key: f, Value: bson.D{{Key: "$exists", Value: true}}}},
					); n > 0 || err != nil {
						t.Errorf("%s: %d documents have %s, %v", k.Name, n, f, err)
					}
				}
				if err := cutLinks(all)(t.Context(), db, k); err != nil {
					t.Error(err)
				}
			},
			Server: "ancestors",
		}.Test(t, k)
	}
}

// Plans that run without a lease are run to their end from any cut, and change nothing when they are run again.
func TestPlanCuts(t *testing.T) {
	testkit.Parallel(t)
	const begin = "a(b(c d(e)) f) g(h)"
	for _, c := range []struct {
		name, end string
		change    func(*paths.Tree[pathstest.Category, string]) model.Change
	}{
		{"move", "a(b(c) f) g(h d(e))", func(tree *paths.Tree[pathstest.Category, string]) model.Change {
			return tree.Move("d", paths.LastChild("g"))
		}},
		{"insert", "a(b(x c d(e)) f) g(h)", func(tree *paths.Tree[pathstest.Category, string]) model.Change {
			return tree.Insert(pathstest.Category{ID: "x"}, paths.FirstChild("b"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, k := range pathstest.CutKinds() {
				if c.name == "insert" && (k.Fields == nil || k.Fields[0] != "left" && k.Fields[0] != "children") {
					continue // one document
				}
				var plan model.Plan
				pathstest.Cut{
					Seed: func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
						err := pathstest.LoadShape(begin, true)(ctx, db, k)
						plan = pathstest.MakePlan(t, db, c.change(k.Tree), 7)
						return err
					},
					Run: func(ctx context.Context, db *mongo.Database, _ pathstest.Kind) error {
						_, err := plan.Run(ctx, db)
						return err
					},
					Stays:  pathstest.KeepIDs(strings.Split("abcdefgh", "")...),
					Want:   pathstest.WantShape(c.end),
					Server: "nested",
				}.Test(t, k)
			}
		})
	}
}
