package childrefs

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
)

// listIDs returns the ids that a parent lists, perhaps as the parent's own slice.
func (r *ChildRefs[P, PK, C, CK]) listIDs(parent *P) []CK {
	if parent == nil {
		return nil
	}
	return r.ids.View(parent)
}

// Children returns the query of the children whose ids are in the given parent's list.
// The query finds each child once, in no defined order.
//
// Cost: one command, by _id.
func (r *ChildRefs[P, PK, C, CK]) Children(parent *P) *model.Find[C] {
	f := idref.FindIDs(r.children, r.in.IDs, r.listIDs(parent))
	if parent == nil {
		f.Err = r.in.Parents.Refuse(r.in.Path, nil, "is nil: give a document")
	}
	return f
}

// ChildrenOf returns the query of a parent's children, in stored order, with duplicates.
// For a missing parent, the query has no results.
//
// Cost: one command. The server looks up each child by _id.
func (r *ChildRefs[P, PK, C, CK]) ChildrenOf(parent PK) *model.Aggregate[C] {
	stages, err := r.in.findChildren(parent)
	a := model.AggregateAs[C](r.children.Unchecked(), stages)
	a.Collection = r.parents.Name()
	commands.ServeAggregate(a, model.IDIndex, err)
	return a
}

// ParentsOf returns the query of the parents that list a child.
//
// Cost: one command, served by [ChildRefs].Indexes.
func (r *ChildRefs[P, PK, C, CK]) ParentsOf(child CK) *model.Find[P] {
	id, err := r.in.IDs.Encode(child)
	f := r.parents.Find(stmt.MatchValue(r.in.Path, id))
	commands.ServeFind(f, r.in.makeIndex().Name, err)
	return f
}
