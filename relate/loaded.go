package relate

import (
	"errors"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Loaded is a document with the documents it refers to, or that refer to it, as one pipeline returns them.
type Loaded[P, C any] struct {
	Parent   P   `bson:"parent"`
	Children []C `bson:"children"`
}

// WithParent is a document with the one that it belongs to; Parent is nil when the reference leads nowhere.
type WithParent[C, P any] struct {
	Child  C  `bson:"child"`
	Parent *P `bson:"parent"`
}

// nested is the stage that puts the whole document under a name, so that what is joined to it can't clash with its own
// fields.
func nested(name string) bson.D {
	return bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: name, Value: "$$ROOT"}}}}
}

// matching is the pipeline that begins with a filter, if there is one.
func matching(filter bson.D, stages ...bson.D) mongo.Pipeline {
	if len(filter) == 0 {
		return stages
	}
	return append(mongo.Pipeline{{{Key: "$match", Value: filter}}}, stages...)
}

// encodeIDs checks ids of documents of c and freezes them, for a filter or an update. None is an error too. Errors name
// the field, and the collection whose documents hold it.
func encodeIDs[D, K any](c *model.Collection[D, K], holder, field string, ids []K) (bson.A, error) {
	if len(ids) == 0 {
		return nil, &model.ValueError{Collection: holder, Field: field, Reason: "no id was given"}
	}
	out := make(bson.A, len(ids))
	for i, id := range ids {
		v, err := encodeID(c, holder, field, id)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// findIDs is the query of the documents of c with ids that the holder's field lists; without ids it matches nothing. Ids of
// the plain kinds stay a typed slice, which is not boxed id by id; Find copies it.
func findIDs[D, K any](c *model.Collection[D, K], holder, field string, ids []K) model.Find[D] {
	in, plain := any(ids), false
	switch ids := in.(type) {
	case []bson.ObjectID:
		plain = len(ids) > 0 && !slices.Contains(ids, bson.NilObjectID)
	case []string:
		plain = len(ids) > 0 && !slices.Contains(ids, "")
	}
	var err error
	if !plain {
		in, err = encodeList(c, holder, field, ids)
	}
	f := c.Find(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: in}}}})
	f.Index = model.IDIndex
	if f.Err == nil {
		f.Err = err
	}
	return f
}

// encodeID checks one id and freezes it.
func encodeID[D, K any](c *model.Collection[D, K], holder, field string, id K) (any, error) {
	if err := c.CheckID(field, id); err != nil {
		var bad *model.ValueError
		if errors.As(err, &bad) {
			held := *bad
			held.Collection = holder
			return nil, &held
		}
		return nil, err
	}
	v, err := c.Encode(id)
	if err != nil {
		return nil, &model.ValueError{Collection: holder, Field: field, Reason: err.Error()}
	}
	return v, nil
}
