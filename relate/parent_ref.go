package relate

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ParentRef is a document that holds the id of its parent: logmsg.host is a host's id. The parent knows nothing of its
// children, so there may be any number of them. Make it with [NewParentRef].
//
// Source: one-to-squillions by parent reference, "6 Rules of Thumb for MongoDB Schema Design", part 1 (seed 004);
// https://www.mongodb.com/docs/manual/tutorial/model-referenced-one-to-many-relationships-between-documents/.
type ParentRef[C, CK, P, PK any] struct {
	children *model.Collection[C, CK]
	parents  *model.Collection[P, PK]
	ref      *model.Reader[C, PK]
	path     string
	order    bson.D // newest first, total
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
	r := &ParentRef[C, CK, P, PK]{children: children, parents: parents, path: path}
	model.MustField(parents, "_id")
	r.ref = model.NewReader[PK](children, path)
	single("NewParentRef of "+children.Name(), r.ref.Field())
	switch {
	case len(spec) > 1:
		panic(&model.DeclarationError{Problem: "more than one ParentRefSpec", Place: "NewParentRef of " + children.Name(), Remedy: "give one"})
	case path == "_id":
		panic(&model.DeclarationError{Problem: "path \"_id\" can't change", Place: "NewParentRef of " + children.Name(), Remedy: "hold the parent's id in a field of its own"})
	case len(spec) == 1 && spec[0].By == path:
		panic(&model.DeclarationError{Problem: fmt.Sprintf("By is the reference %q itself", path), Place: "NewParentRef of " + children.Name(), Remedy: "name a field in which one parent's children differ, or none for _id"})
	case len(spec) == 1 && spec[0].By != "" && spec[0].By != "_id":
		single("NewParentRef of "+children.Name(), model.MustField(children, spec[0].By))
		r.order = bson.D{{Key: spec[0].By, Value: -1}}
	}
	r.order = append(r.order, bson.E{Key: "_id", Value: -1})
	return r
}

// single panics unless the field is outside arrays.
func single(place string, f model.Field) {
	if f.Arrays > 0 {
		panic(&model.DeclarationError{
			Problem: fmt.Sprintf("path %q crosses an array", f.Path),
			Place:   place,
			Remedy:  "name a single value, outside arrays; a list of ids is declared with NewChildRefs",
		})
	}
}

// ParentID returns the id that a child holds, and whether it holds one.
func (r *ParentRef[C, CK, P, PK]) ParentID(child *C) (id PK, ok bool) {
	if child == nil {
		return id, false
	}
	id, ok = r.ref.First(child)
	return id, ok && r.parents.CheckID(r.path, id) == nil
}

// Parent returns the query of the parent of a child in hand. A child without one gives a query that is refused with a
// *model.ValueError.
//
// Cost: one command, served by _id.
func (r *ParentRef[C, CK, P, PK]) Parent(child *C) model.Find[P] {
	id, ok := r.ParentID(child)
	if !ok {
		f := r.parents.Find(nil)
		f.Err = &model.ValueError{Collection: r.children.Name(), Field: r.path, Reason: "the document holds no parent"}
		return f
	}
	return r.parents.ByID(id)
}

// Children returns the query of a parent's children, newest first. Page through it with model.Find's Limited and After.
//
// Cost: one command, and one per further batch; filter and order are served by [ParentRef.Indexes].
func (r *ParentRef[C, CK, P, PK]) Children(parent PK) model.Find[C] {
	id, err := encodeID(r.parents, r.children.Name(), r.path, parent)
	f := r.children.Find(bson.D{{Key: r.path, Value: model.Eq(id)}}).Sorted(r.order)
	f.Index = r.index().Name
	if f.Err == nil {
		f.Err = err
	}
	return f
}

// Newest returns the query of a parent's n newest children. An n below one is refused: the query language would take 0
// for all.
//
// Cost: one command; n index keys and documents are read.
func (r *ParentRef[C, CK, P, PK]) Newest(parent PK, n int64) model.Find[C] {
	f := r.Children(parent)
	if n < 1 && f.Err == nil {
		f.Err = &model.ValueError{Collection: r.children.Name(), Field: "n", Value: n, Reason: "must be at least 1"}
	}
	return f.Limited(max(n, 0))
}

// Move returns the write that gives a child another parent, if it still has the one that was read: else running it gives
// model.ErrStale.
//
// Cost: one command, one document, found by _id; one command more when nothing matched. It can be run again.
func (r *ParentRef[C, CK, P, PK]) Move(child CK, from, to PK) model.Write {
	old, err := encodeID(r.parents, r.children.Name(), r.path, from)
	if err != nil {
		return model.Refused(r.children.Name(), err)
	}
	next, err := encodeID(r.parents, r.children.Name(), r.path, to)
	if err != nil {
		return model.Refused(r.children.Name(), err)
	}
	w := r.children.Update(child, bson.D{{Key: "$set", Value: bson.D{{Key: r.path, Value: next}}}})
	return r.guarded(w, model.Eq(old), model.Eq(next))
}

// Detach returns the write that takes a child's parent away, if it is still the one that was read: else running it gives
// model.ErrStale. The field is unset.
//
// Cost: as [ParentRef.Move].
func (r *ParentRef[C, CK, P, PK]) Detach(child CK, from PK) model.Write {
	old, err := encodeID(r.parents, r.children.Name(), r.path, from)
	if err != nil {
		return model.Refused(r.children.Name(), err)
	}
	w := r.children.Update(child, bson.D{{Key: "$unset", Value: bson.D{{Key: r.path, Value: ""}}}})
	return r.guarded(w, model.Eq(old), bson.D{{Key: "$exists", Value: false}})
}

// Attach returns the write that gives a parent to a child that has none: else running it gives model.ErrStale.
//
// Cost: as [ParentRef.Move].
func (r *ParentRef[C, CK, P, PK]) Attach(child CK, to PK) model.Write {
	next, err := encodeID(r.parents, r.children.Name(), r.path, to)
	if err != nil {
		return model.Refused(r.children.Name(), err)
	}
	w := r.children.Update(child, bson.D{{Key: "$set", Value: bson.D{{Key: r.path, Value: next}}}})
	return r.guarded(w, nil, model.Eq(next))
}

// guarded puts what was read into the write's filter, and what it leaves into its Done condition.
func (r *ParentRef[C, CK, P, PK]) guarded(w model.Write, was, becomes any) model.Write {
	if w.Err != nil {
		return w
	}
	m := w.Model.(*mongo.UpdateOneModel)
	id := m.Filter.(bson.D)
	m.Filter = model.And(id, bson.D{{Key: r.path, Value: was}})
	w.Done = model.And(id, bson.D{{Key: r.path, Value: becomes}})
	return w
}

// MoveAll returns the write that gives every child of one parent to another.
//
// Cost: one command, as many documents as there are children, found by [ParentRef.Indexes]. The command is not atomic
// over documents; cut, it leaves some moved and can be run again.
func (r *ParentRef[C, CK, P, PK]) MoveAll(from, to PK) model.Write {
	old, err := encodeID(r.parents, r.children.Name(), r.path, from)
	if err != nil {
		return model.Refused(r.children.Name(), err)
	}
	next, err := encodeID(r.parents, r.children.Name(), r.path, to)
	if err != nil {
		return model.Refused(r.children.Name(), err)
	}
	return model.Write{
		Collection: r.children.Name(), Index: r.index().Name,
		Model: &mongo.UpdateManyModel{
			Filter: bson.D{{Key: r.path, Value: model.Eq(old)}},
			Update: bson.D{{Key: "$set", Value: bson.D{{Key: r.path, Value: next}}}},
		},
	}
}

// Indexes returns the compound index on the reference and the order, which serves children, newest n and counts.
func (r *ParentRef[C, CK, P, PK]) Indexes() []model.Index { return []model.Index{r.index()} }

func (r *ParentRef[C, CK, P, PK]) index() model.Index {
	keys := append(bson.D{{Key: r.path, Value: 1}}, r.order...)
	x := model.NewIndex(r.children.Name(), keys)
	x.Why = "the " + r.children.Name() + " of a document of " + r.parents.Name() + ", newest first"
	return x
}

// Relations returns the relation, for diagrams: one parent has many children.
func (r *ParentRef[C, CK, P, PK]) Relations() []model.Relation {
	return []model.Relation{{
		From: r.children.Name(), FromPath: r.path, To: r.parents.Name(), ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "parent reference",
	}}
}

// newestFirst returns the order, for a pipeline.
func (r *ParentRef[C, CK, P, PK]) newestFirst() bson.D { return slices.Clone(r.order) }
