package tree

// The queries that all representations share.

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Source is a query of the tree's documents: a pipeline, and the index that it needs.
type Source struct {
	Pipeline mongo.Pipeline
	Index    string
}

// Aggregate makes a source a value that can be run.
func (t *Tree) Aggregate(s Source) *model.Aggregate[bson.Raw] {
	return &model.Aggregate[bson.Raw]{
		Aggregation: model.Aggregation{Collection: t.Collection, Pipeline: s.Pipeline, Index: s.Index},
	}
}

// ReadNodes runs a query, and reads only the tree's fields. A child tree also needs the
// size of each document, to know whether its list can grow.
func (t *Tree) ReadNodes(ctx context.Context, db model.DB, s Source) ([]Node, error) {
	project := t.ProjectFields()
	if _, ok := t.Rep.(lister); ok {
		project = append(project, mql.E(sizeField, mql.Op("$bsonSize", "$$ROOT")))
	}
	return t.readProjected(ctx, db, s, project)
}

// readProjected runs a query with a projection; nil means whole documents.
func (t *Tree) readProjected(ctx context.Context, db model.DB, s Source, project bson.D) ([]Node, error) {
	if project != nil {
		s.Pipeline = append(slices.Clone(s.Pipeline), mql.Op("$project", project))
	}
	var out []Node
	for doc, err := range t.Aggregate(s).Each(ctx, db) {
		if err != nil {
			return nil, err
		}
		n, err := t.ReadNode(doc)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// Match returns the query of the documents that match a filter, with further stages.
func Match(index string, filter bson.D, more ...bson.D) Source {
	return Source{Pipeline: append(mongo.Pipeline{mql.Op("$match", filter)}, more...), Index: index}
}

// sortByField is a $sort stage; direction is 1 or -1.
func sortByField(field string, direction int) bson.D {
	return mql.Op("$sort", bson.D{{Key: field, Value: direction}})
}

// limitTo is a $limit stage.
func limitTo(n int) bson.D { return mql.Op("$limit", n) }

// FindByID is the query of nodes by their _ids.
func (t *Tree) FindByID(ids ...bson.RawValue) Source {
	if len(ids) == 1 {
		return Match(model.IDIndex, bson.D{{Key: "_id", Value: mql.Eq(ids[0])}})
	}
	return Match(model.IDIndex, bson.D{{Key: "_id", Value: mql.Op("$in", ids)}})
}

// NameParentIndex names the index of the parent and the order key.
func (t *Tree) NameParentIndex() string { return t.Indexes[0].Name }

// FindChildren is the query of a node's children in order, or of the roots if parent is
// nil.
func (t *Tree) FindChildren(parent any, more ...bson.E) Source {
	return Match(t.NameParentIndex(), append(bson.D{{Key: t.Links.Parent, Value: mql.Eq(parent)}}, more...),
		mql.Op("$sort", t.SortSiblings()))
}

// SortSiblings is the sort of siblings. Only a damaged tree has equal order keys. There
// the _id makes the order the same in each query.
func (t *Tree) SortSiblings() bson.D {
	return bson.D{{Key: t.Links.Order, Value: 1}, {Key: "_id", Value: 1}}
}

// findNearestSibling is the query of the sibling directly before or after an order key.
// With the key "" it finds the last or the first sibling. A node that moves is excluded.
func (t *Tree) findNearestSibling(parent any, key string, after bool, not bson.RawValue) Source {
	filter := bson.D{{Key: t.Links.Parent, Value: mql.Eq(parent)}}
	op, direction := "$lt", -1
	if after {
		op, direction = "$gt", 1
	}
	if key != "" {
		filter = append(filter, mql.E(t.Links.Order, bson.D{{Key: op, Value: key}}))
	}
	if not.Type != 0 {
		filter = append(filter, mql.E("_id", mql.Op("$ne", not)))
	}
	return Match(t.NameParentIndex(), filter, sortByField(t.Links.Order, direction), limitTo(1))
}
