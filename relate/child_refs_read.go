package relate

import (
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// IDs returns the ids that a parent lists, in stored order, duplicates kept. A nil parent lists none.
func (r *ChildRefs[P, PK, C, CK]) IDs(parent *P) []CK {
	if parent == nil {
		return nil
	}
	return r.ids.Append(nil, parent)
}

// Children returns the query of the children that a parent in hand lists: what $in returns, in no stored order, each once,
// and none for an id that leads nowhere. A parent without children gives a query that matches nothing.
//
// Cost: one command, served by _id.
func (r *ChildRefs[P, PK, C, CK]) Children(parent *P) model.Find[C] {
	f := findIDs(r.children, r.parents.Name(), r.path, r.IDs(parent))
	if parent == nil {
		f.Err = &model.ValueError{Collection: r.parents.Name(), Field: r.path, Reason: "the document is nil"}
	}
	return f
}

// ChildrenOf returns the children of a parent by its id, in stored order, duplicates kept. An id that leads nowhere is
// passed over; so is a parent that doesn't exist.
//
// Cost: one command; the server looks each child up by _id.
func (r *ChildRefs[P, PK, C, CK]) ChildrenOf(parent PK) model.Aggregate[C] {
	id, err := encodeID(r.parents, r.parents.Name(), "_id", parent)
	a := model.AggregateAs[C](r.children, matching(
		bson.D{{Key: "_id", Value: model.Eq(id)}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "ref", Value: "$" + r.list}}}},
		bson.D{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$ref"}, {Key: "includeArrayIndex", Value: "i"}}}},
		r.lookup(join("ref", r.key), "child"),
		bson.D{{Key: "$unwind", Value: "$child"}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "i", Value: 1}}}},
		bson.D{{Key: "$replaceRoot", Value: bson.D{{Key: "newRoot", Value: "$child"}}}},
	))
	a.Collection, a.Index = r.parents.Name(), model.IDIndex
	if a.Err == nil {
		a.Err = err
	}
	return a
}

// ParentsOf returns the query of the parents that list a child.
//
// Cost: one command, served by [ChildRefs.Indexes].
func (r *ChildRefs[P, PK, C, CK]) ParentsOf(child CK) model.Find[P] {
	id, err := encodeID(r.children, r.parents.Name(), r.path, child)
	f := r.parents.Find(bson.D{{Key: r.path, Value: model.Eq(id)}})
	f.Index = r.index().Name
	if f.Err == nil {
		f.Err = err
	}
	return f
}

// Lookup returns the $lookup stage that adds the children of each parent in a pipeline as an array, in no stored order.
func (r *ChildRefs[P, PK, C, CK]) Lookup(as string) bson.D {
	return r.lookup(r.path, as)
}

func (r *ChildRefs[P, PK, C, CK]) lookup(local, as string) bson.D {
	return bson.D{{Key: "$lookup", Value: bson.D{
		{Key: "from", Value: r.children.Name()}, {Key: "localField", Value: local},
		{Key: "foreignField", Value: "_id"}, {Key: "as", Value: as},
	}}}
}

// Load returns the parents that match a filter, each with its children in stored order, duplicates kept, by one $lookup.
// Ids that lead nowhere are passed over.
//
// Cost: one command; the server looks each child up by _id, and orders each list in the square of its length. A parent
// and its children together must fit 16 MiB.
func (r *ChildRefs[P, PK, C, CK]) Load(filter bson.D) model.Aggregate[Loaded[P, C]] {
	ids := bson.D{{Key: "$ifNull", Value: bson.A{"$parent." + r.path, bson.A{}}}}
	return model.AggregateAs[Loaded[P, C]](r.parents, matching(
		filter,
		nested("parent"),
		r.lookup("parent."+r.path, "children"),
		bson.D{{Key: "$set", Value: bson.D{{Key: "children", Value: inOrder(ids, "children")}}}},
	))
}

func join(parts ...string) string {
	return strings.TrimSuffix(strings.Join(parts, "."), ".")
}
