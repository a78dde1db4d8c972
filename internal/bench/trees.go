package main

import (
	"context"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A forester stores a tree in some way, asks it and changes it.
type forester struct {
	name  string
	ready func(context.Context, *mongo.Database) error // creates the indexes
	load  func(context.Context, *mongo.Database, *grown) error
	// stream loads a tree without holding it in memory; nil if there is no such way.
	stream func(context.Context, *mongo.Database, *grown) error

	descendants, children, ancestors, count func(context.Context, *mongo.Database, string) (int, error)

	move   func(ctx context.Context, db *mongo.Database, id, parent string, first bool) error
	insert func(ctx context.Context, db *mongo.Database, n treeNode, parent string) error
	remove func(ctx context.Context, db *mongo.Database, id string) error

	// query returns everything below a node that was read, unsorted. byHand does it with
	// the driver.
	query, byHand func(context.Context, *mongo.Database, *treeNode) (int, error)
}

var forest = model.NewCollection[treeNode, string]("forest")

// foresters are the representations, after what is written by hand.
var foresters = []forester{
	adjacency,
	forestry("ParentTree", paths.NewParentTree(forest, spec), levels),
	forestry("ChildTree", paths.NewChildTree(forest, paths.ChildTreeSpec{TreeSpec: spec}), levels),
	forestry("AncestorArray", paths.NewAncestorArray(forest, paths.AncestorArraySpec{TreeSpec: spec}), withAncestor),
	forestry("MaterializedPath", paths.NewMaterializedPath(forest, paths.MaterializedPathSpec{TreeSpec: spec}), withPrefix),
	streamed(forestry("NestedSet, dense", paths.NewNestedSet(forest, paths.NestedSetSpec{TreeSpec: spec}), betweenNumbers), 1),
	streamed(forestry("NestedSet, gaps", paths.NewNestedSet(forest, paths.NestedSetSpec{TreeSpec: spec, Gap: gap}), betweenNumbers), gap),
}

const gap = 1 << 10

// spec is the spec of every tree. Loading a million nodes needs the lease for longer than
// the default.
var spec = paths.TreeSpec{For: time.Hour}

func forestry(name string, t *paths.Tree[treeNode, string], byHand func(context.Context, *mongo.Database, *treeNode) (int, error)) forester {
	// asked reads a node, and counts what a query about it gives.
	asked := func(of func(*treeNode) *model.Aggregate[treeNode]) func(context.Context, *mongo.Database, string) (int, error) {
		return func(ctx context.Context, db *mongo.Database, id string) (int, error) {
			n, err := forest.ByID(id).One(ctx, db)
			if err != nil {
				return 0, err
			}
			all, err := of(&n).All(ctx, db)
			return len(all), err
		}
	}
	all := func(n *treeNode) *model.Aggregate[treeNode] { return t.Descendants(n, 0) }
	return forester{
		name: name,
		ready: func(ctx context.Context, db *mongo.Database) error {
			return model.New("test", t).Indexes().Ensure(ctx, db)
		},
		load: func(ctx context.Context, db *mongo.Database, g *grown) error {
			_, err := t.Load(g.nodes).Run(ctx, db)
			return err
		},
		descendants: asked(all),
		children: func(ctx context.Context, db *mongo.Database, id string) (int, error) {
			all, err := t.Children(&treeNode{ID: id}).All(ctx, db)
			return len(all), err
		},
		ancestors: asked(t.Ancestors),
		count: func(ctx context.Context, db *mongo.Database, id string) (int, error) {
			n, err := forest.ByID(id).One(ctx, db)
			if err != nil {
				return 0, err
			}
			count, err := all(&n).Count(ctx, db)
			return int(count), err
		},
		move: func(ctx context.Context, db *mongo.Database, id, parent string, first bool) error {
			to := paths.LastChild(parent)
			if first {
				to = paths.FirstChild(parent)
			}
			_, err := t.Move(id, to).Run(ctx, db)
			return err
		},
		insert: func(ctx context.Context, db *mongo.Database, n treeNode, parent string) error {
			_, err := t.Insert(n, paths.FirstChild(parent)).Run(ctx, db)
			return err
		},
		remove: func(ctx context.Context, db *mongo.Database, id string) error {
			_, err := t.Delete(id, paths.Restrict).Run(ctx, db)
			return err
		},
		query: func(ctx context.Context, db *mongo.Database, n *treeNode) (int, error) {
			all, err := t.Descendants(n, 0).All(ctx, db)
			return len(all), err
		},
		byHand: byHand,
	}
}

// streamed adds a load by numbers that are given on the way.
func streamed(f forester, gap int64) forester {
	f.stream = func(ctx context.Context, db *mongo.Database, g *grown) error {
		batch := make([]treeNode, 0, perInsert)
		store := func() error {
			if len(batch) == 0 {
				return nil
			}
			_, err := db.Collection("forest").InsertMany(ctx, batch)
			batch = batch[:0]
			return err
		}
		for n, err := range paths.Number(g.preorder, gap) {
			if err != nil {
				return err
			}
			doc := n.Node
			doc.Left, doc.Right, doc.Depth = n.Left, n.Right, n.Depth
			if batch = append(batch, doc); len(batch) == perInsert {
				if err := store(); err != nil {
					return err
				}
			}
		}
		return store()
	}
	return f
}
