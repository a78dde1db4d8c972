package paths

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// source is a query of a tree's documents: a pipeline, whose results are those documents.
type source struct {
	pipeline mongo.Pipeline
	index    string
}

func (t *tree) aggregate(s source) model.Aggregate[bson.Raw] {
	return model.Aggregate[bson.Raw]{Aggregation: model.Aggregation{Collection: t.docs, Pipeline: s.pipeline, Index: s.index}}
}

// nodes runs a query.
func (t *tree) nodes(ctx context.Context, db *mongo.Database, s source) ([]node, error) {
	var out []node
	for doc, err := range t.aggregate(s).Each(ctx, db) {
		if err != nil {
			return nil, err
		}
		n, err := t.read(doc)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// match is the query of the documents that match.
func match(index string, filter bson.D, more ...bson.D) source {
	return source{pipeline: append(mongo.Pipeline{{{Key: "$match", Value: filter}}}, more...), index: index}
}

func sortBy(field string, direction int) bson.D {
	return bson.D{{Key: "$sort", Value: bson.D{{Key: field, Value: direction}}}}
}

func limit(n int) bson.D { return bson.D{{Key: "$limit", Value: n}} }

// byID is the query of some nodes.
func (t *tree) byID(ids ...bson.RawValue) source {
	if len(ids) == 1 {
		return match(model.IDIndex, bson.D{{Key: "_id", Value: model.Eq(ids[0])}})
	}
	return match(model.IDIndex, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}})
}

// byParent is the index of the links.
func (t *tree) byParent() string { return t.indexes[0].Name }

// children is the query of a node's children, or of the roots, in order. Equal keys, which only a damaged tree has, come by _id.
func (t *tree) children(parent any, more ...bson.E) source {
	return match(t.byParent(), append(bson.D{{Key: t.links.Parent, Value: model.Eq(parent)}}, more...),
		bson.D{{Key: "$sort", Value: bson.D{{Key: t.links.Order, Value: 1}, {Key: "_id", Value: 1}}}})
}

// nearest is the query of the sibling just before or after an order key; "" means the last, or the first.
func (t *tree) nearest(parent any, key string, after bool, not bson.RawValue) source {
	filter := bson.D{{Key: t.links.Parent, Value: model.Eq(parent)}}
	op, direction := "$lt", -1
	if after {
		op, direction = "$gt", 1
	}
	if key != "" {
		filter = append(filter, bson.E{Key: t.links.Order, Value: bson.D{{Key: op, Value: key}}})
	}
	if not.Type != 0 {
		filter = append(filter, bson.E{Key: "_id", Value: bson.D{{Key: "$ne", Value: not}}})
	}
	return match(t.byParent(), filter, sortBy(t.links.Order, direction), limit(1))
}
