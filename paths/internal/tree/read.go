package tree

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Source is a query of a tree's documents: a pipeline, whose results are those documents.
type Source struct {
	Pipeline mongo.Pipeline
	Index    string
}

func (t *Tree) Aggregate(s Source) *model.Aggregate[bson.Raw] {
	return &model.Aggregate[bson.Raw]{Aggregation: model.Aggregation{Collection: t.Collection, Pipeline: s.Pipeline, Index: s.Index}}
}

// Nodes runs a query, and reads only the fields of the tree.
func (t *Tree) Nodes(ctx context.Context, db model.DB, s Source) ([]Node, error) {
	project := t.TreeFields()
	if _, ok := t.Rep.(lister); ok {
		project = append(project, mql.E(sizeField, mql.Op("$bsonSize", "$$ROOT")))
	}
	return t.readAs(ctx, db, s, project)
}

// readAs runs a query with a projection; nil reads whole documents.
func (t *Tree) readAs(ctx context.Context, db model.DB, s Source, project bson.D) ([]Node, error) {
	if project != nil {
		s.Pipeline = append(slices.Clone(s.Pipeline), mql.Op("$project", project))
	}
	var out []Node
	for doc, err := range t.Aggregate(s).Each(ctx, db) {
		if err != nil {
			return nil, err
		}
		n, err := t.Read(doc)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// Match is the query of the documents that match.
func Match(index string, filter bson.D, more ...bson.D) Source {
	return Source{Pipeline: append(mongo.Pipeline{mql.Op("$match", filter)}, more...), Index: index}
}

func sortBy(field string, direction int) bson.D {
	return mql.Op("$sort", bson.D{{Key: field, Value: direction}})
}

func limit(n int) bson.D { return mql.Op("$limit", n) }

// ByID is the query of some nodes.
func (t *Tree) ByID(ids ...bson.RawValue) Source {
	if len(ids) == 1 {
		return Match(model.IDIndex, bson.D{{Key: "_id", Value: model.Eq(ids[0])}})
	}
	return Match(model.IDIndex, bson.D{{Key: "_id", Value: mql.Op("$in", ids)}})
}

// ByParent is the index of the links.
func (t *Tree) ByParent() string { return t.Indexes[0].Name }

// Children is the query of a node's children, or of the roots, in order. Equal keys, which only a damaged tree has, come by _id.
func (t *Tree) Children(parent any, more ...bson.E) Source {
	return Match(t.ByParent(), append(bson.D{{Key: t.Links.Parent, Value: model.Eq(parent)}}, more...),
		mql.Op("$sort", t.InOrder()))
}

// InOrder is the order of siblings.
func (t *Tree) InOrder() bson.D {
	return bson.D{{Key: t.Links.Order, Value: 1}, {Key: "_id", Value: 1}}
}

// nearest is the query of the sibling just before or after an order key; "" means the last, or the first.
func (t *Tree) nearest(parent any, key string, after bool, not bson.RawValue) Source {
	filter := bson.D{{Key: t.Links.Parent, Value: model.Eq(parent)}}
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
	return Match(t.ByParent(), filter, sortBy(t.Links.Order, direction), limit(1))
}
