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

	// query asks for all below a node that was read, in no order; byHand asks the same with the driver.
	query, byHand func(context.Context, *mongo.Database, *treeNode) (int, error)
}

var forest = model.NewCollection[treeNode, string]("forest")

// foresters are the representations, after what is written by hand.
var foresters = []forester{
	adjacency,
	forestry("ParentTree", paths.NewParentTree(forest, paths.Links{}), levels),
	forestry("ChildTree", paths.NewChildTree(forest, paths.ChildTreeSpec{}), levels),
	forestry("AncestorArray", paths.NewAncestorArray(forest, paths.AncestorArraySpec{}), withAncestor),
	forestry("MaterializedPath", paths.NewMaterializedPath(forest, paths.MaterializedPathSpec{}), withPrefix),
	streamed(forestry("NestedSet, dense", paths.NewNestedSet(forest, paths.NestedSetSpec{}), betweenNumbers), 1),
	streamed(forestry("NestedSet, gaps", paths.NewNestedSet(forest, paths.NestedSetSpec{Gap: gap}), betweenNumbers), gap),
}

const gap = 1 << 10

// representation is what foresters use of one.
type representation interface {
	Tree(paths.TreeSpec) *paths.Tree[treeNode, string]
	Descendants(n *treeNode, depth int) model.Aggregate[treeNode]
}

func forestry(name string, r representation, byHand func(context.Context, *mongo.Database, *treeNode) (int, error)) forester {
	t := r.Tree(paths.TreeSpec{For: time.Hour}) // a load of a million nodes holds the lease for longer than the default
	return forester{
		name:  name,
		ready: func(ctx context.Context, db *mongo.Database) error { return model.Indexes(t).Ensure(ctx, db) },
		load: func(ctx context.Context, db *mongo.Database, g *grown) error {
			_, _, err := t.Load(g.nodes).Run(ctx, db)
			return err
		},
		descendants: func(ctx context.Context, db *mongo.Database, id string) (int, error) {
			all, err := t.Descendants(ctx, db, id, 0)
			return len(all), err
		},
		children: func(ctx context.Context, db *mongo.Database, id string) (int, error) {
			all, err := t.Children(ctx, db, id)
			return len(all), err
		},
		ancestors: func(ctx context.Context, db *mongo.Database, id string) (int, error) {
			all, err := t.Ancestors(ctx, db, id)
			return len(all), err
		},
		count: t.Count,
		move: func(ctx context.Context, db *mongo.Database, id, parent string, first bool) error {
			to := paths.LastChild(parent)
			if first {
				to = paths.FirstChild(parent)
			}
			_, _, err := t.Move(id, to).Run(ctx, db)
			return err
		},
		insert: func(ctx context.Context, db *mongo.Database, n treeNode, parent string) error {
			_, _, err := t.Insert(n, paths.FirstChild(parent)).Run(ctx, db)
			return err
		},
		remove: func(ctx context.Context, db *mongo.Database, id string) error {
			_, _, err := t.Delete(id, paths.Restrict).Run(ctx, db)
			return err
		},
		query: func(ctx context.Context, db *mongo.Database, n *treeNode) (int, error) {
			all, err := r.Descendants(n, 0).All(ctx, db)
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
