// Package outlier stores an array that is too long in a few documents: see [Outlier].
package outlier

import (
	"reflect"

	"github.com/docmodel/docmodel/denorm/bucket"
	bucketcore "github.com/docmodel/docmodel/denorm/internal/bucket"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Spec says how many elements an owner's array keeps. The first element that
// doesn't fit and all later elements go to overflow documents ([Outlier]). Max and Flag
// are required.
type Spec struct {
	Max int // maximum number of elements in the array, 1 to 1,000,000

	// MaxBytes is the maximum total BSON size of the array's elements, at most 15 MiB. 0
	// means no limit.
	MaxBytes int64

	// Flag is the path of a bool that is true if the owner has overflow documents.
	Flag string
}

// A Count says how many elements an owner has in its array (Kept) and in its
// overflow documents.
type Count struct {
	Kept     int64 `bson:"kept"`
	Overflow int64 `bson:"overflow"`
	Pages    int64 `bson:"pages"` // number of overflow documents
}

// Outlier keeps an owner's first Spec.Max elements in an array. A bucket.Bucket stores
// the later elements in overflow documents. The field Spec.Flag marks an owner
// with overflow.
//
// A [model.Store] writes the owner's other fields. It refuses to delete an owner with
// overflow: use [Outlier.Delete].
//
// # Consistency
//
// If the flag isn't set, the array contains all elements. With bucket.Spec.ElementKey,
// appends store each element only once. Never unset the flag yourself.
//
// Source:
// https://www.mongodb.com/company/blog/building-with-patterns-the-outlier-pattern.
//
// # Indexes and checks
//
// Indexes returns an index for Spec.Flag and one for the overflow documents.
//
// Checks returns three checks. For the overflow's content, use bucket.Bucket.Checks.
//   - Overflow of an owner without the flag. Readers miss the overflow. The repair sets
//     the flag. If [Outlier.Split] crashed and bucket.Spec.ElementKey is set, the repair
//     deletes repeated elements.
//   - Arrays over Max elements. Use [Outlier.Split]. For owners with the flag, use
//     [Outlier.Settle].
//   - Overflow without an owner. The repair deletes the overflow.
type Outlier[D, K, E any] struct {
	model.Parts

	owners   *model.Collection[D, K]
	overflow bucketcore.Inside[*model.Collection[bucket.Doc[K, E], string]]
	o        *untypedOutlier
}

// New declares that the array at path keeps an owner's first elements. The Bucket
// keeps all later elements. Pass the Outlier to [model.New], not the Bucket.
//
// New panics with a [*model.DeclarationError] if
//   - path or spec is invalid, or a nil array would be stored as null
//   - the array and the Bucket have different element types
//   - the Bucket has a Period, or uses the owners' collection
func New[D, K, E any](
	owners *model.Collection[D, K], path string, overflow *bucket.Bucket[K, E], spec Spec,
) *Outlier[D, K, E] {
	if overflow == nil {
		core.Place("outlier.New of "+owners.Name()).
			Fail("the bucket of the overflow is nil", "give a result of bucket.New")
	}
	in := core.Reveal(overflow)
	o := declareOutlier(owners.Docs(), path, reflect.TypeFor[E](), in.Buckets, spec)
	out := &Outlier[D, K, E]{model.Parts{}, owners, in, o}
	out.Parts = model.NewParts(o.listIndexes, o.listRelations, o.listChecks, o.listFootprints).
		WithDocs(owners.Docs(), in.Collection.Docs()).WithKeys(model.KeyedDocs{Collection: in.Collection.Name()}).
		WithReactions(o.makeReactions)
	return out
}

// Append returns the change that adds an element to the owner's array. The first element
// that doesn't fit and all later elements go to overflow documents. Errors are
// [model.ErrNotFound] for a missing owner, and [ErrUnsound].
//
// With bucket.Spec.ElementKey, each key is added only once, and a retry is safe. Without
// it, look for the element before a retry.
//
// Cost: two commands while the array has room, three with overflow documents. An element
// that begins an overflow document costs one more command, because Append then reads the
// owner again. The first element that doesn't fit costs five commands.
func (x *Outlier[D, K, E]) Append(owner K, element E) model.Change {
	return x.o.appendElement(owner, element)
}

// Remove returns the change that removes the element with this key from the owner's
// array or overflow documents. A missing element isn't an error. Without
// bucket.Spec.ElementKey, Remove gives a [*model.ValueError]. For other errors, see
// [Outlier.Append].
//
// Cost: one or two reads, and one write of one document. In a transaction, a read of
// overflow takes one more command.
func (x *Outlier[D, K, E]) Remove(owner K, key any) model.Change {
	return x.o.removeElement(owner, key)
}

// Delete returns the plan that deletes an owner and then its overflow documents. It can
// be run again. A crash can leave overflow documents without an owner: see
// [Outlier].Checks.
//
// Cost: two commands, by _id; the owner and its overflow are deleted.
func (x *Outlier[D, K, E]) Delete(owner K) model.Plan {
	return x.o.deleteOwner(commands.AdoptWrite(x.owners.Delete(owner)), owner)
}

// Elements returns the query of all elements of an owner, in the order of appending. A
// missing owner has no elements. While [Outlier.Split] runs, the query still returns each
// element once.
//
// Cost: one command, by _id in each collection, and one per further batch.
func (x *Outlier[D, K, E]) Elements(owner K) *model.Aggregate[E] {
	pipeline, err := x.o.findElements(owner)
	return aggregateByID[E](x.overflow.Collection, x.owners.Name(), x.overflow.Buckets.ListKeyed(), pipeline, err)
}

// Holding returns the query that finds an owner's element by the element's key. Without
// bucket.Spec.ElementKey, the query gives a [*model.ValueError].
//
// Cost: one command. It finds the owner by _id, and overflow documents by
// bucket.Bucket.Indexes.
func (x *Outlier[D, K, E]) Holding(owner K, key any) *model.Aggregate[E] {
	pipeline, err := x.o.findHolding(owner, key)
	return aggregateByID[E](x.overflow.Collection, x.owners.Name(), x.overflow.Buckets.ListKeyed(), pipeline, err)
}

// aggregateByID returns the aggregation of a pipeline on the owners. The options of
// decode decode its results.
func aggregateByID[R, D, K any](
	decode *model.Collection[D, K], owners string, keyed []string, pipeline []bson.D, err error,
) *model.Aggregate[R] {
	a := commands.ServeAggregate(model.AggregateAs[R](decode.Unchecked(), pipeline), model.IDIndex, err)
	a.Collection, a.Keyed = owners, keyed
	return a
}

// Count returns the query that counts an owner's elements. For elements in the bucket.Bucket,
// the query uses the Bucket's stored counts. bucket.Bucket.Checks finds wrong counts. For a
// missing owner, [model.Aggregate.One] returns model.ErrNotFound.
//
// Cost: one command, by _id in each collection. It reads the owner's overflow documents.
func (x *Outlier[D, K, E]) Count(owner K) *model.Aggregate[Count] {
	pipeline, err := x.o.countElements(owner)
	return aggregateByID[Count](x.owners, x.owners.Name(), x.overflow.Buckets.ListKeyed(), pipeline, err)
}

// Split returns the job that shortens arrays of more than Spec.Max elements. The
// later elements move to overflow documents. Split skips owners whose Spec.Flag is
// true: use [Outlier.Settle]. If an array loses elements during the job, the job can end
// with [model.ErrStale]: see [Outlier].Checks. After a crash, run the job again.
//
// Cost: a scan for owners with such arrays, in batches of 10. Each owner costs one
// command, and one command per overflow document.
func (x *Outlier[D, K, E]) Split() model.Job {
	return x.o.makeSplitJob()
}

// Settle returns the job that moves array elements beyond Spec.Max to the
// bucket.Bucket, for owners whose Spec.Flag is true. The Bucket must have a
// bucket.Spec.ElementKey. For owners without the flag, use [Outlier.Split].
//
// During the job, readers can see elements twice, and a removed element can come back.
// After a crash, run the job again. Different elements with the same key give a
// [*model.ValueError].
//
// Cost: that of [Outlier.Split], and a read of the owners' overflow.
func (x *Outlier[D, K, E]) Settle() model.Job {
	return x.o.makeSettleJob()
}
