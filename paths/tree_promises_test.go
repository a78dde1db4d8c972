package paths_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A promise is what a doc comment says that an operation costs.
type promise struct {
	name string
	run  func() error
	want model.Cost
	but  map[string]model.Cost // of some representations
}

// What the doc comments promise of each representation is what is measured.
func TestTreePromises(t *testing.T) {
	tenancy.Differs(
		t, "a deletion is an update, which is sent with others in one command, and keeps what it counts or indexes",
	)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, k := range append(pathstest.CutKinds()[:6], pathstest.Named) {
			if testkit.Sample && i%3 > 0 {
				continue
			}
			k.Ensure(t, db)
			for _, list := range []func(pathstest.Kind, testing.TB, *mongo.Database) []promise{
				queryPromises, readPromises, placePromises, changePromises,
			} {
				k.Store(t, db, pathstest.Parse("a(b(c d(e)) f) g(h)"))
				for _, p := range list(k, t, db) {
					p.hold(t, monitor, k)
				}
			}
		}
	}, monitor)
}

// hold fails the test unless the promise is held with a representation that has the operation.
func (p promise) hold(t *testing.T, monitor *mongotest.Monitor, k pathstest.Kind) {
	t.Helper()
	want, ok := p.but[k.Name]
	if !ok {
		want = p.want
	}
	if want.Commands == 0 {
		return
	}
	got, err := modeltest.Measure(monitor, p.run)
	if err != nil || got.Commands != want.Commands || got.Written != want.Written || got.Returned != want.Returned {
		t.Errorf("%s: %s: %d commands, %d written, %d returned, %v; want %d, %d, %d", k.Name, p.name,
			got.Commands, got.Written, got.Returned, err, want.Commands, want.Written, want.Returned)
	}
}

// queryPromises are those of the queries that a representation gives as values.
func queryPromises(k pathstest.Kind, t testing.TB, db *mongo.Database) []promise {
	ctx, cost := t.Context(), func(returned int) model.Cost { return model.Cost{Commands: 1, Returned: returned} }
	read := func(id string) *pathstest.Category {
		doc, err := k.Docs.ByID(id).One(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		return &doc
	}
	if n := len(k.Suspects); n < 2 || n > 4 {
		t.Errorf("%s: %d queries for suspects", k.Name, n)
	}
	a, d := read("a"), read("d")
	out := []promise{
		{"roots", func() error { _, err := k.Tree.Roots().All(ctx, db); return err }, cost(2), nil},
		{"children", func() error { _, err := k.Tree.Children(a).All(ctx, db); return err }, cost(2), nil},
		{"siblings", func() error { _, err := k.Tree.Siblings(d).All(ctx, db); return err }, cost(1), nil},
		{"ancestors", func() error { _, err := k.Tree.Ancestors(d).All(ctx, db); return err }, cost(2), nil},
		{"descendants", func() error { _, err := k.Tree.Descendants(a, 0).All(ctx, db); return err }, cost(5), nil},
		{"to a depth", func() error { _, err := k.Tree.Descendants(a, 2).All(ctx, db); return err }, cost(4), nil},
		{"leaves", func() error { _, err := k.Tree.Leaves(a).All(ctx, db); return err }, cost(3), nil},
		{"count", func() error { _, err := k.Tree.Descendants(a, 0).Count(ctx, db); return err }, cost(1), nil},
	}
	if k.Name == "children" {
		out = append(
			out,
			promise{
				"check of lists", func() error { _, err := k.Tree.CheckLists().All(ctx, db); return err }, cost(8), nil,
			},
		)
	}
	return out
}

// readPromises are those of the reads of more than one command, of the tree a(b(c d(e)) f) g(h).
func readPromises(k pathstest.Kind, t testing.TB, db *mongo.Database) []promise {
	ctx, cost := t.Context(), func(
		commands, returned int,
	) model.Cost {
		return model.Cost{Commands: commands, Returned: returned}
	}
	return []promise{
		{"dump", func() error {
			for _, err := range k.Tree.Dump(ctx, db) {
				if err != nil {
					return err
				}
			}
			return nil
		}, cost(2, 8+8), map[string]model.Cost{"nested": cost(1, 8), "gapped": cost(1, 8)}},
		{"settled", func() error {
			return k.Tree.Settled(
				ctx, db, func(ctx context.Context) error { _, err := k.Tree.Roots().All(ctx, db); return err },
			)
		}, cost(3, 2+2), nil},
		{"check", func() error { _, err := pathstest.Inspect(ctx, db, k.Tree); return err }, cost(4, 1),
			map[string]model.Cost{"parents": cost(5, 1), "nested": cost(5, 1), "children": cost(6, 1)}},
	}
}

// placePromises are those of inserts and moves, to the nearest places and to those that take most to be found.
func placePromises(k pathstest.Kind, t testing.TB, db *mongo.Database) []promise {
	ctx, cost := t.Context(), func(commands, written, returned int) model.Cost {
		return model.Cost{Commands: commands, Written: written, Returned: returned + 1} // and the lock document
	}
	run := func(c pathstest.Runner) func() error {
		return func() error { _, err := c.Run(ctx, db); return err }
	}
	return []promise{
		{"insert a root", run(
			k.Tree.Insert(pathstest.Category{ID: "x", Name: "x"}, paths.LastRoot[string]()),
		), cost(6, 3+1, 1),
			map[string]model.Cost{"paths": cost(7, 3+1, 1), "named": cost(7, 3+1, 1)}},
		{"insert before a node", run(
			k.Tree.Insert(pathstest.Category{ID: "y", Name: "y"}, paths.Before("c")),
		), cost(7, 3+1, 2), map[string]model.Cost{
			"paths": cost(8, 3+1, 2), "named": cost(8, 3+1, 2), "nested": cost(8, 3+18, 2), "children": cost(8, 3+2, 2),
		}},
		{"move to the roots", run(k.Tree.Move("y", paths.LastRoot[string]())), cost(6, 3+1, 2), map[string]model.Cost{
			"ancestors": cost(6, 3+1, 2), "paths": cost(7, 3+1, 2), "named": cost(7, 3+1, 2),
			"nested": cost(6, 3+18, 2), "gapped": cost(6, 3+1, 2),
			"children": cost(7, 3+2, 2),
		}},
		{"move before a node", run(k.Tree.Move("e", paths.Before("c"))), cost(7, 3+1, 3), map[string]model.Cost{
			"parents": cost(8, 3+1, 4), "paths": cost(8, 3+1, 3), "named": cost(8, 3+1, 3), "nested": cost(7, 3+6, 3),
			"gapped":   cost(8, 3+1, 3),
			"children": cost(10, 3+3, 4),
		}},
	}
}

// changePromises are those of the changes, one after the other, their leases included.
func changePromises(k pathstest.Kind, t testing.TB, db *mongo.Database) []promise {
	ctx, a := t.Context(), "a"
	cost := func(commands, written, returned int) model.Cost {
		return model.Cost{Commands: commands, Written: written, Returned: returned + 1} // and the lock document
	}
	job := func(commands, written, returned int) model.Cost {
		return model.Cost{Commands: commands, Written: written, Returned: returned}
	}
	run := func(c pathstest.Runner) func() error {
		return func() error { _, err := c.Run(ctx, db); return err }
	}
	// A second node comes to have the order key of its sibling: one document is to be mended.
	damage := func() {
		if err := k.SetFields(ctx, db, bson.D{{Key: "_id", Value: "f"}, {Key: "order", Value: "a0"}}); err != nil {
			t.Fatal(err)
		}
	}
	damage()
	return []promise{
		{
			"check of a damaged tree", func() error { _, err := pathstest.Inspect(ctx, db, k.Tree); return err },
			model.Cost{Commands: 4, Returned: 1 + 8}, nil,
		},
		{"repair", run(pathstest.MendTree(k.Tree)), cost(2+4+1, 2+1, 1+8), nil},
		{"repair of what is whole", run(pathstest.MendTree(k.Tree)), cost(2+4, 2, 1),
			map[string]model.Cost{"parents": cost(2+5, 2, 1), "nested": cost(2+5, 2, 1), "children": cost(2+6, 2, 1)}},
		{"rebalance", func() error {
			if err := k.SetFields(ctx, db, bson.D{{Key: "_id", Value: "f"}, {Key: "order", Value: "a5"}}); err != nil {
				return err
			}
			return run(k.Tree.Rebalance(&a))()
		}, cost(5+1, 3+1+1, 2), nil},
		{"rebalance of short keys", run(k.Tree.Rebalance(&a)), cost(3, 2, 2), nil},
		{"rename", run(k.Tree.Rename("b", "B")), model.Cost{}, map[string]model.Cost{"named": cost(7, 3+4, 2)}},
		{"delete with restrict", run(k.Tree.Delete("h", paths.Restrict)), cost(6, 3+1, 1),
			map[string]model.Cost{"nested": cost(7, 3+2, 1), "children": cost(7, 3+2, 1)}},
		{"delete with promote", run(k.Tree.Delete("d", paths.Promote)), cost(9, 3+2, 3), map[string]model.Cost{
			"ancestors": cost(10, 3+3, 3), "paths": cost(11, 3+3, 3), "named": cost(11, 3+3, 3),
			"nested": cost(11, 3+10, 3), "gapped": cost(10, 3+3, 3),
			"children": cost(9, 3+3, 3),
		}},
		{"delete with rootify", run(k.Tree.Delete("b", paths.Rootify)), cost(8, 3+3, 4), map[string]model.Cost{
			"ancestors": cost(9, 3+5, 4), "paths": cost(11, 3+5, 4), "named": cost(11, 3+5, 4),
			"nested": cost(10, 3+12, 4), "gapped": cost(9, 3+5, 4),
			"children": cost(8, 3+4, 4),
		}},
		{
			"delete with subtree", run(k.Tree.Delete("a", paths.Subtree)), cost(6, 3+2, 2),
			map[string]model.Cost{"nested": cost(7, 3+8, 2)},
		},
		{"load", func() error {
			if _, err := db.Collection(k.Name).DeleteMany(ctx, bson.D{}); err != nil {
				return err
			}
			docs := pathstest.NodesOf(pathstest.Parse("a(b(c d(e)) f) g(h)"))
			for i := range docs {
				docs[i].Name = docs[i].ID
			}
			_, err := k.Tree.Load(docs).Run(ctx, db)
			return err
		}, cost(1+3, 3+2+8, 0), nil},
		{"drop", func() error {
			_, err := k.Tree.Drop(paths.NewParentTree(k.Docs, paths.TreeSpec{})).Run(ctx, db, model.JobOptions{})
			return err
		}, job(4, 8, 8), map[string]model.Cost{"parents": {}}},
	}
}
