package paths_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// mistype gives every node fields that can't be decoded: a total that isn't a document, and a number as the name, unless it is a segment.
func (k kind) mistype(t testing.TB, db *mongo.Database) {
	t.Helper()
	set := bson.D{{Key: "total", Value: "mistyped"}}
	if k.name != named.name {
		set = append(set, bson.E{Key: "name", Value: 7})
	}
	if _, err := db.Collection(k.name).UpdateMany(t.Context(), bson.D{}, bson.D{{Key: "$set", Value: set}}); err != nil {
		t.Fatal(err)
	}
	if all, err := k.docs.Find(nil).All(t.Context(), db); err == nil && len(all) > 0 {
		t.Fatalf("%s: mistyped nodes are decoded: %v", k.name, all)
	}
}

// shapeByID is the tree as its ids alone tell it.
func (k kind) shapeByID(ctx context.Context, db *mongo.Database) (string, error) {
	f, err := paths.NewForest(k.tree.DumpIDs(ctx, db), func(id string) string { return id })
	if err != nil {
		return "", err
	}
	return shape(f), nil
}

// Fields of the user's don't have to be decoded for what isn't made of them: changes, checks, counts, ids and totals.
func TestMistyped(t *testing.T) {
	tenancy.Differs(t, "an updateMany of the test's reaches another tenant's nodes too")
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range append(append(slices.Clone(kinds), named), nestedKinds[1].kind) {
			k.ensure(t, db)
			r := rand.New(rand.NewPCG(5, 12))
			f := convertForest(r, 12)
			k.store(t, db, f)
			for i := 0; i < 25 && k.name != named.name; i++ { // random names are not unique
				k.mistype(t, db)
				op, change, want := randomStep(r, f)
				if _, _, err := change(k).Run(t.Context(), db); !sameErr(err, want) {
					t.Fatalf("%s: %s: %v, want %v", k.name, op, err, want)
				}
				if got, err := k.shapeByID(t.Context(), db); err != nil || got != shape(f) {
					t.Fatalf("%s: after %s: %s, %v, want %s", k.name, op, got, err, shape(f))
				}
			}
			k.mistype(t, db)
			k.whole(t, db)
			for id := range f.All() {
				k.askMistyped(t, db, f, id)
			}
			k.changeMistyped(t, db)
		}
	})
}

// askMistyped compares what is asked of a node with the plain tree.
func (k kind) askMistyped(t *testing.T, db *mongo.Database, f *paths.Forest[string], id string) {
	t.Helper()
	ctx := t.Context()
	if _, err := find(ctx, db, k.docs, id); err == nil {
		t.Fatalf("%s: %s is decoded", k.name, id)
	}
	n, err := k.tree.Links(id).One(ctx, db)
	if err != nil {
		t.Fatalf("%s: %v", k.name, err)
	}
	for what, q := range map[string]struct {
		count interface {
			Count(context.Context, model.DB) (int64, error)
		}
		want int
	}{
		"roots":     {k.tree.Roots(), len(f.Roots())},
		"children":  {k.tree.Children(&n), len(sure(f.Children(id)))},
		"siblings":  {k.tree.Siblings(&n), len(siblingsOf(f, id))},
		"ancestors": {k.tree.Ancestors(&n), len(sure(f.Ancestors(id)))},
		"below":     {k.tree.Descendants(&n, 0), len(sure(f.Descendants(id, 0)))},
	} {
		if got, err := q.count.Count(ctx, db); err != nil || got != int64(q.want) {
			t.Errorf("%s: %s of %s: %d, %v, want %d", k.name, what, id, got, err, q.want)
		}
	}
	up := k.rollUp()
	if total, err := up.Total(&n).One(ctx, db); err != nil || total != rollUpOracle(f, nil, id) {
		t.Errorf("%s: total of %s: %+v, %v", k.name, id, total, err)
	}
	for _, of := range []*category{&n, nil} {
		want := f.Roots()
		if of != nil {
			want = sure(f.Children(id))
		}
		totals, err := up.Children(ctx, db, of)
		rollUpSame(t, k.name, f, nil, want, totals, err)
	}
}

// changeMistyped runs what random steps don't: repairs, totals, renames and removals of the tree's fields.
func (k kind) changeMistyped(t *testing.T, db *mongo.Database) {
	t.Helper()
	ctx := t.Context()
	k.store(t, db, parse("a(b(c) d) e"))
	k.mistype(t, db)
	k.put(t, db, "d", bson.D{{Key: "parent", Value: "z"}})
	for _, step := range []struct {
		what string
		run  func() error
	}{
		{"repair", func() error { _, _, err := mends(k.tree).Run(ctx, db); return err }},
		{"rebalance", func() error { _, _, err := k.tree.Rebalance(nil).Run(ctx, db); return err }},
		{"store", func() error { _, _, err := k.rollUp().Store().Run(ctx, db); return err }},
		{"rename", func() error {
			if k.name != named.name {
				return nil
			}
			_, _, err := k.tree.Rename("b", "new").Run(ctx, db)
			return err
		}},
		{"drop", func() error {
			if k.fields == nil {
				return nil
			}
			_, err := k.tree.Drop(paths.NewParentTree(k.docs, paths.TreeSpec{})).Run(ctx, db, model.JobOptions{})
			return err
		}},
	} {
		if err := step.run(); err != nil {
			t.Errorf("%s: %s: %v", k.name, step.what, err)
		}
		if got, err := k.shapeByID(ctx, db); step.what != "drop" && (err != nil || got != "a(b(c)) e d") {
			t.Errorf("%s: after %s: %s, %v", k.name, step.what, got, err)
		}
		k.mistype(t, db)
	}
	left, err := db.Collection(k.name).CountDocuments(ctx, bson.D{{Key: "total", Value: "mistyped"}})
	if err != nil || left != 5 {
		t.Errorf("%s: %d nodes, %v", k.name, left, err)
	}
}
