package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/subset"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Subset keeps the newest n children of a parent, or the first n in any order of theirs, in the parent itself, beside the
// children, which have a collection of their own: the ten newest comments in the post, and all of them under comments. A page
// that shows the post needs one document; who wants more pages through the rest. Make it with [NewSubset].
//
// An element holds the child's _id and the fields that are copied; the array is sorted, and never longer than n.
//
// # Consistency
//
// The children say what is true. A child and its parent are two writes; a cut between them leaves an array that lacks a new
// child, or still has the old fields of one. [Subset.Checks] finds it, and [Subset.Refresh] mends it.
//
// What replaces the array asks that it is as it was read, and otherwise reads again; what fills it up with children that it
// didn't hold, or pushes a changed child, is looked at again afterwards; a new child is pushed by its _id. So none that is pushed
// meanwhile is lost, and none comes twice. Two races are left open: a deletion that meets a change of the same child can leave
// its element, and so can, with its old fields, an insertion that meets a change of the child before it has returned.
//
// Source: recent comments (seeds 000, 003); the Subset pattern,
// https://www.mongodb.com/company/blog/building-with-patterns-the-subset-pattern.
//
// Indexes returns the index that finds a parent's children in order.
//
// Checks returns one check, of parents whose array isn't what their children say. An operation that is under way can show.
// Mending sets the arrays, and doesn't disturb such an operation. Run its job to introduce the array, after By, Max or Fields
// changed, or after children were loaded beside it.
//
// Cost: see [model.Check]. For each parent the server reads its first children by [Subset.Indexes]: without that index it reads
// all children for each parent. Mending writes one document each, by _id.
type Subset[P, PK, C, CK any] struct {
	model.Parts

	children *model.Collection[C, CK]
	s        *subset.Subset
}

// SubsetSpec says what a [Subset] keeps. Max and By are required.
type SubsetSpec struct {
	Max int // how many children the parent holds; at least 1

	// By is the order of the children, the kept ones first: {time: -1}. The _id is added to it, in the direction of its last
	// field, so that it is total. Its fields are copied, and every child must have them: don't leave them out when empty.
	By bson.D

	// Fields are the paths of a child that its element holds, beside _id, under the same names; they must not lie within an
	// array. Nil means the whole child; then elements must be of the children's type.
	Fields []string
}

// NewSubset declares that the children hold their parent's _id at the path ref, and that the array at a path of the parents
// holds the first of them. It panics with a [*model.DeclarationError] when a path doesn't exist, when ref holds another type
// than the parents' _id, when the array lies inside another or can be stored as null, when its elements lack a copied field
// or _id or have it in another type, and when Max or By make no sense.
func NewSubset[P, PK, C, CK any](children *model.Collection[C, CK], ref string, parents *model.Collection[P, PK], path string, spec SubsetSpec) *Subset[P, PK, C, CK] {
	s := subset.Declare(children.Docs(), ref, parents.Docs(), path, subset.Spec(spec))
	return &Subset[P, PK, C, CK]{model.NewParts(s.Indexes, s.Relations, s.Checks, s.Footprints), children, s}
}

// Insert returns the plan that stores a child and pushes it into its parent's array, which drops what is over the bound. A
// child that isn't among the first goes in and is dropped at once. A parent that is not there gives model.ErrNotFound; the child
// is stored then.
//
// Cost: two commands, two documents. It can be run again. Cut, it leaves an array without the child.
func (x *Subset[P, PK, C, CK]) Insert(child C) model.Plan {
	return x.s.Insert(x.children.Insert(child))
}

// Set returns the change that sets fields of a child by their paths, and its element, if it is or comes among the first; nil
// stores null. With the reference among the fields it moves to another parent.
//
// The child is read anew, and its write is guarded by the copied fields and the reference. A child that is not there gives
// model.ErrNotFound.
//
// Cost: two commands to read; one for the child, and one or two for each parent whose array changes; and one to look again when
// its place changed. It can be run again, and completes itself. Cut, it leaves an array with the child's old fields
// or place.
func (x *Subset[P, PK, C, CK]) Set(child CK, fields bson.D) model.Change[any] {
	return x.s.Set(child, fields)
}

// Delete returns the change that takes a child out of its parent's array, where the next one takes its place, and deletes it.
// A child that is not there is no error: nothing is written.
//
// Cost: two commands to read, and two to write if the parent held it; and one to look again when the next took its place. Cut, it
// leaves an array without a child that is there: run it again.
func (x *Subset[P, PK, C, CK]) Delete(child CK) model.Change[any] {
	return x.s.Delete(child)
}

// Refresh returns the change that makes a parent's array what its children say: after a plan that was cut, or a write past the
// subset. A parent that is not there is no error; nothing is written.
//
// Cost: one command to read, served by [Subset.Indexes]; if the array differs, one to write, and one to look again.
func (x *Subset[P, PK, C, CK]) Refresh(parent PK) model.Change[any] {
	return x.s.Refresh(parent)
}

// Rest returns the query of the children that a parent, as it was read, doesn't hold: those that come after its last element,
// in the order of By. An array with fewer elements than Max holds all there are; a new child may have come since.
//
// Find.After with the By fields and the _id of the last child gives the next page. Cost: one command for each batch, served by
// [Subset.Indexes].
func (x *Subset[P, PK, C, CK]) Rest(parent *P) *model.Find[C] {
	f := x.children.Find(nil)
	if last := x.s.Rest(&f.Query, parent); last != nil {
		return f.After(last...)
	}
	return f
}

// Children returns the query of all children of a parent in the order of By: the first of them are those that the parent holds.
//
// Cost: one command for each batch, served by [Subset.Indexes].
func (x *Subset[P, PK, C, CK]) Children(parent PK) *model.Find[C] {
	f := x.children.Find(nil)
	x.s.Children(&f.Query, parent)
	return f
}
