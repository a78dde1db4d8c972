package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/subset"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Subset keeps a parent's first children in the order SubsetSpec.By, such as the newest,
// in an array of the parent, so that one read finds them. The children's own collection
// contains all children.
//
// # Consistency
//
// A child and its parent are two writes. A crash in between, or concurrent changes of one
// child, can leave an outdated array. [Subset.Checks] finds the array, [Subset.Refresh]
// repairs it.
//
// Source: https://www.mongodb.com/company/blog/building-with-patterns-the-subset-pattern.
//
// Indexes returns the index that finds a parent's children in order.
//
// Checks returns one check: parents whose array differs from their children. Its job also
// fills the arrays at first, and after By, Max or Fields changed.
//
// Cost: the server reads each parent's first children by the index.
type Subset[P, PK, C, CK any] struct {
	model.Parts

	children *model.Collection[C, CK]
	s        *subset.Subset
}

// SubsetSpec says what a [Subset] keeps. Max and By are required.
type SubsetSpec struct {
	Max int // maximum elements, at least 1

	// By is the order of the children: the array keeps the first Max. {time: -1} keeps
	// the newest. _id is added, in the direction of the last field. Elements copy the
	// fields of By, and every child must have them: don't use omitempty.
	By bson.D

	// Fields are the paths of the child's fields that the array copies, besides _id and
	// the fields of By. A path can't lie inside an array. Nil copies the whole child:
	// elements then have the type C.
	Fields []string
}

// NewSubset declares that children store their parent's _id at the path refPath, and
// that the parents' array at path contains the first children. It panics with a
// [*model.DeclarationError] if paths or types don't fit, if the array lies inside
// another or can be stored as null, or for a bad spec.
func NewSubset[P, PK, C, CK any](children *model.Collection[C, CK], refPath string, parents *model.Collection[P, PK], path string, spec SubsetSpec) *Subset[P, PK, C, CK] {
	s := subset.Declare(children.Docs(), refPath, parents.Docs(), path, subset.Spec(spec))
	return &Subset[P, PK, C, CK]{model.NewParts(s.Indexes, s.Relations, s.Checks, s.Footprints), children, s}
}

// Insert returns the plan that stores a child and pushes it into its parent's array,
// which drops the last element over Max. If the parent is missing, the plan gives
// [model.ErrNotFound], but has stored the child.
//
// Cost: two commands, two documents. A crash leaves an array without the child: run it
// again.
func (x *Subset[P, PK, C, CK]) Insert(child C) model.Plan {
	return x.s.Insert(x.children.Insert(child))
}

// Set returns the change that sets fields of a child and updates its parent's array.
// Fields are given by path; nil stores null. A new reference moves the child to another
// parent. A missing child gives [model.ErrNotFound].
//
// Cost: two commands to read, one to write the child, one or two for each array that
// changes. A crash leaves an outdated array: run it again.
func (x *Subset[P, PK, C, CK]) Set(child CK, fields bson.D) model.Change[any] {
	return x.s.Set(child, fields)
}

// Delete returns the change that deletes a child, and replaces it in its parent's array
// by the next child. A missing child isn't an error.
//
// Cost: two commands to read, and two to write if the array contains the child, else one.
// If the old array was full, one more command checks the new array. A crash leaves an
// array without a child that still exists: run it again.
func (x *Subset[P, PK, C, CK]) Delete(child CK) model.Change[any] {
	return x.s.Delete(child)
}

// Refresh returns the change that sets a parent's array from its children. A missing
// parent isn't an error.
//
// Cost: one command that reads, served by the index. If the array differs, one command
// writes it. If the old array was full, one more command may look for children that were
// inserted meanwhile.
func (x *Subset[P, PK, C, CK]) Refresh(parent PK) model.Change[any] {
	return x.s.Refresh(parent)
}

// Rest returns the query of the children after the last element of a parent's array, in
// the order of SubsetSpec.By. It takes _id and array from the value parent. For the next
// page, pass the last child's values of By and _id to [model.Find.After].
//
// Cost: one command per batch, served by [Subset.Indexes].
func (x *Subset[P, PK, C, CK]) Rest(parent *P) *model.Find[C] {
	f := x.children.Find(nil)
	if last := x.s.Rest(&f.Query, parent); last != nil {
		return f.After(last...)
	}
	return f
}

// Children returns the query of all children of a parent, in the order of SubsetSpec.By.
//
// Cost: one command per batch, served by [Subset.Indexes].
func (x *Subset[P, PK, C, CK]) Children(parent PK) *model.Find[C] {
	f := x.children.Find(nil)
	x.s.Children(&f.Query, parent)
	return f
}
