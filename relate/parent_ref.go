package relate

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ParentRef is a document that holds the id of its parent: logmsg.host is a host's id. The parent holds nothing of its
// children, so it can have any number of them. Make it with [NewParentRef].
//
// Source: one-to-squillions by parent reference, "6 Rules of Thumb for MongoDB Schema Design", part 1 (seed 004);
// https://www.mongodb.com/docs/manual/tutorial/model-referenced-one-to-many-relationships-between-documents/.
//
// Indexes returns the compound index on the reference and the order, which serves children, the newest n, and counts.
type ParentRef[C, CK, P, PK any] struct {
	model.Parts

	children *model.Collection[C, CK]
	parents  *model.Collection[P, PK]
	in       parentref.ParentRef
}

// ParentRefSpec says what a [ParentRef] needs beside its path. The zero value is valid.
type ParentRefSpec struct {
	// By is the path that orders a parent's children; the newest child has the greatest value. "" means _id, which is in
	// the order of creation for ObjectIDs.
	By string

	// CountUp is the path of the children's version, if an embed.Versioned guards them: each write of the
	// reference counts it up. "" counts nothing up.
	CountUp string
}

// NewParentRef declares that the path of the children's documents holds the id of a parent. It panics with a
// [*model.DeclarationError] when a path doesn't exist, crosses an array, or holds another type than the parents' _id;
// when CountUp is no whole number outside arrays.
func NewParentRef[C, CK, P, PK any](children *model.Collection[C, CK], path string, parents *model.Collection[P, PK], spec ParentRefSpec) *ParentRef[C, CK, P, PK] {
	parents.Docs().MustField("_id")
	r := &ParentRef[C, CK, P, PK]{children: children, parents: parents}
	r.in = parentref.Declare(children.Docs(), core.NewReader[PK](children.Docs(), path).Field(), parents.Docs(), spec.By, spec.CountUp)
	r.Parts = model.NewParts(r.in.Indexes, r.in.Relations, nil, r.in.Footprints)
	return r
}

// Children returns the query of a parent's children, newest first; Limited gives the newest n. The values of its After are the
// last child's field of the order, and its _id.
//
// Cost: one command, and one per further batch. Filter and order are served by [ParentRef.Indexes]: n index keys and
// documents are read.
func (r *ParentRef[C, CK, P, PK]) Children(parent PK) *model.Find[C] {
	f := r.children.Find(nil)
	r.in.Of(&f.Query, parent)
	return f
}

// Move returns the write that gives a child another parent, if the child still has the parent that was read; otherwise
// running it gives model.ErrStale. It can be run again.
//
// Cost: one command, one document, found by _id; one or two more commands when nothing matched.
func (r *ParentRef[C, CK, P, PK]) Move(child CK, from, to PK) model.Write {
	return r.in.Move(child, from, to)
}

// Detach returns the write that unsets a child's parent, if it is still the one that was read; otherwise running it gives
// model.ErrStale.
//
// Cost: as [ParentRef.Move].
func (r *ParentRef[C, CK, P, PK]) Detach(child CK, from PK) model.Write {
	return r.in.Detach(child, from)
}

// Attach returns the write that gives a parent to a child without one. If the child has a parent, running it gives model.ErrStale.
//
// Cost: as [ParentRef.Move].
func (r *ParentRef[C, CK, P, PK]) Attach(child CK, to PK) model.Write { return r.in.Attach(child, to) }

// MoveAll returns the write that gives every child of one parent to another.
//
// Cost: one command, as many documents as there are children, found by [ParentRef.Indexes]. The command is not atomic
// over documents; a cut leaves some children moved, and the write can be run again.
func (r *ParentRef[C, CK, P, PK]) MoveAll(from, to PK) model.Write { return r.in.MoveAll(from, to) }

// Lookup returns the $lookup stage that adds the n newest children of each parent in a pipeline as an array, newest
// first. n 0 adds all, and so does a negative n.
func (r *ParentRef[C, CK, P, PK]) Lookup(as string, n int64) bson.D { return r.in.Lookup("_id", n, as) }

// Load returns the parents that match a filter, each with its n newest children, newest first. n 0 means all.
//
// Cost: one command; per parent, n index keys and documents, served by [ParentRef.Indexes]. A parent and its children
// together must fit 16 MiB. Needs MongoDB 5.0, for a $lookup with both a field and a pipeline.
func (r *ParentRef[C, CK, P, PK]) Load(filter bson.D, n int64) *model.Aggregate[Loaded[P, C]] {
	stages, err := r.in.Load(filter, n)
	a := model.AggregateAs[Loaded[P, C]](r.parents, stages)
	commands.Indexed(a, "", err)
	return a
}

// Counts returns how many children each of some parents has, in the order of the parents' ids. A parent without children
// has no entry. At least one parent must be given.
//
// Cost: one command; one index key per child, served by [ParentRef.Indexes].
func (r *ParentRef[C, CK, P, PK]) Counts(parents ...PK) *model.Aggregate[Count[PK]] {
	stages, err := r.in.IDs.Counts(core.Anys(parents))
	a := model.AggregateAs[Count[PK]](r.children, stages)
	commands.Indexed(a, r.in.Index().Name, err)
	return a
}

func (r *ParentRef[C, CK, P, PK]) reference() idref.Ref { return r.in.Reference() }
