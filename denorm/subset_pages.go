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
	Max int // number of kept elements, 1 to 100,000

	// By is the order of elements, such as {time: -1} for newest first. The parent keeps
	// the first Max. Equal elements are sorted by [BucketSpec].ElementKey, in the direction
	// of the last field of By. Every element must have all fields of By.
	By bson.D
}

// SubsetPages keeps all elements of a parent in pages, which are documents of a [Bucket].
// The Bucket's key is the parent's _id. An array in the parent repeats the newest
// elements, such as a post's newest comments.
//
// # Consistency
//
// A crash or concurrent operations on one element can leave an outdated array. So can an
// Append to a parent that is deleted and inserted again before the Append returns.
// [SubsetPages.Refresh] or the job of Checks repairs the array.
//
// # In a store
//
// A [model.Store] writes the parents. A deletion also deletes the parent's pages. Without
// transactions, a concurrent Append can leave pages without a parent. Checks finds these
// pages. A store can't write the pages: call [SubsetPages.Append], [SubsetPages.Set] and
// [SubsetPages.Remove].
//
// Source:
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/group-data/subset-pattern/.
//
// # Indexes and checks
//
// Indexes returns the pages' [Bucket].Indexes.
//
// Checks returns these checks, then the pages' [Bucket].Checks:
//
//   - Parents whose array isn't the pages' newest elements. After you declare or change a
//     SubsetPages, run this check's job.
//   - Pages without a parent. The repair deletes the pages.
//
// Cost: each check reads all pages.
type SubsetPages[P, K, E any] struct {
	model.Parts

	parents *model.Collection[P, K]
	pages   *Bucket[K, E]
	s       *subsetpages.Subset
}

// NewSubsetPages declares that the parents' array at path contains the newest elements
// of a Bucket's pages. The Bucket needs an ElementKey and its own collection. Give
// [model.New] the SubsetPages, but not its Bucket. A bad path, Bucket or spec panics
// with a [*model.DeclarationError].
func NewSubsetPages[P, K, E any](
	parents *model.Collection[P, K], path string, pages *Bucket[K, E], spec SubsetPagesSpec,
) *SubsetPages[P, K, E] {
	if pages == nil {
		core.Place("NewSubsetPages of "+parents.Name()).
			Fail("the bucket of the pages is nil", "give a result of NewBucket")
	}
	s := subsetpages.Declare(parents.Docs(), path, reflect.TypeFor[E](), pages.in, subsetpages.Spec(spec))
	return &SubsetPages[P, K, E]{model.NewParts(s.ListIndexes, s.ListRelations, s.ListChecks, s.ListFootprints).
		WithDocs(parents.Docs(), pages.buckets.Docs()).WithKeys(model.KeyedDocs{Collection: pages.buckets.Name()}).
		WithReactions(s.MakeReactions), parents, pages, s}
}

// Append returns the change that adds an element to the parent's array and, like
// [Bucket.Append], to the newest page. A retry is safe. A missing parent gives
// [model.ErrNotFound] before anything is written.
//
// Cost: two reads, and two writes of one document each. A full page, a retry or a
// transaction adds commands.
func (x *SubsetPages[P, K, E]) Append(parent K, element E) model.Change {
	return x.s.AppendElement(parent, element)
}

// Set returns the change that sets fields of the element with this key, in its page and
// in the parent's array. Paths in fields are relative to the element.
// BucketSpec.ElementKey and BucketSpec.At can't be set. A missing element gives
// [model.ErrNotFound].
//
// Cost: two reads and one write. A change of the parent's array adds two commands. If
// fields contains a SubsetPagesSpec.By path, the second read reads all pages.
func (x *SubsetPages[P, K, E]) Set(parent K, key any, fields bson.D) model.Change {
	return x.s.SetElement(parent, key, fields)
}

// Remove returns the change that removes the element with this key from its page and from
// the parent's array. The array is refilled from the pages. A retry is safe.
//
// Cost: two reads and one write. An element in the array costs three more commands: two
// reads of all the parent's pages, and one write.
func (x *SubsetPages[P, K, E]) Remove(parent K, key any) model.Change {
	return x.s.RemoveElement(parent, key)
}

// Refresh returns the change that sets a parent's array from the parent's pages. A
// missing parent isn't an error.
//
// Cost: one command reads all pages of the parent. If the array differs, two more
// commands write the array and read the pages again.
func (x *SubsetPages[P, K, E]) Refresh(parent K) model.Change { return x.s.RefreshParent(parent) }

// Rest returns the pipeline of a parent's pages, newest first, without the elements of
// the parent's array. Pass the parent as you read it. pageToken is "" for the first call,
// later the last BucketDoc.ID. n is the maximum number of pages; 0 means all.
//
// Cost: one command per batch, served by _id. The server also reads pages whose elements
// are all in the parent's array. They don't count in n.
func (x *SubsetPages[P, K, E]) Rest(parent *P, pageToken string, n int64) *model.Aggregate[BucketDoc[K, E]] {
	pipeline, err := x.s.FindRest(parent, pageToken, n)
	return commands.ServeAggregate(model.AggregateAs[BucketDoc[K, E]](x.pages.buckets, pipeline), model.IDIndex, err)
}
