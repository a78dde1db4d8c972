package paths_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// mistypeNodes gives every node fields that can't be decoded: a total that isn't a document, and a number as the name,
// unless it is a segment.
func mistypeNodes(k pathstest.Kind, t testing.TB, db *mongo.Database) {
	t.Helper()
	set := bson.D{{Key: "total", Value: "mistyped"}}
	if k.Name != pathstest.Named.Name {
		set = append(set, bson.E{Key: "name", Value: 7})
	}
	if _, err := db.Collection(k.Name).UpdateMany(
		t.Context(), bson.D{}, bson.D{{Key: "$set", Value: set}},
	); err != nil {
		t.Fatal(err)
	}
	if all, err := k.Docs.Find(nil).All(t.Context(), db); err == nil && len(all) > 0 {
		t.Fatalf("%s: mistyped nodes are decoded: %v", k.Name, all)
	}
}

// shapeByID is the tree as its ids alone tell it.
func shapeByID(k pathstest.Kind, ctx context.Context, db *mongo.Database) (string, error) {
	f, err := paths.NewForest(k.Tree.DumpIDs(ctx, db), func(id string) string { return id })
	if err != nil {
		return "", err
	}
	return pathstest.Shape(f), nil
}

// Fields of the user's don't have to be decoded for what isn't made of them: changes, checks, counts, ids and totals.
func TestMistyped(t *testing.T) {
	tenancy.Differs(t, "an updateMany of the test's reaches another tenant's nodes too")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range append(
			append(slices.Clone(pathstest.Kinds), pathstest.Named), pathstest.NestedKinds[1].Kind,
		) {
			k.Ensure(t, db)
			r := rand.New(rand.NewPCG(5, 12))
			f := pathstest.DrawForest(r, 12)
			k.Store(t, db, f)
			for i := 0; i < 25 && k.Name != pathstest.Named.Name; i++ { // random names are not unique
				mistypeNodes(k, t, db)
				op, change, want := pathstest.DrawStep(r, f)
				if _, err := change(k).Run(t.Context(), db); !pathstest.SameError(err, want) {
					t.Fatalf("%s: %s: %v, want %v", k.Name, op, err, want)
				}
				if got, err := shapeByID(k, t.Context(), db); err != nil || got != pathstest.Shape(f) {
					t.Fatalf("%s: after %s: %s, %v, want %s", k.Name, op, got, err, pathstest.Shape(f))
				}
			}
			mistypeNodes(k, t, db)
			k.WantWhole(t, db)
			for id := range f.All() {
				askMistyped(k, t, db, f, id)
			}
			changeMistyped(k, t, db)
		}
	})
}

// askMistyped compares what is asked of a node with the plain tree.
func askMistyped(k pathstest.Kind, t *testing.T, db *mongo.Database, f *paths.Forest[string], id string) {
	t.Helper()
	ctx := t.Context()
	if _, err := pathstest.FindNode(ctx, db, k.Docs, id); err == nil {
		t.Fatalf("%s: %s is decoded", k.Name, id)
	}
	n, err := k.Tree.Links(id).One(ctx, db)
	if err != nil {
		t.Fatalf("%s: %v", k.Name, err)
	}
	for what, q := range map[string]struct {
		count interface {
			Count(context.Context, model.DB) (int64, error)
		}
		want int
	}{
		"roots":     {k.Tree.Roots(), len(f.Roots())},
		"children":  {k.Tree.Children(&n), len(pathstest.Must(f.Children(id)))},
		"siblings":  {k.Tree.Siblings(&n), len(pathstest.SiblingsOf(f, id))},
		"ancestors": {k.Tree.Ancestors(&n), len(pathstest.Must(f.Ancestors(id)))},
		"below":     {k.Tree.Descendants(&n, 0), len(pathstest.Must(f.Descendants(id, 0)))},
	} {
		if got, err := q.count.Count(ctx, db); err != nil || got != int64(q.want) {
			t.Errorf("%s: %s of %s: %d, %v, want %d", k.Name, what, id, got, err, q.want)
		}
	}
	up := pathstest.RollUpItems(k)
	if total, err := up.Total(&n).One(ctx, db); err != nil || total != pathstest.AddTotals(f, nil, id) {
		t.Errorf("%s: total of %s: %+v, %v", k.Name, id, total, err)
	}
	for _, of := range []*pathstest.Category{&n, nil} {
		want := f.Roots()
		if of != nil {
			want = pathstest.Must(f.Children(id))
		}
		totals, err := up.Children(ctx, db, of)
		pathstest.WantTotals(t, k.Name, f, nil, want, totals, err)
	}
}

// changeMistyped runs what random steps don't: repairs, totals, renames and removals of the tree's fields.
func changeMistyped(k pathstest.Kind, t *testing.T, db *mongo.Database) {
	t.Helper()
	ctx := t.Context()
	k.Store(t, db, pathstest.Parse("a(b(c) d) e"))
	mistypeNodes(k, t, db)
	k.Put(t, db, "d", bson.D{{Key: "parent", Value: "z"}})
	for _, step := range []struct {
		what string
		run  func() error
	}{
		{"repair", func() error { _, err := pathstest.MendTree(k.Tree).Run(ctx, db); return err }},
		{"rebalance", func() error { _, err := k.Tree.Rebalance(nil).Run(ctx, db); return err }},
		{"store", func() error { _, err := pathstest.RollUpItems(k).Store().Run(ctx, db); return err }},
		{"rename", func() error {
			if k.Name != pathstest.Named.Name {
				return nil
			}
			_, err := k.Tree.Rename("b", "new").Run(ctx, db)
			return err
		}},
		{"drop", func() error {
			if k.Fields == nil {
				return nil
			}
			_, err := k.Tree.Drop(paths.NewParentTree(k.Docs, paths.TreeSpec{})).Run(ctx, db, model.JobOptions{})
			return err
		}},
	} {
		if err := step.run(); err != nil {
			t.Errorf("%s: %s: %v", k.Name, step.what, err)
		}
		if got, err := shapeByID(k, ctx, db); step.what != "drop" && (err != nil || got != "a(b(c)) e d") {
			t.Errorf("%s: after %s: %s, %v", k.Name, step.what, got, err)
		}
		mistypeNodes(k, t, db)
	}
	left, err := db.Collection(k.Name).CountDocuments(ctx, bson.D{{Key: "total", Value: "mistyped"}})
	if err != nil || left != 5 {
		t.Errorf("%s: %d nodes, %v", k.Name, left, err)
	}
}
