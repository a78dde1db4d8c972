package relate

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Lookup returns the $lookup stage that adds the n newest children of each parent in a pipeline as an array, newest
// first; n 0 adds all. A negative n counts as 0.
func (r *ParentRef[C, CK, P, PK]) Lookup(n int64, as string) bson.D {
	return r.in.lookup("_id", n, as)
}

// Load returns the parents that match a filter, each with its n newest children, newest first, by one $lookup. The limit
// is each parent's own. n 0 means all.
//
// Cost: one command; per parent, n index keys and documents, served by [ParentRef.Indexes]. A parent and its children
// together must fit 16 MiB. Needs MongoDB 5.0, for a $lookup with both a field and a pipeline.
func (r *ParentRef[C, CK, P, PK]) Load(filter bson.D, n int64) model.Aggregate[Loaded[P, C]] {
	stages, err := r.in.load(filter, n)
	a := model.AggregateAs[Loaded[P, C]](r.parents, stages)
	piped(&a.Aggregation, "", err)
	return a
}

// LoadParents returns the children that match a filter, each with its parent, by one $lookup; the parent is nil where the
// reference is missing or leads nowhere.
//
// Cost: one command; one _id lookup per child.
func (r *ParentRef[C, CK, P, PK]) LoadParents(filter bson.D) model.Aggregate[WithParent[C, P]] {
	return model.AggregateAs[WithParent[C, P]](r.children, r.in.loadParents(filter))
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
	ids, err := encodeIDs(r.parents, r.in.children, r.in.path, parents)
	a := model.AggregateAs[ParentCount[PK]](r.children, r.in.counts(ids))
	piped(&a.Aggregation, r.in.index().Name, err)
	return a
}
