package denorm

import (
	"reflect"

	"github.com/docmodel/docmodel/denorm/internal/subsetpages"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// SubsetPagesSpec says which elements a parent keeps. Max and By are required.
type SubsetPagesSpec struct {
	Max int // maximum elements in the parent, 1 to 100,000

	// By is the order of the elements: the parent keeps the first Max. {time: -1} keeps
	// the newest. BucketSpec.ElementKey is appended to By. Every element must have all fields of
	// By.
	By bson.D
}

// SubsetPages keeps all elements of a parent in pages. The newest are also in an array of
// the parent, such as the newest comments of a post. The pages are a [Bucket] with the
// parent's _id as key.
//
// # Consistency
//
// The pages are authoritative. An operation writes the page first, then the parent's
// array. A crash between the two writes leaves an outdated array. A Set or Remove that
// runs before the element's Append returns can do the same. Checks or
// [SubsetPages.Refresh] repairs the array.
//
// Source:
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/group-data/subset-pattern/.
//
// Indexes returns the Bucket's index.
//
// Checks returns two checks, and then the Bucket's checks:
//
//   - Parents whose array differs from their pages. To fill the arrays at first, and
//     after By or Max changed, run this check's job.
//   - Pages without a parent. The repair deletes them.
//
// Cost: the first check reads all pages.
type SubsetPages[P, K, E any] struct {
	model.Parts

	parents *model.Collection[P, K]
	pages   *Bucket[K, E]
	s       *subsetpages.Subset
}

// NewSubsetPages declares that the parents' array at path contains the newest elements of
// a Bucket's pages. The Bucket needs a Key and its own collection. Give [model.New] the
// SubsetPages, but not its Bucket. A bad path, Bucket or spec panics with a
// [*model.DeclarationError].
func NewSubsetPages[P, K, E any](parents *model.Collection[P, K], path string, pages *Bucket[K, E], spec SubsetPagesSpec) *SubsetPages[P, K, E] {
	if pages == nil {
		core.Place("NewSubsetPages of "+parents.Name()).Fail("the bucket of the pages is nil", "give a result of NewBucket")
	}
	s := subsetpages.Declare(parents.Docs(), path, reflect.TypeFor[E](), pages.in, subsetpages.Spec(spec))
	return &SubsetPages[P, K, E]{model.NewParts(s.Indexes, s.Relations, s.Checks, s.Footprints), parents, pages, s}
}

// Append returns the change that adds an element to the newest page (see [Bucket.Append])
// and to the parent's array. A retry is safe. A missing parent gives [model.ErrNotFound]
// before anything is written.
//
// Cost: two commands read, and two write two documents. Closing a page for MaxBytes costs
// more commands. So does a transaction.
func (x *SubsetPages[P, K, E]) Append(parent K, element E) model.Change[any] {
	return x.s.Append(parent, element)
}

// Set returns the change that sets fields of the element with this key, in a page and in
// the parent's array. Each path in fields begins at the element. The paths BucketSpec.ElementKey
// and BucketSpec.At can't be set. A missing element gives [model.ErrNotFound].
//
// Cost: two commands to read, one to write. If the parent's array changes, two more
// commands.
func (x *SubsetPages[P, K, E]) Set(parent K, key any, fields bson.D) model.Change[any] {
	return x.s.Set(parent, key, fields)
}

// Remove returns the change that removes the element with this key from its page and from
// the parent's array. The next element then enters the array. A retry is safe.
//
// Cost: two commands to read, one to write. If the array contains the element, three more
// commands. Two of them read all pages of the parent.
func (x *SubsetPages[P, K, E]) Remove(parent K, key any) model.Change[any] {
	return x.s.Remove(parent, key)
}

// Delete returns the plan that deletes a parent, then its pages. A crash or a concurrent
// Append can leave pages without a parent, which Checks finds.
//
// Cost: two commands, by _id; the parent and all its pages.
func (x *SubsetPages[P, K, E]) Delete(parent K) model.Plan {
	return x.s.Delete(x.parents.Delete(parent), parent)
}

// Refresh returns the change that sets a parent's array from its pages. A missing parent
// isn't an error.
//
// Cost: one command, for which the server reads all pages of the parent. If the array
// differs, one more command writes it, and one more checks it again.
func (x *SubsetPages[P, K, E]) Refresh(parent K) model.Change[any] { return x.s.Refresh(parent) }

// Rest returns the pipeline of a parent's pages, newest first. It leaves out elements of
// the parent's array, and pages without other elements. Pass the parent as you read it.
// pageToken is "" at first, then the last BucketDoc.ID returned. n limits the pages; 0
// means all.
//
// Cost: one command, served by _id. It reads n pages and the pages left out.
func (x *SubsetPages[P, K, E]) Rest(parent *P, pageToken string, n int64) *model.Aggregate[BucketDoc[K, E]] {
	pipeline, err := x.s.Rest(parent, pageToken, n)
	return commands.Indexed(model.AggregateAs[BucketDoc[K, E]](x.pages.buckets, pipeline), model.IDIndex, err)
}
