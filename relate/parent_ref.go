package relate

import "github.com/docmodel/docmodel/model"

// ParentRef is a document that holds the id of its parent: logmsg.host is a host's id. The parent knows nothing of its
// children, so there may be any number of them. Make it with [NewParentRef].
//
// Source: one-to-squillions by parent reference, "6 Rules of Thumb for MongoDB Schema Design", part 1 (seed 004);
// https://www.mongodb.com/docs/manual/tutorial/model-referenced-one-to-many-relationships-between-documents/.
type ParentRef[C, CK, P, PK any] struct {
	children *model.Collection[C, CK]
	parents  *model.Collection[P, PK]
	ref      *model.Reader[C, PK]
	in       parentRef
}

// ParentRefSpec says what a [ParentRef] needs beside its path. The zero value is valid.
type ParentRefSpec struct {
	// By is the path by which children are put in order, the newest having the greatest value. "" means _id, which is
	// in the order of creation for ObjectIDs.
	By string
}

// NewParentRef declares that the path of the children's documents holds the id of a parent. It panics with a
// [*model.DeclarationError] when a path doesn't exist, crosses an array, or holds another type than the parents' _id. At
// most one spec may be given.
func NewParentRef[C, CK, P, PK any](children *model.Collection[C, CK], path string, parents *model.Collection[P, PK], spec ...ParentRefSpec) *ParentRef[C, CK, P, PK] {
	model.MustField(parents, "_id")
	r := &ParentRef[C, CK, P, PK]{children: children, parents: parents, ref: model.NewReader[PK](children, path)}
	r.in = parentRef{children: children.Name(), parents: parents.Name(), path: path}
	r.in.declare(r.ref.Field(), spec, func(by string) model.Field { return model.MustField(children, by) })
	return r
}

// id is an encoded id of a parent.
func (r *ParentRef[C, CK, P, PK]) id(parent PK) (any, error) {
	return encodeID(r.parents, r.in.children, r.in.path, parent)
}

// ParentID returns the id that a child holds, and whether it holds one.
func (r *ParentRef[C, CK, P, PK]) ParentID(child *C) (id PK, ok bool) {
	if child == nil {
		return id, false
	}
	id, ok = r.ref.First(child)
	return id, ok && r.parents.CheckID(r.in.path, id) == nil
}

// Parent returns the query of the parent of a child in hand. A child without one gives a query that is refused with a
// *model.ValueError.
//
// Cost: one command, served by _id.
func (r *ParentRef[C, CK, P, PK]) Parent(child *C) model.Find[P] {
	id, ok := r.ParentID(child)
	if !ok {
		f := r.parents.Find(nil)
		f.Err = r.in.holdsNone()
		return f
	}
	return r.parents.ByID(id)
}

// Children returns the query of a parent's children, newest first. Page through it with model.Find's Limited and After: the values of
// After are the last child's field of the order, and its _id.
//
// Cost: one command, and one per further batch; filter and order are served by [ParentRef.Indexes].
func (r *ParentRef[C, CK, P, PK]) Children(parent PK) model.Find[C] {
	id, err := r.id(parent)
	f := r.children.Find(r.in.of(id))
	f.Sort = r.in.newestFirst()
	served(&f.Query, r.in.index().Name, err)
	return f
}

// Newest returns the query of a parent's n newest children. An n below one is refused: the query language would take 0
// for all.
//
// Cost: one command; n index keys and documents are read.
func (r *ParentRef[C, CK, P, PK]) Newest(parent PK, n int64) model.Find[C] {
	f := r.Children(parent)
	r.in.newest(&f.Query, n)
	return f
}

// Move returns the write that gives a child another parent, if it still has the one that was read: else running it gives
// model.ErrStale.
//
// Cost: one command, one document, found by _id; one command more when nothing matched. It can be run again.
func (r *ParentRef[C, CK, P, PK]) Move(child CK, from, to PK) model.Write {
	old, err := r.id(from)
	var next any
	if err == nil {
		next, err = r.id(to)
	}
	return r.guarded(child, r.in.move(old, next), err)
}

// Detach returns the write that takes a child's parent away, if it is still the one that was read: else running it gives
// model.ErrStale. The field is unset.
//
// Cost: as [ParentRef.Move].
func (r *ParentRef[C, CK, P, PK]) Detach(child CK, from PK) model.Write {
	old, err := r.id(from)
	return r.guarded(child, r.in.detach(old), err)
}

// Attach returns the write that gives a parent to a child that has none: else running it gives model.ErrStale.
//
// Cost: as [ParentRef.Move].
func (r *ParentRef[C, CK, P, PK]) Attach(child CK, to PK) model.Write {
	next, err := r.id(to)
	return r.guarded(child, r.in.attach(next), err)
}

// guarded is a write to one child.
func (r *ParentRef[C, CK, P, PK]) guarded(child CK, e guardedEdit, err error) (w model.Write) {
	if err != nil {
		w.Collection, w.Err = r.in.children, err
		return w
	}
	w = r.children.Update(child, e.update)
	e.guard(&w)
	return w
}

// MoveAll returns the write that gives every child of one parent to another.
//
// Cost: one command, as many documents as there are children, found by [ParentRef.Indexes]. The command is not atomic
// over documents; cut, it leaves some moved and can be run again.
func (r *ParentRef[C, CK, P, PK]) MoveAll(from, to PK) model.Write {
	old, err := r.id(from)
	var next any
	if err == nil {
		next, err = r.id(to)
	}
	return r.in.moveAll(old, next, err)
}

// Indexes returns the compound index on the reference, the order from the newest on, and _id, which serves children, newest n and counts.
func (r *ParentRef[C, CK, P, PK]) Indexes() []model.Index { return []model.Index{r.in.index()} }

// Relations returns the relation, for diagrams: one parent has many children.
func (r *ParentRef[C, CK, P, PK]) Relations() []model.Relation {
	return r.in.relations()
}
