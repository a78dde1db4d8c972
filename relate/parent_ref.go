package relate

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ParentRef is the id of a parent in a child document: logmsg.host is a host's id.
//
// Source: "6 Rules of Thumb for MongoDB Schema Design", part 1;
// https://www.mongodb.com/docs/manual/tutorial/model-referenced-one-to-many-relationships-between-documents/.
//
// Indexes returns the compound index on the reference and the path [ParentRefSpec].By.
type ParentRef[C, CK, P, PK any] struct {
	model.Parts

	children *model.Collection[C, CK]
	parents  *model.Collection[P, PK]
	in       parentref.ParentRef
}

// ParentRefSpec contains the options of a [ParentRef].
type ParentRefSpec struct {
	// By is the path that orders a parent's children. The newest child has the
	// greatest value. Reads return newer children first. "" means _id.
	By string

	// CountUp is the path of a version number in the children. A write of the reference
	// increments the number. Set CountUp if an embed.Versioned guards the children.
	CountUp string
}

// NewParentRef declares that the children's field at path contains the id of a parent. An
// invalid path or spec panics with a [*model.DeclarationError].
func NewParentRef[C, CK, P, PK any](children *model.Collection[C, CK], path string, parents *model.Collection[P, PK], spec ParentRefSpec) *ParentRef[C, CK, P, PK] {
	parents.Docs().MustField("_id")
	r := &ParentRef[C, CK, P, PK]{children: children, parents: parents}
	r.in = parentref.Declare(children.Docs(), core.NewReader[PK](children.Docs(), path).Field(), parents.Docs(), spec.By, spec.CountUp)
	r.Parts = model.NewParts(r.in.Indexes, r.in.Relations, nil, r.in.Footprints)
	return r
}

// Children returns the query of a parent's children, newest (greatest [ParentRefSpec].By)
// first. For the next page, pass the last child's value at By (if set) and its _id to
// [model.Find.After].
//
// Cost: one command for each batch, served by [ParentRef.Indexes].
func (r *ParentRef[C, CK, P, PK]) Children(parent PK) *model.Find[C] {
	f := r.children.Find(nil)
	r.in.Of(&f.Query, parent)
	return f
}

// Move returns the write that moves a child from oldParent to newParent (both _ids).
// The write changes nothing if the child already has newParent. A run returns
// model.ErrStale if the child has neither parent, and model.ErrNotFound if the child is
// missing.
//
// Cost: one command, one document, by _id.
func (r *ParentRef[C, CK, P, PK]) Move(child CK, oldParent, newParent PK) model.Write {
	return r.in.Move(child, oldParent, newParent)
}

// Detach returns the write that removes the reference from a child whose parent is
// oldParent. Running it returns model.ErrStale if the child has another parent. Cost: as
// [ParentRef.Move].
func (r *ParentRef[C, CK, P, PK]) Detach(child CK, oldParent PK) model.Write {
	return r.in.Detach(child, oldParent)
}

// Attach returns the write that sets the parent of a child that has no parent. Running it
// returns model.ErrStale if the child has another parent.
//
// Cost: as [ParentRef.Move].
func (r *ParentRef[C, CK, P, PK]) Attach(child CK, newParent PK) model.Write {
	return r.in.Attach(child, newParent)
}

// MoveAll returns the write that moves every child of oldParent to newParent. It isn't
// atomic. After a crash, run it again.
//
// Cost: one command that writes each child, by [ParentRef.Indexes].
func (r *ParentRef[C, CK, P, PK]) MoveAll(oldParent, newParent PK) model.Write {
	return r.in.MoveAll(oldParent, newParent)
}

// Lookup returns a $lookup stage for pipelines over the parents. It adds the n newest
// children of each parent as an array, newest first. The parameter as is the array's
// field name. If n is 0 or less, it adds all children.
func (r *ParentRef[C, CK, P, PK]) Lookup(as string, n int64) bson.D { return r.in.Lookup("_id", n, as) }

// Load returns the parents that match a filter, each with its n newest children, newest
// first. n 0 means all.
//
// Cost: one command; for each parent n index keys and documents, by [ParentRef.Indexes].
// A parent and its children must fit 16 MiB. Needs MongoDB 5.0.
func (r *ParentRef[C, CK, P, PK]) Load(filter bson.D, n int64) *model.Aggregate[Loaded[P, C]] {
	stages, err := r.in.Load(filter, n)
	a := model.AggregateAs[Loaded[P, C]](r.parents, stages)
	commands.Indexed(a, "", err)
	return a
}

// Counts returns the number of children of each parent, sorted by the parent's id. A
// parent without children has no entry. If no id is given, running the query fails.
//
// Cost: one command; one index key for each child, by [ParentRef.Indexes].
func (r *ParentRef[C, CK, P, PK]) Counts(parents ...PK) *model.Aggregate[Count[PK]] {
	stages, err := r.in.IDs.Counts(core.Anys(parents))
	a := model.AggregateAs[Count[PK]](r.children, stages)
	commands.Indexed(a, r.in.Index().Name, err)
	return a
}

func (r *ParentRef[C, CK, P, PK]) reference() idref.Ref { return r.in.Reference() }
