package tree_test

import (
	"context"
	"errors"
	"reflect"
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

// A node that a unique index of the user's refuses leaves the tree as it was, and in nobody's way: also where others
// would be
// shifted for it, or get new order keys.
func TestInsertRefused(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.Kinds {
			k.Ensure(t, db)
			k.Store(t, db, pathstest.Parse("a(b(c d) e) f"))
			crowded := "a0" + strings.Repeat("0", 150) + "V" // d comes so close after c
			names := model.Plan{}
			for id, name := range map[string]string{"a": "A", "b": "B", "c": "C", "d": "D", "e": "E", "f": "F"} {
				names.Steps = append(
					names.Steps, k.Docs.Update(id, bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: name}}}}),
				)
			}
			for id, order := range map[string]string{"c": "a0", "d": crowded} {
				names.Steps = append(
					names.Steps, k.Docs.Update(id, bson.D{{Key: "$set", Value: bson.D{{Key: "order", Value: order}}}}),
				)
			}
			_, err := names.Run(t.Context(), db)
			if err == nil {
				err = createUnique(t.Context(), db, k.Docs.Name(), bson.D{{Key: "name", Value: 1}})
			}
			if err != nil {
				t.Fatal(err)
			}
			before := k.ReadAll(t, db)
			for _, at := range []paths.Place[string]{
				paths.FirstRoot[string](), paths.LastRoot[string](), paths.FirstChild("a"), paths.Before("e"),
				paths.After("c"), paths.LastChild("f"),
			} {
				_, err := k.Tree.Insert(pathstest.Category{ID: "x", Name: "E"}, at).Run(t.Context(), db)
				if !mongo.IsDuplicateKeyError(err) {
					t.Fatalf("%s: %v: %v", k.Name, at, err)
				}
				if after := k.ReadAll(t, db); !reflect.DeepEqual(before, after) {
					t.Errorf("%s: %v: a refused insert wrote %v", k.Name, at, after)
				}
			}
			if _, err := k.Tree.Insert(
				pathstest.Category{ID: "x", Name: "X"}, paths.After("c"),
			).Run(t.Context(), db); err != nil {
				t.Errorf("%s: the next one: %v", k.Name, err)
			}
			k.WantWhole(t, db)
			if got := pathstest.Shape(k.ReadForest(t, db)); got != "a(b(c x d) e) f" {
				t.Errorf("%s: %s", k.Name, got)
			}
		}
	})
}

func createUnique(ctx context.Context, db *mongo.Database, collection string, keys any) error {
	return db.RunCommand(ctx, bson.D{{Key: "createIndexes", Value: collection}, {Key: "indexes", Value: bson.A{
		bson.D{{Key: "name", Value: "unique"}, {Key: "key", Value: keys}, {Key: "unique", Value: true}},
	}}}).Err()
}

// A node without a segment, by other code, is reported and left alone with all below it; the others are mended.
func TestBadSegment(t *testing.T) {
	docs := model.NewCollection[pathstest.Category, string]("named")
	tree := paths.NewMaterializedPath(docs, paths.MaterializedPathSpec{Segment: "name"})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		for _, n := range []struct {
			id string
			at paths.Place[string]
		}{
			{"a", paths.LastRoot[string]()}, {"b", paths.LastChild("a")}, {"c", paths.LastChild("b")},
			{"d", paths.LastChild("a")},
		} {
			if _, err := tree.Insert(
				pathstest.Category{ID: n.id, Name: strings.ToUpper(n.id)}, n.at,
			).Run(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		for id, set := range map[string]bson.D{
			"b": {{Key: "$unset", Value: bson.D{{Key: "name", Value: ""}}}},
			"d": {{Key: "$set", Value: bson.D{{Key: "path", Value: "wrong/"}}}},
		} {
			if _, err := model.NewPlan(docs.Update(id, set)).Run(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		suspects := 0
		for _, q := range tree.Checks()[0].Queries {
			found, err := q.All(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			suspects += len(found)
		}
		if suspects == 0 {
			t.Error("nothing is suspected")
		}
		for range 2 {
			report, err := pathstest.Inspect(ctx, db, tree)
			if err != nil {
				t.Fatal(err)
			}
			bad := false
			for _, p := range report {
				bad = bad || pathstest.ReadKind(p) == "segment" && p.ID.StringValue() == "b" &&
					p.Detail.Lookup("field").StringValue() == "name"
			}
			if !bad {
				t.Errorf("the check finds %v", report)
			}
			if _, err := pathstest.MendTree(tree).Run(ctx, db); err != nil && !errors.Is(err, paths.ErrSegment) {
				t.Fatal(err)
			}
		}
		for id, want := range map[string]string{"a": "A/", "b": "A/B/", "c": "A/B/C/", "d": "A/D/"} {
			if c, err := docs.ByID(id).One(ctx, db); err != nil || c.Path != want {
				t.Errorf("%s has %q, %v, want %q", id, c.Path, err, want)
			}
		}
	})
}

// A document without what the representation keeps is refused by name, before anything is written.
func TestUnsound(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.Kinds {
			if len(k.Fields) == 0 {
				continue
			}
			k.Ensure(t, db)
			k.Store(t, db, pathstest.Parse("a(b(c)) d"))
			if _, err := db.Collection(k.Name).UpdateOne(
				t.Context(), bson.D{{Key: "_id", Value: "b"}},
				bson.D{{Key: "$unset", Value: bson.D{{Key: k.Fields[0], Value: ""}}}},
			); err != nil {
				t.Fatal(err)
			}
			for what, run := range map[string]func() error{
				"a move": func() error {
					_, err := k.Tree.Move(
						"b", paths.LastChild("d"),
					).Run(t.Context(), db)
					return err
				},
				"a child": func() error {
					_, err := k.Tree.Insert(pathstest.Category{ID: "x"}, paths.LastChild("b")).Run(t.Context(), db)
					return err
				},
				"a deletion": func() error {
					_, err := k.Tree.Delete("b", paths.Subtree).Run(t.Context(), db)
					return err
				},
				"a promotion": func() error {
					_, err := k.Tree.Delete("b", paths.Promote).Run(t.Context(), db)
					return err
				},
			} {
				var refused *model.ValueError
				if err := run(); !errors.As(err, &refused) || refused.Collection != k.Name {
					t.Errorf("%s, %s: %v", k.Name, what, err)
				}
			}
			if got := pathstest.Shape(k.ReadForest(t, db)); got != "a(b(c)) d" {
				t.Errorf("%s: %s is stored", k.Name, got)
			}
			if _, err := pathstest.MendTree(k.Tree).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			k.WantWhole(t, db)
		}
	})
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
