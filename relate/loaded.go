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
		return nil, noneGiven(holder, field)
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
	in := any(ids)
	var err error
	if !plainIDs(in) {
		in, err = encodeList(c, holder, field, ids)
	}
	f := c.Find(withIDs(in))
	served(&f.Query, model.IDIndex, err)
	return f
}

// plainIDs reports whether ids need neither a check nor an encoding.
func plainIDs(ids any) bool {
	switch ids := ids.(type) {
	case []bson.ObjectID:
		return len(ids) > 0 && !slices.Contains(ids, bson.NilObjectID)
	case []string:
		return len(ids) > 0 && !slices.Contains(ids, "")
	}
	return false
}

// encodeID checks one id and freezes it.
func encodeID[D, K any](c *model.Collection[D, K], holder, field string, id K) (any, error) {
	if err := c.CheckID(field, id); err != nil {
		return nil, heldBy(holder, err)
	}
	v, err := c.Encode(id)
	if err != nil {
		return nil, notEncoded(holder, field, err)
	}
	return v, nil
}

//go:noinline
func noneGiven(holder, field string) error {
	return &model.ValueError{Collection: holder, Field: field, Reason: "no id was given"}
}

// heldBy is the error of an id, of the collection that holds it.
//
//go:noinline
func heldBy(holder string, err error) error {
	var bad *model.ValueError
	if errors.As(err, &bad) {
		held := *bad
		held.Collection = holder
		return &held
	}
	return err
}

//go:noinline
func notEncoded(holder, field string, err error) error {
	return &model.ValueError{Collection: holder, Field: field, Reason: err.Error()}
}

// served says which index serves a query, and why it can't be asked.
//
//go:noinline
func served(q *model.Query, index string, err error) {
	q.Index = index
	if q.Err == nil {
		q.Err = err
	}
}

// piped is [served] for a pipeline.
//
//go:noinline
func piped(a *model.Aggregation, index string, err error) {
	a.Index = index
	if a.Err == nil {
		a.Err = err
	}
}

// narrowed adds a condition to a query, unless an error says why it can't be.
//
//go:noinline
func narrowed(q *model.Query, filter bson.D, err error) {
	if err != nil {
		q.Err = err
		return
	}
	q.Filter = model.And(q.Filter, filter)
}

// leaving is a plan, and what it leaves when it is cut.
//
//go:noinline
func leaving(leaves string, first, second model.Write) model.Plan {
	p := model.NewPlan(first, second)
	p.Leaves = leaves
	return p
}

// byID is the order of _id.
//
//go:noinline
func byID() bson.D { return bson.D{{Key: "_id", Value: 1}} }

// withIDs is the filter of the documents with some ids.
//
//go:noinline
func withIDs(ids any) bson.D { return bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}} }
