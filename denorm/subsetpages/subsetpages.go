// Package subsetpages keeps elements in pages, the newest also in their parent: see [SubsetPages].
package subsetpages

import (
	"reflect"

	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Spec says which elements a parent keeps. Max and By are required.
type Spec struct {
	Max int // number of kept elements, 1 to 100,000

	// By is the order of elements, such as {time: -1} for newest first. The parent keeps
	// the first Max. Equal elements are sorted by bucket.Spec.ElementKey, in the direction
	// of the last field of By. Every element must have all fields of By.
	By bson.D
}

// SubsetPages keeps all elements of a parent in pages, which are documents of a bucket.Bucket.
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
// Indexes returns the pages' bucket.Bucket.Indexes.
//
// Checks returns these checks, then the pages' bucket.Bucket.Checks:
//
//   - Parents whose array isn't the pages' newest elements. After you declare or change a
//     SubsetPages, run this check's job.
//   - Pages without a parent. The repair deletes the pages.
//
// Cost: each check reads all pages.
type SubsetPages[P, K, E any] struct {
	model.Parts

	parents *model.Collection[P, K]
	pages   *model.Collection[bucket.Doc[K, E], string]
	s       *untypedSubset
}

// New declares that the parents' array at path contains the newest elements
// of a Bucket's pages. The Bucket needs an ElementKey and its own collection. Give
// [model.New] the SubsetPages, but not its Bucket. A bad path, Bucket or spec panics
// with a [*model.DeclarationError].
func New[P, K, E any](
	parents *model.Collection[P, K], path string, pages *bucket.Bucket[K, E], spec Spec,
) *SubsetPages[P, K, E] {
	if pages == nil {
		core.Place("subsetpages.New of "+parents.Name()).
			Fail("the bucket of the pages is nil", "give a result of bucket.New")
	}
	in := core.Reveal(pages)
	s := declareSubset(parents.Docs(), path, reflect.TypeFor[E](), in.Buckets, spec)
	return &SubsetPages[P, K, E]{model.NewParts(s.listIndexes, s.listRelations, s.listChecks, s.listFootprints).
		WithDocs(parents.Docs(), in.Collection.Docs()).WithKeys(model.KeyedDocs{Collection: in.Collection.Name()}).
		WithReactions(s.makeReactions), parents, in.Collection, s}
}

// Append returns the change that adds an element to the parent's array and, like
// bucket.Bucket.Append, to the newest page. A retry is safe. A missing parent gives
// [model.ErrNotFound] before anything is written.
//
// Cost: two reads, and two writes of one document each. A full page, a retry or a
// transaction adds commands.
func (x *SubsetPages[P, K, E]) Append(parent K, element E) model.Change {
	return x.s.appendElement(parent, element)
}

// Set returns the change that sets fields of the element with this key, in its page and
// in the parent's array. Paths in fields are relative to the element.
// bucket.Spec.ElementKey and bucket.Spec.At can't be set. A missing element gives
// [model.ErrNotFound].
//
// Cost: two reads and one write. A change of the parent's array adds two commands. If
// fields contains a Spec.By path, the second read reads all pages.
func (x *SubsetPages[P, K, E]) Set(parent K, key any, fields bson.D) model.Change {
	return x.s.setElement(parent, key, fields)
}

// Remove returns the change that removes the element with this key from its page and from
// the parent's array. The array is refilled from the pages. A retry is safe.
//
// Cost: two reads and one write. An element in the array costs three more commands: two
// reads of all the parent's pages, and one write.
func (x *SubsetPages[P, K, E]) Remove(parent K, key any) model.Change {
	return x.s.removeElement(parent, key)
}

// Refresh returns the change that sets a parent's array from the parent's pages. A
// missing parent isn't an error.
//
// Cost: one command reads all pages of the parent. If the array differs, two more
// commands write the array and read the pages again.
func (x *SubsetPages[P, K, E]) Refresh(parent K) model.Change { return x.s.refreshParent(parent) }

// Rest returns the pipeline of a parent's pages, newest first, without the elements of
// the parent's array. Pass the parent as you read it. pageToken is "" for the first call,
// later the last bucket.Doc.ID. n is the maximum number of pages; 0 means all.
//
// Cost: one command per batch, served by _id. The server also reads pages whose elements
// are all in the parent's array. They don't count in n.
func (x *SubsetPages[P, K, E]) Rest(parent *P, pageToken string, n int64) *model.Aggregate[bucket.Doc[K, E]] {
	pipeline, err := x.s.findRest(parent, pageToken, n)
	return commands.ServeAggregate(model.AggregateAs[bucket.Doc[K, E]](x.pages, pipeline), model.IDIndex, err)
}
