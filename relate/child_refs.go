package relate

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ChildRefs is a document that lists the ids of its children: product.parts holds ids of parts. The list is either an
// array of ids ("parts") or an array of documents that each hold one ("holdings.stockId"). It keeps its order, and the
// children are documents of their own, which other parents may list too. Make it with [NewChildRefs].
//
// Source: one-to-many by an array of references, "6 Rules of Thumb for MongoDB Schema Design", part 1 (seed 004);
// https://www.mongodb.com/docs/manual/tutorial/model-referenced-one-to-many-relationships-between-documents/.
type ChildRefs[P, PK, C, CK any] struct {
	parents  *model.Collection[P, PK]
	children *model.Collection[C, CK]
	ids      *model.Reader[P, CK]
	in       childRefs
}

// NewChildRefs declares that the path of the parents' documents lists ids of children. It panics with a
// [*model.DeclarationError] when the path doesn't exist, is no array, holds another type than the children's _id, or when
// a nil slice there is stored as null, on which $addToSet fails.
func NewChildRefs[P, PK, C, CK any](parents *model.Collection[P, PK], path string, children *model.Collection[C, CK]) *ChildRefs[P, PK, C, CK] {
	model.MustField(children, "_id")
	r := &ChildRefs[P, PK, C, CK]{parents: parents, children: children, ids: model.NewReader[CK](parents, path)}
	r.in = childRefs{parents: parents.Name(), children: children.Name(), path: path}
	r.in.declare(r.ids.Field(), func(list string) model.Field { return model.CheckArray(parents, list) })
	return r
}

// edit is a write to a parent's list.
func (r *ChildRefs[P, PK, C, CK]) edit(parent PK, e guardedEdit, err error) (w model.Write) {
	if err != nil {
		w.Collection, w.Err = r.in.parents, err
		return w
	}
	w = r.parents.Update(parent, e.update)
	e.guard(&w)
	return w
}

// id is an encoded id of a child.
func (r *ChildRefs[P, PK, C, CK]) id(child CK) (any, error) {
	return encodeID(r.children, r.in.parents, r.in.path, child)
}

// Add returns the write that puts ids at the end of a parent's list; those that are there already stay where they are.
// The parent must exist: else running it gives model.ErrStale. It is idempotent. Ids are added in the order given; none is
// refused, and in a list of documents more than one: an id becomes an element of its own there, without other fields.
//
// Cost: one command, one document, found by _id; in a list of documents one command more when nothing matched, to tell a
// listed id from a missing parent.
func (r *ChildRefs[P, PK, C, CK]) Add(parent PK, children ...CK) model.Write {
	ids, err := encodeIDs(r.children, r.in.parents, r.in.path, children)
	e, err := r.in.add(ids, err)
	return r.edit(parent, e, err)
}

// AddElement returns the write that puts an element at the end of a parent's list, for lists of documents that each hold
// an id beside other fields: {stockId, numberHeld}. An element must be of the array's element type, or a pointer to it;
// where that is not known, any document. A parent that lists the id already is left as it is, its element too. The parent
// must exist.
//
// Cost: one command, one document; one command more when nothing matched, to tell a listed id from a missing parent.
func (r *ChildRefs[P, PK, C, CK]) AddElement(parent PK, element any) model.Write {
	if err := r.in.checkElement(element); err != nil {
		return model.Refused(r.in.parents, err)
	}
	v, err := r.parents.Encode(element)
	doc, id, err := r.in.element(v, err)
	if err == nil {
		var child CK
		if id.Type == 0 || id.Unmarshal(&child) != nil {
			err = r.in.holdsNone(child)
		} else {
			_, err = r.id(child)
		}
	}
	return r.edit(parent, r.in.push(id, doc, nil), err)
}

// InsertAt returns the write that puts an id at a place in a parent's list, 0 being the first and a negative position
// counting from the end; a place beyond the end is the end. A parent that lists the id already is left as it is.
//
// Cost: one command, one document; one command more when nothing matched, to tell a listed id from a missing parent.
func (r *ChildRefs[P, PK, C, CK]) InsertAt(parent PK, position int, child CK) model.Write {
	id, err := r.id(child)
	return r.edit(parent, r.in.insertAt(id, position), err)
}

// Remove returns the write that takes ids out of a parent's list, every occurrence of each; ids that are not listed are
// passed over. The children stay. The parent must exist. It is idempotent.
//
// Cost: one command, one document, found by _id.
func (r *ChildRefs[P, PK, C, CK]) Remove(parent PK, children ...CK) model.Write {
	ids, err := encodeIDs(r.children, r.in.parents, r.in.path, children)
	return r.edit(parent, guardedEdit{update: r.in.pull(ids)}, err)
}

// RemoveEverywhere returns the write that takes an id out of every parent's list: what must go before the child does.
//
// Cost: one command, as many documents as list the id, found by [ChildRefs.Indexes]. The command is not atomic over
// documents; it is idempotent.
func (r *ChildRefs[P, PK, C, CK]) RemoveEverywhere(child CK) model.Write {
	id, err := r.id(child)
	return r.in.removeEverywhere(id, err)
}

// Reorder returns the write that stores a list in another order, or another list, if it is still as it was read: else
// running it gives model.ErrStale. It is refused for a list of documents.
//
// Cost: one command, one document; one command more when nothing matched.
func (r *ChildRefs[P, PK, C, CK]) Reorder(parent PK, was, becomes []CK) model.Write {
	err := r.in.checkBare()
	var old, next bson.A
	if err == nil {
		old, err = encodeList(r.children, r.in.parents, r.in.path, was)
	}
	if err == nil {
		next, err = encodeList(r.children, r.in.parents, r.in.path, becomes)
	}
	return r.edit(parent, r.in.reorder(old, next), err)
}

// encodeList is encodeIDs for a list that may be empty.
func encodeList[D, K any](c *model.Collection[D, K], holder, field string, ids []K) (bson.A, error) {
	if len(ids) == 0 {
		return bson.A{}, nil
	}
	return encodeIDs(c, holder, field, ids)
}

// InsertChild returns the plan that stores a new child and then lists it with a parent.
//
// Cost: two commands, two documents. Consistency: cut between the two, it leaves a child that nobody lists; run again, it
// lists it. A parent that doesn't exist gives model.ErrStale, and leaves the child so too.
func (r *ChildRefs[P, PK, C, CK]) InsertChild(parent PK, child C) model.Plan {
	id, err := r.children.ID(&child)
	if err != nil {
		return model.RefusedPlan(r.in.children, err)
	}
	return leaving("a new child that no parent lists yet", r.children.Insert(child), r.Add(parent, id))
}

// DeleteChild returns the plan that takes a child out of every list and then deletes it.
//
// Cost: two commands; the child and every document that lists it. Consistency: cut between the two, it leaves a child
// that nobody lists; run again, it deletes it. A parent that lists the child in between keeps a reference that leads
// nowhere.
func (r *ChildRefs[P, PK, C, CK]) DeleteChild(child CK) model.Plan {
	return leaving("the child, which no parent lists any more", r.RemoveEverywhere(child), r.children.Delete(child))
}

// Indexes returns the index on the list, by which a child's parents are found.
func (r *ChildRefs[P, PK, C, CK]) Indexes() []model.Index { return []model.Index{r.in.index()} }

// Relations returns the relation, for diagrams: many parents may list many children.
func (r *ChildRefs[P, PK, C, CK]) Relations() []model.Relation {
	return r.in.relations()
}
