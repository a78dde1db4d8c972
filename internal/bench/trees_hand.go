package main

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// adjacency is parent links by hand: a find for each level, one write for each change.
// Nothing prevents cycles.
var adjacency = forester{
	name: "by hand, parent links",
	ready: func(ctx context.Context, db *mongo.Database) error {
		_, err := db.Collection("forest").Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "parent", Value: 1}, {Key: "order", Value: 1}}})
		return err
	},
	load: func(ctx context.Context, db *mongo.Database, g *grown) error {
		nodes := slices.Clone(g.nodes)
		for p, children := range g.children {
			orders := paths.Spread(len(children))
			for i, c := range children {
				nodes[c].Order = orders[i]
			}
			if p == 0 {
				nodes[0].Order = paths.Spread(1)[0]
			}
		}
		for part := range slices.Chunk(nodes, perInsert) {
			if _, err := db.Collection("forest").InsertMany(ctx, part); err != nil {
				return err
			}
		}
		return nil
	},
	descendants: func(ctx context.Context, db *mongo.Database, id string) (int, error) {
		return levels(ctx, db, &treeNode{ID: id})
	},
	children: func(ctx context.Context, db *mongo.Database, id string) (int, error) {
		cur, err := db.Collection("forest").Find(ctx, bson.D{{Key: "parent", Value: id}}, options.Find().SetSort(bson.D{{Key: "order", Value: 1}}))
		return all(ctx, cur, err)
	},
	ancestors: func(ctx context.Context, db *mongo.Database, id string) (int, error) {
		for n := 0; ; n++ {
			var doc treeNode
			if err := db.Collection("forest").FindOne(ctx, bson.D{{Key: "_id", Value: id}}).Decode(&doc); err != nil {
				return 0, err
			}
			if doc.Parent == nil {
				return n, nil
			}
			id = *doc.Parent
		}
	},
	count: func(ctx context.Context, db *mongo.Database, id string) (int, error) {
		return byLevel(ctx, db, id, options.Find().SetProjection(bson.D{{Key: "_id", Value: 1}}))
	},
	move: func(ctx context.Context, db *mongo.Database, id, parent string, first bool) error {
		order, err := beside(ctx, db, parent, first)
		if err != nil {
			return err
		}
		_, err = db.Collection("forest").UpdateOne(ctx, bson.D{{Key: "_id", Value: id}},
			bson.D{{Key: "$set", Value: bson.D{{Key: "parent", Value: parent}, {Key: "order", Value: order}}}})
		return err
	},
	insert: func(ctx context.Context, db *mongo.Database, n treeNode, parent string) error {
		order, err := beside(ctx, db, parent, true)
		if err != nil {
			return err
		}
		n.Parent, n.Order = &parent, order
		_, err = db.Collection("forest").InsertOne(ctx, n)
		return err
	},
	remove: func(ctx context.Context, db *mongo.Database, id string) error {
		_, err := db.Collection("forest").DeleteOne(ctx, bson.D{{Key: "_id", Value: id}})
		return err
	},
}

const perInsert = 10_000 // documents; DocumentDB takes 25,000 in a command

// beside returns an order key before the first of a node's children, or after the last.
func beside(ctx context.Context, db *mongo.Database, parent string, first bool) (string, error) {
	direction := -1
	if first {
		direction = 1
	}
	var doc treeNode
	err := db.Collection("forest").FindOne(ctx, bson.D{{Key: "parent", Value: parent}},
		options.FindOne().SetSort(bson.D{{Key: "order", Value: direction}})).Decode(&doc)
	if err != nil {
		return "", err
	}
	if first {
		return paths.Between("", doc.Order)
	}
	return paths.Between(doc.Order, "")
}

// all decodes what a cursor gives, and says how many there are.
func all(ctx context.Context, cur *mongo.Cursor, err error) (int, error) {
	var docs []treeNode
	if err == nil {
		err = cur.All(ctx, &docs)
	}
	return len(docs), err
}

// levels asks for the children of all nodes of a level at a time.
func levels(ctx context.Context, db *mongo.Database, n *treeNode) (int, error) {
	return byLevel(ctx, db, n.ID, options.Find())
}

func byLevel(ctx context.Context, db *mongo.Database, id string, o *options.FindOptionsBuilder) (int, error) {
	count := 0
	for level := []string{id}; len(level) > 0; {
		cur, err := db.Collection("forest").Find(ctx, bson.D{{Key: "parent", Value: bson.D{{Key: "$in", Value: level}}}}, o)
		if err != nil {
			return 0, err
		}
		var docs []treeNode
		if err := cur.All(ctx, &docs); err != nil {
			return 0, err
		}
		count, level = count+len(docs), level[:0]
		for _, d := range docs {
			level = append(level, d.ID)
		}
	}
	return count, nil
}

// findByHand is the query of all below a node that one condition finds.
func findByHand(filter func(n *treeNode) bson.D, o *options.FindOptionsBuilder) func(context.Context, *mongo.Database, *treeNode) (int, error) {
	return func(ctx context.Context, db *mongo.Database, n *treeNode) (int, error) {
		cur, err := db.Collection("forest").Find(ctx, filter(n), o)
		return all(ctx, cur, err)
	}
}

var (
	withAncestor = findByHand(func(n *treeNode) bson.D {
		return bson.D{{Key: "ancestors", Value: n.ID}, {Key: "_id", Value: bson.D{{Key: "$ne", Value: n.ID}}}}
	}, options.Find())
	withPrefix = findByHand(func(n *treeNode) bson.D {
		return bson.D{{Key: "path", Value: bson.D{{Key: "$gt", Value: n.Path}, {Key: "$lt", Value: n.Path[:len(n.Path)-1] + "0"}}}}
	}, options.Find())
	betweenNumbers = findByHand(func(n *treeNode) bson.D {
		return bson.D{{Key: "left", Value: bson.D{{Key: "$gt", Value: n.Left}, {Key: "$lt", Value: n.Right}}}}
	}, options.Find().SetSort(bson.D{{Key: "left", Value: 1}}))
)
