// Package parentref declares that a child names its parent: see [ParentRef].
package parentref

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ParentRef is the id of a parent in a child document: logmsg.host is a host's id. A
// [model.Store] writes it: [model.Store.SetOne] moves a child only from the parent that its
// filter names.
//
// Source: "6 Rules of Thumb for MongoDB Schema Design", part 1;
// https://www.mongodb.com/docs/manual/tutorial/model-referenced-one-to-many-relationships-between-documents/.
//
// # Indexes
//
// Indexes returns the compound index on the parent's id and on [Spec].By.
type ParentRef[C, CK, P, PK any] struct {
	model.Parts
	inside

	children *model.Collection[C, CK]
	parents  *model.Collection[P, PK]
	in       untypedParentRef
}

// inside is for the rules of package ondelete.
type inside = core.Inner[idref.Ref]

// Spec contains the options of a [ParentRef].
type Spec struct {
	// By is the path that orders a parent's children. Reads return the newest child, with
	// the greatest value, first. "" means _id.
	By string

	// If an embed.Versioned also writes the children, CountUp is its version field.
	// If the ParentRef changes a child's parent id, it increments CountUp.
	CountUp string

	// MustExist makes a [model.Store] refuse a child whose parent is missing.
	MustExist bool
}

// New declares that the children's field at path contains the id of a parent. An
// invalid path or spec panics with a [*model.DeclarationError].
func New[C, CK, P, PK any](
	children *model.Collection[C, CK], path string, parents *model.Collection[P, PK], spec Spec,
) *ParentRef[C, CK, P, PK] {
	parents.Docs().MustField("_id")
	r := &ParentRef[C, CK, P, PK]{children: children, parents: parents}
	r.in = declareParentRef(children.Docs(), core.NewReader[PK](children.Docs(), path).Field(),
		parents.Docs(), spec.By, spec.CountUp)
	r.inside = core.NewInner(r.in.makeReference())
	r.Parts = model.NewParts(r.in.listIndexes, r.in.listRelations, nil, r.in.listFootprints).
		WithDocs(children.Docs(), parents.Docs()).
		WithReactions(func() []model.Reaction { return r.in.makeReactions(spec.MustExist) })
	return r
}

// Children returns the query of a parent's children. The newest child, with the greatest
// value at [Spec].By, is first. For the next page, pass the last child's value
// at Spec.By (if set) and _id to [model.Find.After].
//
// Cost: one command for each batch, served by [ParentRef].Indexes.
func (r *ParentRef[C, CK, P, PK]) Children(parent PK) *model.Find[C] {
	f := r.children.Find(nil)
	r.in.findChildren(&f.Query, parent)
	return f
}

// MoveAll returns the write that moves every child of oldParent to newParent. It isn't
// atomic. After a crash, run it again.
//
// Cost: one command that writes each child, by [ParentRef].Indexes.
func (r *ParentRef[C, CK, P, PK]) MoveAll(oldParent, newParent PK) model.Write {
	return r.in.moveChildren(oldParent, newParent)
}

// Lookup returns a $lookup stage for pipelines over the parents. The stage adds an array
// of each parent's n newest children, newest first. The array's field name is the value
// of as. If n is 0 or less, the stage adds all children.
func (r *ParentRef[C, CK, P, PK]) Lookup(as string, n int64) bson.D {
	return r.in.lookupChildren("_id", n, as)
}

// Load returns the query of parents that match a filter. Each result contains a parent
// and its n newest children, newest first. n = 0 means all children. Each result must fit
// in 16 MiB. Load needs MongoDB 5.0.
//
// Cost: one command per batch. [ParentRef].Indexes serves the n children of each parent,
// but not the filter.
func (r *ParentRef[C, CK, P, PK]) Load(filter bson.D, n int64) *model.Aggregate[relate.Loaded[P, C]] {
	stages, err := r.in.loadParents(filter, n)
	a := model.AggregateAs[relate.Loaded[P, C]](r.parents, stages)
	commands.ServeAggregate(a, "", err)
	return a
}

// Counts returns the query that counts each given parent's children. The results are
// sorted by the parents' ids. A parent without children has no result. If no id is given,
// the query fails.
//
// Cost: one command, which reads one index key for each child ([ParentRef].Indexes).
func (r *ParentRef[C, CK, P, PK]) Counts(parents ...PK) *model.Aggregate[relate.Count[PK]] {
	stages, err := r.in.IDs.CountHolders(core.Anys(parents))
	a := model.AggregateAs[relate.Count[PK]](r.children, stages)
	commands.ServeAggregate(a, r.in.makeIndex().Name, err)
	return a
}
