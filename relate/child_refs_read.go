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
	f := findIDs(r.children, r.in.parents, r.in.path, r.IDs(parent))
	if parent == nil {
		f.Err = r.in.refused(r.in.path, "the document is nil")
	}
	return f
}

// ChildrenOf returns the children of a parent by its id, in stored order, duplicates kept. An id that leads nowhere is
// passed over; so is a parent that doesn't exist.
//
// Cost: one command; the server looks each child up by _id.
func (r *ChildRefs[P, PK, C, CK]) ChildrenOf(parent PK) model.Aggregate[C] {
	id, err := encodeID(r.parents, r.in.parents, "_id", parent)
	a := model.AggregateAs[C](r.children, r.in.childrenOf(id))
	a.Collection = r.in.parents
	piped(&a.Aggregation, model.IDIndex, err)
	return a
}

// ParentsOf returns the query of the parents that list a child.
//
// Cost: one command, served by [ChildRefs.Indexes].
func (r *ChildRefs[P, PK, C, CK]) ParentsOf(child CK) model.Find[P] {
	id, err := r.id(child)
	f := r.parents.Find(r.in.listing(id))
	served(&f.Query, r.in.index().Name, err)
	return f
}

// Lookup returns the $lookup stage that adds the children of each parent in a pipeline as an array, in no stored order.
func (r *ChildRefs[P, PK, C, CK]) Lookup(as string) bson.D {
	return r.in.lookup(r.in.path, as)
}

// Load returns the parents that match a filter, each with its children in stored order, duplicates kept, by one $lookup.
// Ids that lead nowhere are passed over.
//
// Cost: one command; the server looks each child up by _id, and orders each list in the square of its length. A parent
// and its children together must fit 16 MiB.
func (r *ChildRefs[P, PK, C, CK]) Load(filter bson.D) model.Aggregate[Loaded[P, C]] {
	return model.AggregateAs[Loaded[P, C]](r.parents, r.in.load(filter))
}

func join(parts ...string) string {
	return strings.TrimSuffix(strings.Join(parts, "."), ".")
}
