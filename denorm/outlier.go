package denorm

import (
	"reflect"

	"github.com/docmodel/docmodel/denorm/internal/outlier"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// OutlierSpec says what an owner keeps. Max and Flag are required.
type OutlierSpec struct {
	Max int // how many elements the owner's array holds at most; at least 1

	// MaxBytes is how many bytes of elements the array holds at most, each counted as the BSON document that it is. From 1 to 15
	// MiB; 0 means no bound other than Max. The first element that doesn't fit goes to the overflow, and so do all after it.
	MaxBytes int64

	// Flag is the path of a bool of the owner that says that there is overflow, outside arrays; false can be left out.
	Flag string
}

// An OutlierCount says how many elements an owner has: those that its array keeps, and those in its overflow documents.
type OutlierCount struct {
	Kept     int64 `bson:"kept"`
	Overflow int64 `bson:"overflow"`
	Pages    int64 `bson:"pages"` // overflow documents
}

// Outlier keeps the elements of nearly every owner in the owner, and those of the few that have too many in overflow documents:
// the customers who bought a book, of which bestsellers have more than a document can hold. Who reads an owner whose flag isn't
// set has all. The overflow is a [Bucket], declared over its own collection; its key is the owner's _id. Make it with
// [NewOutlier].
//
// The array fills first, and then overflow documents, one after the other; once the flag is set the array takes no more, even
// if something is removed from it. So the array and then the overflow, in the order of pages, is the order of appending.
//
// # Consistency
//
// The flag is set before the first overflow document is written, so that a reader who sees no flag misses nothing that was there
// before. Owner and overflow are two documents: a cut between them leaves a flag without overflow, which reads as none, and the
// next append goes there. With a Key in the Bucket's spec, the write that sets the flag asks that the array doesn't hold the
// element, so that none is in both, whoever else appends. It relies on the flag not being taken off.
//
// Source: the Outlier pattern,
// https://www.mongodb.com/company/blog/building-with-patterns-the-outlier-pattern.
//
// Indexes returns the partial index of the owners with the flag, and the one that finds overflow by its owner: the Bucket's own, if
// it has a Key.
//
// Checks returns three checks. None asks whether overflow documents add up: [Bucket.Checks] does.
//
// The first finds the owners that have overflow and no flag: readers miss it. Mending sets the flag, or deletes what a Split that
// was cut has left, where all of it is still in the array. Mending leaves what it can't decide: such remains that aren't all
// in the array or, without a Key, might not be. Where other code shortened an array whose Split was cut, an owner that
// gets its flag can have an element in both.
//
// The second finds the owners whose array is over Max. No write mends them: [Outlier.Split] moves what was there before the
// overflow, and [Outlier.Settle] what other code pushed although there is overflow.
//
// The third finds the overflow documents whose owner isn't there. Mending deletes them with their elements, unless something was
// appended to them or removed since.
//
// Cost: see [model.Check]. The first two read every owner, and the overflow documents of those without the flag by the index of
// [Outlier.Indexes], without which the server reads all of them for each owner. The third reads every overflow document, and
// its owner by _id. Mending writes one document each, by _id.
type Outlier[D, K, E any] struct {
	model.Parts

	owners   *model.Collection[D, K]
	overflow *Bucket[K, E]
	o        *outlier.Outlier
}

// NewOutlier declares that the array at a path of the owners holds their first elements, and a Bucket the others. It panics with a
// [*model.DeclarationError] when a path doesn't exist, the array lies inside another, can be stored as null or has other
// elements than the Bucket, Flag is no bool or overlaps the array, Max or MaxBytes is out of range, the Bucket has a Period (its
// pages are not in the order of appending), or both are one collection.
//
// Give [model.New] the Outlier without its Bucket: the Outlier owns the pages.
func NewOutlier[D, K, E any](owners *model.Collection[D, K], path string, overflow *Bucket[K, E], spec OutlierSpec) *Outlier[D, K, E] {
	if overflow == nil {
		core.Place("NewOutlier of "+owners.Name()).Fail("the bucket of the overflow is nil", "give a result of NewBucket")
	}
	o := outlier.Declare(owners.Docs(), path, reflect.TypeFor[E](), overflow.in, outlier.Spec(spec))
	out := &Outlier[D, K, E]{model.Parts{}, owners, overflow, o}
	out.Parts = model.NewParts(o.Indexes, o.Relations, o.Checks, o.Footprints)
	return out
}

// Append returns the change that adds an element after all others: to the owner's array, or to its overflow when the array is
// full. It reads, decides and writes, and again when another writer came first, up to 100 times; set Attempts for another bound.
// With a Key in the Bucket's spec, an element that is there already adds nothing. An owner that is not there gives
// model.ErrNotFound, an array and an overflow that don't go together [ErrUnsound].
//
// Cost: two commands while the array has room, the owner's counts by _id and one guarded push. With overflow one more to read,
// and with a Key two; the first to go over sends one more, that sets the flag. Where the Bucket closes a document for its
// MaxBytes, one more. Where the element is there, the reads are sent twice, the second time safe from rollbacks.
//
// Consistency: each write is atomic. Reads ask the primary. A cut leaves at most a flag without overflow, or a closed overflow
// document; with a Key run the same change again, without one look first whether the element is there.
func (x *Outlier[D, K, E]) Append(owner K, element E) model.Change[any] {
	return x.o.Append(owner, element)
}

// Remove returns the change that takes an element out by its key, from the array or from the overflow document that holds it, whose
// counts and totals are counted anew in the same update. An overflow document that was full stays closed, so that nothing is
// appended in the middle. An element that is not there is no error: nothing is written. It needs a Bucket with a Key. Errors are
// those of [Outlier.Append].
//
// Cost: one to four commands to read, one to write, one document.
func (x *Outlier[D, K, E]) Remove(owner K, key any) model.Change[any] {
	return x.o.Remove(owner, key)
}

// Delete returns the plan that deletes an owner and its overflow, in this order. It can be run again. Cut, it leaves overflow without
// an owner, and so can an append that is under way; [Outlier.Checks] finds it.
//
// Cost: two commands, by _id; as many documents as there are.
func (x *Outlier[D, K, E]) Delete(owner K) model.Plan {
	return x.o.Delete(x.owners.Delete(owner), owner)
}

// Elements returns the pipeline of all elements of an owner in the order of appending, each by itself. Overflow is read if the owner,
// as it was read, has the flag; so an element that [Outlier.Split] is about to move comes once. An owner that is not there
// has none.
//
// Cost: one command, served by _id in both collections, and one more for each further batch of elements.
func (x *Outlier[D, K, E]) Elements(owner K) *model.Aggregate[E] {
	pipeline, err := x.o.Elements(owner)
	return aggregateByID[E](x.overflow.buckets, x.owners.Name(), pipeline, err)
}

// Holding returns the pipeline of an owner's element by its key, from the array or the overflow: none or one, unless it came
// twice by other means. It needs a Bucket with a Key.
//
// Cost: one command, served by _id, and in the overflow by the Bucket's index.
func (x *Outlier[D, K, E]) Holding(owner K, key any) *model.Aggregate[E] {
	pipeline, err := x.o.Holding(owner, key)
	return aggregateByID[E](x.overflow.buckets, x.owners.Name(), pipeline, err)
}

// aggregateByID is a pipeline that begins with an owner. Its results are elements, which the buckets' options decode.
func aggregateByID[R, D, K any](decode *model.Collection[D, K], owners string, pipeline []bson.D, err error) *model.Aggregate[R] {
	a := commands.Indexed(model.AggregateAs[R](decode.Unchecked(), pipeline), model.IDIndex, err)
	a.Collection = owners
	return a
}

// Count returns the pipeline that counts an owner's elements. It adds up what the overflow documents say of themselves, and so is as
// true as [Bucket.Checks] says. An owner that is not there gives no result, so that One returns model.ErrNotFound.
//
// Cost: one command, served by _id in both collections; it reads every overflow document of the owner.
func (x *Outlier[D, K, E]) Count(owner K) *model.Aggregate[OutlierCount] {
	pipeline, err := x.o.Count(owner)
	return aggregateByID[OutlierCount](x.owners, x.owners.Name(), pipeline, err)
}

// Split returns the job that moves what arrays hold over the bound into overflow documents, and sets the flag: to introduce the
// technique, or after other code pushed past it. An array that is over Max although the flag is set is left to
// [Outlier.Settle]. An element without the Bucket's Key, or that the Bucket couldn't hold, stops the job with a [*model.ValueError].
//
// The overflow documents are written first, closed and stamped with the array's length; then one write shortens the array and sets
// the flag, if the array's end is as it was read. Before that write readers see the array, after it the overflow, each element
// once. What is pushed meanwhile by other code makes the job read again, and several of these jobs may run. Elements should not
// be removed by other code while it runs: it could end with model.ErrStale, and [Outlier.Checks] then says what is left.
//
// Cost: a scan of the owners, in batches of 10 of those that are over Max; for each of them a command for each overflow document
// and one for the owner. It can be run again. Cut, it leaves overflow documents that nobody reads, and that the next run completes.
func (x *Outlier[D, K, E]) Split() model.Job {
	return x.o.Split()
}

// Settle returns the job that moves what other code pushed over Max, though there was overflow, to the end of the overflow, as
// what was appended last. It needs a Bucket with a Key, by which it knows what the overflow holds already, and is refused without. An element that the owner has already, with other fields, stops the job with a [*model.ValueError]: which of both
// is right, only their writers know.
//
// The overflow documents are written first, and then the array is shortened, if its end is as it was read: in between readers see those
// elements twice, none is missed. What is pushed or appended meanwhile makes the job read again. An element that is removed between
// both writes can come back: let nobody remove while it runs.
//
// Cost: a scan of the owners, in batches of 10 of those that are over Max, with all their overflow documents, by the index of
// [Outlier.Indexes]; for each of them a command for each new overflow document and one for the owner. It can be run again. Cut,
// it leaves elements in both, and the next run completes it.
func (x *Outlier[D, K, E]) Settle() model.Job {
	return x.o.Settle()
}
