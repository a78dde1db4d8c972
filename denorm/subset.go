package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/subset"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Subset keeps a parent's first children, such as the newest, in an array of the parent.
// SubsetSpec.By is the order. One read finds these children. The children's own
// collection contains all children.
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
// Checks returns one check: parents whose array differs from their children. The check's
// job also fills the arrays at first, and after a change of SubsetSpec.
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

	// By sorts the children. The array keeps the first Max children: {time: -1} keeps the
	// newest. _id is added to By, in the direction of By's last field. Every child must
	// have the fields of By: don't use omitempty. Elements copy these fields.
	By bson.D

	// Fields are the paths that the array copies from a child, besides _id and the fields
	// of By. A path can't lie inside an array. Nil copies the whole child. If a
	// [Copy] keeps a field of the child, give the document around it. After [Copy.Set],
	// run [Subset.Refresh].
	Fields []string
}

// NewSubset declares that children store their parent's _id at the path refPath. Each
// parent's array at path contains the parent's first children. NewSubset panics with a
// [*model.DeclarationError] if a path, type or spec is invalid. It also panics if the
// array lies inside another array or can be stored as null.
func NewSubset[P, PK, C, CK any](children *model.Collection[C, CK], refPath string, parents *model.Collection[P, PK], path string, spec SubsetSpec) *Subset[P, PK, C, CK] {
	s := subset.Declare(children.Docs(), refPath, parents.Docs(), path, subset.Spec(spec))
	return &Subset[P, PK, C, CK]{model.NewParts(s.Indexes, s.Relations, s.Checks, s.Footprints), children, s}
}

// Insert returns the plan that stores a child and pushes it into its parent's array. An
// array over Max loses its last element. If the parent is missing, the child is stored,
// and the plan gives [model.ErrNotFound]. After a crash, run the plan again: the array
// can lack the child.
//
// Cost: two commands, two documents.
func (x *Subset[P, PK, C, CK]) Insert(child C) model.Plan {
	return x.s.Insert(x.children.Insert(child))
}

// Set returns the change that sets fields of a child and updates its parent's array.
// Fields are given by path; nil stores null. A new reference moves the child to another
// parent. A missing child gives [model.ErrNotFound].
//
// A crash can leave an outdated array: run the change again.
//
// Cost: two commands to read, one to write the child, and one or two for each array that
// changes.
func (x *Subset[P, PK, C, CK]) Set(child CK, fields bson.D) model.Change[any] {
	return x.s.Set(child, fields)
}

// Delete returns the change that deletes a child. In the parent's array, the next child
// takes its place. A missing child isn't an error. After a crash, the array can lack a
// child that still exists. Run the change again.
//
// Cost: two commands to read, one to write. If the array contains the child, one more
// command, or two for a full array.
func (x *Subset[P, PK, C, CK]) Delete(child CK) model.Change[any] {
	return x.s.Delete(child)
}

// Refresh returns the change that sets a parent's array from its children. A missing
// parent isn't an error.
//
// Cost: one read, served by the index. If the array differs, there is one write. If the
// old array was full, there can be one more read, for children inserted meanwhile.
func (x *Subset[P, PK, C, CK]) Refresh(parent PK) model.Change[any] {
	return x.s.Refresh(parent)
}

// Rest returns the query of the children that follow the last element of a parent's
// array. The order is SubsetSpec.By. Rest reads the _id and the array in parent. For the
// next page, pass the last child's values of By and _id to [model.Find.After].
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
