// Package childrefs declares that a parent lists its children's ids: see [ChildRefs].
package childrefs

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
)

// ChildRefs is an array of children's ids in a parent. The elements are ids (path
// "parts"), or documents that contain one id each (path "holdings.stockId"). Several
// parents can list the same child. Writes to one parent are idempotent. A missing parent
// gives model.ErrNotFound.
//
// To store a child and list it, use a plan of its insert and [ChildRefs.Add]. A deletion by a
// [model.Store] removes the child's id from all lists, if the child has an ondelete.OnDelete whose
// Nullify names the ChildRefs.
//
// Source: "6 Rules of Thumb for MongoDB Schema Design", part 1;
// https://www.mongodb.com/docs/manual/tutorial/model-referenced-one-to-many-relationships-between-documents/.
//
// # Indexes
//
// Indexes returns the index that finds a child's parents.
type ChildRefs[P, PK, C, CK any] struct {
	model.Parts
	inside

	parents  *model.Collection[P, PK]
	children *model.Collection[C, CK]
	ids      *core.Reader[CK]
	in       untypedChildRefs
}

// inside is for the rules of package ondelete.
type inside = core.Inner[idref.Ref]

// New declares that the parents' field at path is a list of ids of children. It
// panics with a [*model.DeclarationError] if the field isn't such a list, or if a nil
// slice would be stored there as null.
func New[P, PK, C, CK any](
	parents *model.Collection[P, PK], path string, children *model.Collection[C, CK],
) *ChildRefs[P, PK, C, CK] {
	children.Docs().MustField("_id")
	r := &ChildRefs[P, PK, C, CK]{parents: parents, children: children, ids: core.NewReader[CK](parents.Docs(), path)}
	r.in = declareChildRefs(parents.Docs(), path, r.ids.Field(), children.Docs())
	r.inside = core.NewInner(r.in.makeReference())
	r.Parts = model.NewParts(r.in.listIndexes, r.in.listRelations, nil, r.in.listFootprints).
		WithDocs(parents.Docs(), children.Docs()).WithReactions(func() []model.Reaction { return nil })
	return r
}

// Add returns the write that appends ids to a parent's list. Ids that are already in the
// list keep their place. If the list contains documents, the write appends a document
// with only the id. For such a list, pass one id at a time. Without ids, the write fails
// before it is sent.
//
// Cost: one command, one document, by _id. For a list of documents that contains the id,
// one read follows.
func (r *ChildRefs[P, PK, C, CK]) Add(parent PK, children ...CK) model.Write {
	return r.in.addIDs(parent, core.Anys(children))
}

// AddElement returns the write that appends a document with an id, such as {stockId,
// numberHeld}, to a parent's list. If P declares the elements' type, pass a value of this
// type, or a pointer. If the list already contains the id, nothing is written. For a list
// of bare ids, the write fails before it is sent.
//
// Cost: as [ChildRefs.Add]. If the list contains the id, one read follows.
func (r *ChildRefs[P, PK, C, CK]) AddElement(parent PK, element any) model.Write {
	return r.in.addElement(parent, element, new(CK))
}

// InsertAt returns the write that inserts an id at a position of a parent's list.
// Negative positions count from the end. A position beyond the end means the end. If the
// list already contains the id, nothing is written.
//
// Cost: as [ChildRefs.AddElement].
func (r *ChildRefs[P, PK, C, CK]) InsertAt(parent PK, position int, child CK) model.Write {
	return r.in.insertID(parent, position, child)
}

// Remove returns the write that removes every occurrence of the ids from a parent's list.
// The children stay.
//
// Cost: as [ChildRefs.Add].
func (r *ChildRefs[P, PK, C, CK]) Remove(parent PK, children ...CK) model.Write {
	return r.in.removeIDs(parent, core.Anys(children))
}

// RemoveEverywhere returns the write that removes an id from every parent's list. It is
// idempotent, but not atomic.
//
// Cost: one command, which finds parents by [ChildRefs].Indexes and writes each.
func (r *ChildRefs[P, PK, C, CK]) RemoveEverywhere(child CK) model.Write {
	return r.in.removeFromAll(child)
}

// Reorder returns the write that replaces a parent's list of ids. Pass the list that you
// read as oldOrder, and the new list as becomes. If the stored list equals neither list,
// the write gives model.ErrStale. A retry is safe. If P's list stores documents, not ids,
// the write gives a [*model.ValueError].
//
// Cost: as [ChildRefs.Add].
func (r *ChildRefs[P, PK, C, CK]) Reorder(parent PK, oldOrder, becomes []CK) model.Write {
	return r.in.reorderIDs(parent, core.Anys(oldOrder), core.Anys(becomes))
}
