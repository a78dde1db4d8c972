package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/subset"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Subset copies a parent's first children, such as the newest, into an array of the
// parent. One read returns the parent and the copies. The children's collection stores
// all children.
//
// # Consistency
//
// A crash, or concurrent changes of one child, can leave an outdated array.
// [Subset.Refresh] repairs the array.
//
// # In a store
//
// In a transaction of a [model.Store], the array is never outdated. A child without a
// parent is in no array. One action can remove at most ten of the first children of a
// parent and those that follow, and can't both delete children of a parent and move others.
// Otherwise the action gives a [*model.ValueError]. Each removal reads up to SubsetSpec.Max
// children and ten more.
//
// Without transactions, a store can only insert children, as [Subset.Insert] does. Other
// changes that concern the array give [model.ErrTransactional].
//
// Source: https://www.mongodb.com/company/blog/building-with-patterns-the-subset-pattern.
type Subset[P, PK, C, CK any] struct {
	model.Parts

	children *model.Collection[C, CK]
	s        *subset.Subset
}

// SubsetSpec says what a [Subset] keeps. Max and By are required.
type SubsetSpec struct {
	Max int // maximum number of elements, at least 1

	// By sorts the children. The array keeps the first Max children: {time: -1} keeps the
	// newest. Equal children are sorted by _id, in the direction of the last field of By.
	// Every child must store the fields of By: don't use omitempty.
	By bson.D

	// Fields are the paths that the array copies from a child, besides _id and the fields
	// of By. Nil copies the whole child. If a [Copy] writes the children's author.name,
	// don't list author.name: [model.New] panics. List author instead. After the Copy
	// changes children, run [Subset.Refresh].
	Fields []string
}

// NewSubset declares two paths. The value of refPath is where each child stores its
// parent's _id. The value of path is where each parent stores an array of its first
// children. The array can't lie inside another array, and can't be stored as null. An
// invalid path, type or spec panics with a [*model.DeclarationError].
func NewSubset[P, PK, C, CK any](children *model.Collection[C, CK], refPath string, parents *model.Collection[P, PK], path string, spec SubsetSpec) *Subset[P, PK, C, CK] {
	s := subset.Declare(children.Docs(), refPath, parents.Docs(), path, subset.Spec(spec))
	return &Subset[P, PK, C, CK]{model.NewParts(s.Indexes, s.Relations, s.Checks, s.Footprints).
		WithDocs(children.Docs(), parents.Docs()).
		WithReactions(s.Reactions), children, s}
}

// Indexes returns the index that finds a parent's children in order.
func (x *Subset[P, PK, C, CK]) Indexes() []model.Index { return x.Parts.Indexes() }

// Checks returns one check, which finds outdated arrays. For existing children, or after
// a change of SubsetSpec, run the check's job.
//
// Cost: the check reads each parent's first children by the index.
func (x *Subset[P, PK, C, CK]) Checks() []model.Check { return x.Parts.Checks() }

// Insert returns the plan that stores a child and adds the child to the parent's array.
// SubsetSpec sorts and limits the array. A missing parent gives [model.ErrNotFound], but
// the child is stored. A crash can leave the array without the child: run the plan again.
// If another client deletes the child before the plan returns, the array can keep the
// child. The check finds this array.
//
// Cost: two commands, two documents.
func (x *Subset[P, PK, C, CK]) Insert(child C) model.Plan {
	return x.s.Insert(x.children.Insert(child))
}

// Set returns the change that sets fields (paths and values) of a child and updates the
// parent's array. A nil value stores null. If fields contains another parent's _id, the
// child moves there. A missing child gives [model.ErrNotFound].
//
// A crash can leave an outdated array: run the change again.
//
// Cost: two reads, one write, and one to three commands for each changed array.
func (x *Subset[P, PK, C, CK]) Set(child CK, fields bson.D) model.Change[any] {
	return x.s.Set(child, fields)
}

// Delete returns the change that deletes a child. In the parent's array, the next child
// fills the gap. A missing child isn't an error. A crash can leave a stored child that
// isn't in the array: run the change again. If other clients delete the child and insert
// an equal child meanwhile, Delete deletes the new child, which the array can keep. The
// check finds this array.
//
// Cost: two reads and one write. A child in the array costs one more command, or two if
// the array is full.
func (x *Subset[P, PK, C, CK]) Delete(child CK) model.Change[any] {
	return x.s.Delete(child)
}

// Refresh returns the change that updates a parent's array from the stored children. A
// missing parent isn't an error.
//
// Cost: one read, served by [Subset.Indexes]. An outdated array costs one write. If the
// outdated array is full, there can be one more read.
func (x *Subset[P, PK, C, CK]) Refresh(parent PK) model.Change[any] {
	return x.s.Refresh(parent)
}

// Rest returns the query of the children after the last element of a parent's array, in
// the order of SubsetSpec.By. The parameter parent needs _id and the array. For the
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
