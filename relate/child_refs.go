package relate

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/childrefs"
	"github.com/docmodel/docmodel/relate/internal/idref"
)

// ChildRefs is a document that lists the ids of its children: product.parts holds ids of parts. The list is an array of
// ids ("parts"), or an array of documents that each hold one id ("holdings.stockId"). The list keeps its order. The
// children are documents of their own; several parents may list the same child. Make it with [NewChildRefs].
//
// Source: one-to-many by an array of references, "6 Rules of Thumb for MongoDB Schema Design", part 1 (seed 004);
// https://www.mongodb.com/docs/manual/tutorial/model-referenced-one-to-many-relationships-between-documents/.
//
// Indexes returns the index on the list, by which a child's parents are found.
type ChildRefs[P, PK, C, CK any] struct {
	model.Parts

	parents  *model.Collection[P, PK]
	children *model.Collection[C, CK]
	ids      *core.Reader[CK]
	in       childrefs.ChildRefs
}

// NewChildRefs declares that the path of the parents' documents lists ids of children. It panics with a
// [*model.DeclarationError] when the path doesn't exist, isn't an array, holds another type than the children's _id, or
// when a nil slice there is stored as null, on which $addToSet fails.
func NewChildRefs[P, PK, C, CK any](parents *model.Collection[P, PK], path string, children *model.Collection[C, CK]) *ChildRefs[P, PK, C, CK] {
	children.Docs().MustField("_id")
	r := &ChildRefs[P, PK, C, CK]{parents: parents, children: children, ids: core.NewReader[CK](parents.Docs(), path)}
	r.in = childrefs.Declare(parents.Docs(), path, r.ids.Field(), children.Docs())
	r.Parts = model.NewParts(r.in.Indexes, r.in.Relations, nil, r.in.Footprints)
	return r
}

// Add returns the write that appends ids to a parent's list, in the order given. Ids that the parent lists already keep
// their places. A list of documents takes one id, as an element without other fields. At least one id must be given. Running
// the write gives model.ErrNotFound if the parent doesn't exist. It is idempotent.
//
// Cost: one command, one document, found by _id. For a list of documents, one or two more commands when nothing matched, to tell a
// listed id from a missing parent.
func (r *ChildRefs[P, PK, C, CK]) Add(parent PK, children ...CK) model.Write {
	return r.in.Add(parent, core.Anys(children))
}

// AddElement returns the write that appends an element to a parent's list, for lists of documents that hold an id and
// other fields: {stockId, numberHeld}. The element is of the array's element type, or a pointer to it; any document if
// that type isn't known. If the parent lists the id already, nothing changes. The parent must exist.
//
// Cost: one command, one document; one or two more commands when nothing matched.
func (r *ChildRefs[P, PK, C, CK]) AddElement(parent PK, element any) model.Write {
	return r.in.AddElement(parent, element, new(CK))
}

// InsertAt returns the write that inserts an id at a position of a parent's list. 0 is the first, a negative position counts from
// the end, a position beyond the end is the end. If the parent lists the id already, nothing changes.
//
// Cost: one command, one document; one or two more commands when nothing matched.
func (r *ChildRefs[P, PK, C, CK]) InsertAt(parent PK, position int, child CK) model.Write {
	return r.in.InsertAt(parent, position, child)
}

// Remove returns the write that removes every occurrence of ids from a parent's list. The children stay. The parent must
// exist. It is idempotent.
//
// Cost: one command, one document, found by _id.
func (r *ChildRefs[P, PK, C, CK]) Remove(parent PK, children ...CK) model.Write {
	return r.in.Remove(parent, core.Anys(children))
}

// RemoveEverywhere returns the write that removes an id from every parent's list. Run it before the child is deleted.
//
// Cost: one command, as many documents as list the id, found by [ChildRefs.Indexes]. The command is not atomic over
// documents; it is idempotent.
func (r *ChildRefs[P, PK, C, CK]) RemoveEverywhere(child CK) model.Write {
	return r.in.RemoveEverywhere(child)
}

// Reorder returns the write that stores another list, in another order for example, if the list is still as it was read;
// otherwise running it gives model.ErrStale. A list of documents is refused.
//
// Cost: one command, one document; one or two more commands when nothing matched.
func (r *ChildRefs[P, PK, C, CK]) Reorder(parent PK, was, becomes []CK) model.Write {
	return r.in.Reorder(parent, core.Anys(was), core.Anys(becomes))
}

// InsertChild returns the plan that stores a new child and then lists it with a parent. A cut leaves a child that no parent
// lists, and so does a parent that doesn't exist (model.ErrNotFound). The plan can be run again.
//
// Cost: two commands, two documents.
func (r *ChildRefs[P, PK, C, CK]) InsertChild(parent PK, child C) model.Plan {
	id, err := r.children.ID(&child)
	if err != nil {
		return model.RefusedPlan(r.children.Name(), err)
	}
	return commands.Leaving("a new child that no parent lists", r.children.Insert(child), r.Add(parent, id))
}

// DeleteChild returns the plan that removes a child from every list and then deletes it. A cut leaves a child that no parent lists.
// The plan can be run again. A parent that lists the child in between keeps a reference that leads nowhere.
//
// Cost: two commands; the child and every document that lists it.
func (r *ChildRefs[P, PK, C, CK]) DeleteChild(child CK) model.Plan {
	return commands.Leaving("the child, which no parent lists", r.RemoveEverywhere(child), r.children.Delete(child))
}

func (r *ChildRefs[P, PK, C, CK]) reference() idref.Ref { return r.in.Reference() }
