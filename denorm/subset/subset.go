// Package subset keeps the first children in their parent: see [Subset].
package subset

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Subset copies a parent's first children, such as the newest, into an array of the
// parent. One read returns the parent and the copies. The children's collection stores
// all children.
//
// Write the children by a [model.Store]. A child without a parent is in no array. A new
// parent that doesn't exist gives [model.ErrNotFound]. If you store a parent after its
// children, or write children in another way, run [Subset.Refresh].
//
// # Consistency
//
// In transactions, the array is never outdated. One action can remove at most ten of the
// first children of a parent and those that follow, and can't both delete children of a
// parent and move others. Otherwise the action gives a [*model.ValueError].
//
// Without transactions, a parent has the old array until the action is finished: see
// [model.Store]. If some writers use transactions, and others don't, concurrent writes can
// leave an outdated array. The check finds it.
//
// Cost: an insert pushes the child by one write. A child that leaves its place reads up to
// Spec.Max children and ten more.
//
// Source: https://www.mongodb.com/company/blog/building-with-patterns-the-subset-pattern.
//
// # Indexes and checks
//
// Indexes returns the index that finds a parent's children in order.
//
// Checks returns one check, which finds outdated arrays. Parents that an unfinished action
// has yet to change are skipped. For existing children, or after a change of Spec,
// run the check's job.
//
// Cost: the check reads each parent's first children by the index. If arrays are outdated,
// it reads the children once more, for unfinished actions.
type Subset[P, PK, C, CK any] struct {
	model.Parts

	children *model.Collection[C, CK]
	s        *untypedSubset
}

// Spec says what a [Subset] keeps. Max and By are required.
type Spec struct {
	Max int // maximum number of elements, at least 1

	// By sorts the children. The array keeps the first Max children: {time: -1} keeps the
	// newest. Equal children are sorted by _id, in the direction of the last field of By.
	// Every child must store the fields of By: don't use omitempty.
	By bson.D

	// Fields are the paths that the array copies from a child, besides _id and the fields
	// of By. Nil copies the whole child. If a copies.Copy writes the children's author.name,
	// don't list author.name: [model.New] panics. List author instead. After the Copy
	// changes children, run [Subset.Refresh].
	Fields []string
}

// New declares two paths. The value of refPath is where each child stores its
// parent's _id. The value of path is where each parent stores an array of its first
// children. The array can't lie inside another array, and can't be stored as null. An
// invalid path, type or spec panics with a [*model.DeclarationError].
func New[P, PK, C, CK any](
	children *model.Collection[C, CK], refPath string, parents *model.Collection[P, PK], path string, spec Spec,
) *Subset[P, PK, C, CK] {
	s := declareSubset(children.Docs(), refPath, parents.Docs(), path, spec)
	return &Subset[P, PK, C, CK]{model.NewParts(s.listIndexes, s.listRelations, s.listChecks, s.listFootprints).
		WithDocs(children.Docs(), parents.Docs()).
		WithReactions(s.makeReactions), children, s}
}

// Refresh returns the change that updates a parent's array from the stored children. A
// missing parent isn't an error.
//
// Cost: two reads, by _id and by [Subset].Indexes, of up to Spec.Max children and ten
// more. An outdated array costs one write.
func (x *Subset[P, PK, C, CK]) Refresh(parent PK) model.Change {
	return x.s.refreshParent(parent)
}

// Rest returns the query of the children after the last element of a parent's array, in
// the order of Spec.By. The parameter parent needs _id and the array. For the
// next page, pass the last child's values of By and _id to [model.Find.After].
//
// Cost: one command per batch, served by [Subset].Indexes.
func (x *Subset[P, PK, C, CK]) Rest(parent *P) *model.Find[C] {
	f := x.children.Find(nil)
	if last := x.s.findRest(&f.Query, parent); last != nil {
		return f.After(last...)
	}
	return f
}

// Children returns the query of all children of a parent, in the order of Spec.By.
//
// Cost: one command per batch, served by [Subset].Indexes.
func (x *Subset[P, PK, C, CK]) Children(parent PK) *model.Find[C] {
	f := x.children.Find(nil)
	x.s.findChildren(&f.Query, parent)
	return f
}
