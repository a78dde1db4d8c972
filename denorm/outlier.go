package denorm

import (
	"reflect"

	"github.com/docmodel/docmodel/denorm/internal/outlier"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// OutlierSpec says how many elements an owner's array keeps. Max and Flag are required.
type OutlierSpec struct {
	Max int // maximum elements of the owner's array, 1 to 1,000,000

	// MaxBytes is the maximum size of the array's elements, as BSON documents, up to 15
	// MiB. 0 means no bound. The first element that doesn't fit and all later elements go
	// to overflow documents.
	MaxBytes int64

	// Flag is the path of the owner's bool that is true if the owner has overflow
	// documents. It can't lie in an array.
	Flag string
}

// An OutlierCount says how many elements an owner has in its array (Kept) and in its
// overflow documents.
type OutlierCount struct {
	Kept     int64 `bson:"kept"`
	Overflow int64 `bson:"overflow"`
	Pages    int64 `bson:"pages"` // overflow documents
}

// Outlier keeps an owner's elements in an array of the owner. Owners with too many
// elements have the rest in overflow documents, and a flag (OutlierSpec.Flag) that says
// so. The overflow is a [Bucket] in which each owner has a sequence. Once the flag is
// set, new elements go to the overflow. Below, Key means BucketSpec.Key, the optional
// path that identifies an element.
//
// # Consistency
//
// Before the flag is set, all elements are in the array, so a reader who sees no flag
// misses nothing. With a Key, appends never store an element both in the array and
// in the overflow, as long as nobody unsets the flag.
//
// Source:
// https://www.mongodb.com/company/blog/building-with-patterns-the-outlier-pattern.
//
// Indexes returns the partial index of the owners with the flag, and the index that finds
// overflow by owner: the Bucket's own index if there is a Key.
//
// Checks returns three checks. [Bucket.Checks] checks the overflow documents themselves.
//   - Overflow without the flag: readers miss it. The repair sets the flag. An
//     interrupted [Outlier.Split] can leave overflow that repeats elements of an array
//     that shrank since. With a Key, the repair deletes such overflow. It leaves unclear
//     cases unchanged.
//   - Arrays with more than Max elements. No write repairs them: use [Outlier.Split], or
//     [Outlier.Settle] for owners with the flag.
//   - Overflow without an owner. The repair deletes it, unless it changed meanwhile.
type Outlier[D, K, E any] struct {
	model.Parts

	owners   *model.Collection[D, K]
	overflow *Bucket[K, E]
	o        *outlier.Outlier
}

// NewOutlier declares that the array at path keeps an owner's first elements, and the
// Bucket the others. Give [model.New] the Outlier without its Bucket.
//
// It panics with a [*model.DeclarationError] if
//   - a path doesn't exist, or a field of spec is invalid
//   - the array lies in an array, can be stored as null, or has other elements than the
//     Bucket
//   - the Bucket has a Period, or is in the owners' collection
func NewOutlier[D, K, E any](owners *model.Collection[D, K], path string, overflow *Bucket[K, E], spec OutlierSpec) *Outlier[D, K, E] {
	if overflow == nil {
		core.Place("NewOutlier of "+owners.Name()).Fail("the bucket of the overflow is nil", "give a result of NewBucket")
	}
	o := outlier.Declare(owners.Docs(), path, reflect.TypeFor[E](), overflow.in, outlier.Spec(spec))
	out := &Outlier[D, K, E]{model.Parts{}, owners, overflow, o}
	out.Parts = model.NewParts(o.Indexes, o.Relations, o.Checks, o.Footprints)
	return out
}

// Append returns the change that adds an element to the owner's array, or to the overflow
// if the array is full. After a concurrent write it reads again, up to 100 times. With a
// BucketSpec.Key, it adds nothing if the owner has an element with the key. A missing
// owner gives model.ErrNotFound. An array over OutlierSpec.Max without overflow, or
// overflow without the owner's flag, gives [ErrUnsound].
//
// Cost: two commands while the array has room, three with overflow. Setting the flag is
// one more, and so is closing an overflow document that reaches BucketSpec.MaxBytes. In a
// transaction, the overflow is read as in [Bucket.Append].
//
// A crash leaves at most a flag without overflow, or a closed overflow document. Without
// a Key, look for the element before a retry.
func (x *Outlier[D, K, E]) Append(owner K, element E) model.Change[any] {
	return x.o.Append(owner, element)
}

// Remove returns the change that removes the element with this key from the array or the
// overflow. A missing element isn't an error. Without BucketSpec.Key, Remove gives a
// [*model.ValueError]. Other errors are those of [Outlier.Append].
//
// Cost: one or two reads, and one write of one document.
func (x *Outlier[D, K, E]) Remove(owner K, key any) model.Change[any] {
	return x.o.Remove(owner, key)
}

// Delete returns the plan that deletes an owner and then its overflow documents. It can
// be run again. A crash, or a concurrent append, leaves overflow without an owner: see
// [Outlier.Checks].
//
// Cost: two commands, by _id; the owner and its overflow are deleted.
func (x *Outlier[D, K, E]) Delete(owner K) model.Plan {
	return x.o.Delete(x.owners.Delete(owner), owner)
}

// Elements returns the query of all elements of an owner, in the order of appending. A
// missing owner has no elements. While [Outlier.Split] runs, each element still comes
// once.
//
// Cost: one command, by _id in each collection, and one per further batch.
func (x *Outlier[D, K, E]) Elements(owner K) *model.Aggregate[E] {
	pipeline, err := x.o.Elements(owner)
	return aggregateByID[E](x.overflow.buckets, x.owners.Name(), pipeline, err)
}

// Holding returns the query of an owner's element with this key. Without BucketSpec.Key
// it gives a [*model.ValueError].
//
// Cost: one command, by _id and by the Bucket's index.
func (x *Outlier[D, K, E]) Holding(owner K, key any) *model.Aggregate[E] {
	pipeline, err := x.o.Holding(owner, key)
	return aggregateByID[E](x.overflow.buckets, x.owners.Name(), pipeline, err)
}

// aggregateByID returns the aggregation of a pipeline on the owners. The options of
// decode decode its results.
func aggregateByID[R, D, K any](decode *model.Collection[D, K], owners string, pipeline []bson.D, err error) *model.Aggregate[R] {
	a := commands.Indexed(model.AggregateAs[R](decode.Unchecked(), pipeline), model.IDIndex, err)
	a.Collection = owners
	return a
}

// Count returns the query that counts an owner's elements. It adds the counts stored in
// the overflow documents, which [Bucket.Checks] checks. For a missing owner, One returns
// model.ErrNotFound.
//
// Cost: one command, by _id in each collection; it reads all overflow of the owner.
func (x *Outlier[D, K, E]) Count(owner K) *model.Aggregate[OutlierCount] {
	pipeline, err := x.o.Count(owner)
	return aggregateByID[OutlierCount](x.owners, x.owners.Name(), pipeline, err)
}

// Split returns the job that moves elements over OutlierSpec.Max from the owners' arrays
// into overflow documents. It skips owners whose flag (OutlierSpec.Flag) is set: see
// [Outlier.Settle]. An element that the Bucket can't store, such as one without the Key,
// stops the job with a [*model.ValueError].
//
// The job writes overflow documents first. The last write shortens the array and sets the
// flag. Several of these jobs may run at once. If other code removes elements meanwhile,
// the job can end with model.ErrStale: see [Outlier.Checks].
//
// Cost: a scan of the owners, which returns batches of 10 owners over Max; per such owner
// one command, and one per overflow document. After a crash, run it again.
func (x *Outlier[D, K, E]) Split() model.Job {
	return x.o.Split()
}

// Settle returns the job that moves elements over OutlierSpec.Max from the owners' arrays
// to the end of the overflow. It skips owners whose flag (OutlierSpec.Flag) isn't set:
// see [Outlier.Split]. Without BucketSpec.Key, or if an element exists twice with
// different fields, the job ends with a [*model.ValueError].
//
// The writes are those of [Outlier.Split], but until the last write readers see the moved
// elements twice. An element that is removed meanwhile can come back.
//
// Cost: as [Outlier.Split], and all overflow of these owners is read, by its index. A
// crash leaves elements in both places until the next run.
func (x *Outlier[D, K, E]) Settle() model.Job {
	return x.o.Settle()
}
