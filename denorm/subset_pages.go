package denorm

import (
	"reflect"

	"github.com/docmodel/docmodel/denorm/internal/subsetpages"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// SubsetPagesSpec says which elements a parent holds. Max and By are required.
type SubsetPagesSpec struct {
	Max int // how many elements the parent holds; at least 1

	// By is the order of the elements, those that the parent holds first: {time: -1}. The
	// key of the elements is added to it, so that it is total. Every element must have
	// these fields.
	By bson.D
}

// SubsetPages keeps all elements of a parent in pages of a hundred or so, and copies the
// newest n of them into the parent: the comments of a post. The post's own page needs one
// document, and each further page needs one more. The pages are a [Bucket] whose key is the
// parent's _id. Make it with [NewSubsetPages].
//
// # Consistency
//
// The pages say what is true. An operation writes the page first and then the parent. A cut
// between the two writes leaves an array that lacks a new element, still has a removed
// one, or has the old fields of one. The same operation run again completes it, and so does
// [SubsetPages.Refresh]. [SubsetPages.Checks] finds it.
//
// A write that replaces elements of the array requires that they are as they were read,
// and otherwise the operation reads again. A write that fills the array up is
// followed by another look. One race is left open: a Set or Remove of an element whose
// Append has not returned yet can leave the array with the element as it was appended.
// Checks finds that too. With transactions ([model.WithTransactions]) an Append is one
// transaction, and this race is gone. A Set or Remove is a transaction for the page and
// another for the parent; within [model.InTx] it is one.
//
// Source: posts that embed the newest comments and store all of them by the hundred (seed
// 000); https://www.mongodb.com/docs/manual/data-modeling/design-patterns/group-data/subset-pattern/.
//
// Indexes returns the Bucket's index, which finds an element by its key and the pages of a
// parent.
//
// Checks returns two checks and those of the Bucket. The first finds the parents whose
// array isn't the newest elements of their pages. Mending sets an array that is as it was
// found. Run its job to introduce the array, or after By or Max changed. The second
// finds pages whose parent isn't there. Mending deletes them, unless something was
// appended or removed since.
//
// Cost: see [model.Check]. The first reads all pages of each parent by Indexes. Mending
// writes one document each, by _id.
type SubsetPages[P, K, E any] struct {
	model.Parts

	parents *model.Collection[P, K]
	pages   *Bucket[K, E]
	s       *subsetpages.Subset
}

// NewSubsetPages declares that the array at a path of the parents holds the newest elements
// of a Bucket's pages. It panics with a [*model.DeclarationError] when the path doesn't
// exist, lies inside another array, can be stored as null or has other elements than the
// Bucket, when the Bucket has no Key, when Max or By make no sense, or when both are one
// collection.
//
// Give [model.New] the SubsetPages without its Bucket: the SubsetPages owns the pages. Read
// the pages with the Bucket's methods; append with those of SubsetPages.
func NewSubsetPages[P, K, E any](parents *model.Collection[P, K], path string, pages *Bucket[K, E], spec SubsetPagesSpec) *SubsetPages[P, K, E] {
	if pages == nil {
		core.Place("NewSubsetPages of "+parents.Name()).Fail("no bucket for the pages", "give what NewBucket returned")
	}
	s := subsetpages.Declare(parents.Docs(), path, reflect.TypeFor[E](), pages.in, subsetpages.Spec(spec))
	return &SubsetPages[P, K, E]{model.NewParts(s.Indexes, s.Relations, s.Checks, s.Footprints), parents, pages, s}
}

// Append returns the change that adds an element to the newest page, as [Bucket.Append]
// does, and to the parent's array. The array drops its last element when it is full; an
// element that comes after all of them in the order By doesn't enter it. An element that a
// page holds already is not added again, and the array is refreshed. A parent that isn't
// there gives model.ErrNotFound; the element is stored in a page then, which Checks finds.
//
// Cost: two commands to read, two to write, two documents. More where the Bucket closes a
// page for its MaxBytes. Cut, it leaves an element that the parent's array doesn't hold yet.
func (x *SubsetPages[P, K, E]) Append(parent K, element E) model.Change[any] {
	return x.s.Append(parent, element)
}

// Set returns the change that sets fields of an element, by their paths within it, in its
// page and in the parent's array; nil stores null. The Bucket's Key and At can't be set.
// An element that no page holds gives model.ErrNotFound.
//
// Cost: two commands to read, one to write, and two more if the parent holds the element.
// A field of By can change the element's place: then the parent's array is written as
// [SubsetPages.Refresh] does. Cut, it leaves an array with the element's old fields.
func (x *SubsetPages[P, K, E]) Set(parent K, key any, fields bson.D) model.Change[any] {
	return x.s.Set(parent, key, fields)
}

// Remove returns the change that takes an element out of its page and out of the parent's
// array, where the next one takes its place. An element that isn't there is no error.
//
// Cost: two commands to read, and one to write. Three more if the parent holds the element:
// what the pages say, the array, and another look. The server reads all pages of the parent
// for each look. Cut, it leaves an array that still holds the element.
func (x *SubsetPages[P, K, E]) Remove(parent K, key any) model.Change[any] {
	return x.s.Remove(parent, key)
}

// Delete returns the plan that deletes a parent and its pages, in this order. It can be run
// again. Cut, it leaves pages without a parent, and so can an Append that runs at the same
// time. Checks finds them.
//
// Cost: two commands, by _id; as many documents as there are.
func (x *SubsetPages[P, K, E]) Delete(parent K) model.Plan {
	return x.s.Delete(x.parents.Delete(parent), parent)
}

// Refresh returns the change that makes a parent's array what its pages say: after an
// operation that was cut, or a write past the SubsetPages. A parent that isn't there is no
// error.
//
// Cost: one command, for which the server reads all pages of the parent by Indexes. If the
// array differs, one to write and one to look again.
func (x *SubsetPages[P, K, E]) Refresh(parent K) model.Change[any] { return x.s.Refresh(parent) }

// Rest returns the pipeline of the pages of a parent that was read, the newest page first,
// without the elements that the parent's array holds; 0 for n is all. The _id of the last
// page that was read goes on from there. A page with no other elements is left out. The
// items of a page are in the order of appending, and N still counts all of them.
//
// Cost: one command, served by _id; it returns at most n documents, and reads those before
// them whose elements are all in the array.
func (x *SubsetPages[P, K, E]) Rest(parent *P, after string, n int64) *model.Aggregate[BucketDoc[K, E]] {
	pipeline, err := x.s.Rest(parent, after, n)
	return commands.Indexed(model.AggregateAs[BucketDoc[K, E]](x.pages.buckets, pipeline), model.IDIndex, err)
}
