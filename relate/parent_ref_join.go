package relate

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Lookup returns the $lookup stage that adds the n newest children of each parent in a pipeline as an array, newest
// first; n 0 adds all. A negative n counts as 0.
func (r *ParentRef[C, CK, P, PK]) Lookup(n int64, as string) bson.D {
	return r.lookup("_id", n, as)
}

func (r *ParentRef[C, CK, P, PK]) lookup(local string, n int64, as string) bson.D {
	inner := mongo.Pipeline{{{Key: "$sort", Value: r.newestFirst()}}}
	if n > 0 {
		inner = append(inner, bson.D{{Key: "$limit", Value: n}})
	}
	return bson.D{{Key: "$lookup", Value: bson.D{
		{Key: "from", Value: r.children.Name()}, {Key: "localField", Value: local}, {Key: "foreignField", Value: r.path},
		{Key: "pipeline", Value: inner}, {Key: "as", Value: as},
	}}}
}

// Load returns the parents that match a filter, each with its n newest children, newest first, by one $lookup. The limit
// is each parent's own. n 0 means all.
//
// Cost: one command; per parent, n index keys and documents, served by [ParentRef.Indexes]. A parent and its children
// together must fit 16 MiB. Needs MongoDB 5.0, for a $lookup with both a field and a pipeline.
func (r *ParentRef[C, CK, P, PK]) Load(filter bson.D, n int64) model.Aggregate[Loaded[P, C]] {
	a := model.AggregateAs[Loaded[P, C]](r.parents, matching(
		filter, nested("parent"), r.lookup("parent._id", n, "children"),
	))
	if n < 0 && a.Err == nil {
		a.Err = &model.ValueError{Collection: r.parents.Name(), Field: "n", Value: n, Reason: "must not be negative"}
	}
	return a
}

// LoadParents returns the children that match a filter, each with its parent, by one $lookup; the parent is nil where the
// reference is missing or leads nowhere.
//
// Cost: one command; one _id lookup per child.
func (r *ParentRef[C, CK, P, PK]) LoadParents(filter bson.D) model.Aggregate[WithParent[C, P]] {
	return model.AggregateAs[WithParent[C, P]](r.children, matching(
		filter, nested("child"),
		bson.D{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: r.parents.Name()}, {Key: "localField", Value: "child." + r.path},
			{Key: "foreignField", Value: "_id"}, {Key: "as", Value: "parent"},
		}}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "parent", Value: bson.D{{Key: "$arrayElemAt", Value: bson.A{"$parent", 0}}}}}}},
	))
}

// ParentCount is how many children a parent has.
type ParentCount[PK any] struct {
	Parent PK    `bson:"_id"`
	N      int64 `bson:"n"`
}

// Counts returns how many children each of some parents has, by parent in the order of their ids; a parent without
// children has no entry. Of one parent, Children(id).Count counts the same. No parent at all is refused.
//
// Cost: one command; one index key per child, served by [ParentRef.Indexes].
func (r *ParentRef[C, CK, P, PK]) Counts(parents ...PK) model.Aggregate[ParentCount[PK]] {
	ids, err := encodeIDs(r.parents, r.children.Name(), r.path, parents)
	a := model.AggregateAs[ParentCount[PK]](r.children, matching(
		bson.D{{Key: r.path, Value: bson.D{{Key: "$in", Value: ids}}}},
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$" + r.path}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
	))
	a.Index = r.index().Name
	if a.Err == nil {
		a.Err = err
	}
	return a
}
