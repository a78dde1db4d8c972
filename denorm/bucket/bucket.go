// Package bucket stores an endless sequence in pages, one document for each: see [Bucket].
package bucket

import (
	"reflect"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/internal/bucket"
	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Spec says how a [Bucket] stores elements in documents (buckets).
type Spec struct {
	Max int // the maximum number of elements in a bucket; at least 1

	// MaxBytes is the maximum BSON size of a bucket's elements, up to 15 MiB. 0 means no
	// limit. A larger element gives a [*model.ValueError].
	MaxBytes int64

	// ElementKey is the path of an element's id, within the element. Elements with the
	// same Doc.Key must have different ids. With ElementKey, a repeated
	// [Bucket.Append] adds nothing.
	ElementKey string

	// Totals are paths of numbers within an element. Doc.Totals maps each path,
	// with "/" instead of dots, to its [Total].
	Totals []string

	// Daily or Monthly gives each day or month its own buckets. Period needs At.
	Period   denorm.Period
	At       string         // path of the element's time, within the element
	Location *time.Location // time zone of days and months; nil means UTC
}

// Doc is the document of a bucket, which stores consecutive elements of one key. K
// is a string type, a signed integer type or bson.ObjectID. E is the type of an element,
// stored as a document.
type Doc[K, E any] struct {
	ID     string           `bson:"_id"`              // made from Key, Period and Seq
	Key    K                `bson:"key"`              // the key given to [Bucket.Append]
	Period string           `bson:"period,omitempty"` // "2014-03-28" for a day, "2014-03" for a month
	Seq    int64            `bson:"seq"`              // number of the bucket, from 0 for each Key and Period
	N      int              `bson:"n"`                // number of Items
	Bytes  int64            `bson:"bytes"`            // BSON size of all Items
	Closed bool             `bson:"closed,omitempty"` // the bucket takes no more elements
	Totals map[string]Total `bson:"totals,omitempty"` // one [Total] for each path in Spec.Totals
	Items  []E              `bson:"items,omitempty"`  // the elements, in the order of appending
}

// A Total summarizes one numeric field of a bucket's elements. The server stores totals
// of integers exactly. Above 2^53, these float64 fields contain rounded totals.
type Total struct {
	Sum float64 `bson:"sum"`
	Min float64 `bson:"min"`
	Max float64 `bson:"max"`
}

// Totals summarizes all buckets of a key.
type Totals struct {
	Buckets int              `bson:"buckets"`
	N       int64            `bson:"n"`      // number of elements
	Bytes   int64            `bson:"bytes"`  // BSON size of the elements
	Totals  map[string]Total `bson:"totals"` // totals by path, as in [Doc]; zero for a field without numbers
}

// Bucket stores a sequence of elements for each key, such as the mail of a mailbox. A
// document (bucket) holds at most Spec.Max elements. Don't change or remove stored
// elements. The collection must not have a collation. A [model.Store] can't write buckets:
// [model.NewStore] panics. Use [Bucket.Append].
//
// Source: "NoSQL Data Modeling Techniques", §5;
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/group-data/bucket-pattern/.
//
// # Indexes and checks
//
// Indexes returns the index that finds an element, if Spec.ElementKey is set.
//
// Checks returns two checks:
//   - Buckets with wrong N, Bytes or Totals. The repair corrects these fields.
//   - Buckets over Max or MaxBytes. There is no repair.
type Bucket[K, E any] struct {
	model.Parts
	inside[K, E]

	buckets *model.Collection[Doc[K, E], string]
	in      *bucket.Buckets
}

// inside is for the techniques that are made of a Bucket.
type inside[K, E any] = core.Inner[bucket.Inside[*model.Collection[Doc[K, E], string]]]

// New declares that a collection holds buckets. K must be a string, an integer or
// bson.ObjectID. E must be stored as a document. An invalid type or spec panics with a
// [*model.DeclarationError].
func New[K, E any](buckets *model.Collection[Doc[K, E], string], spec Spec) *Bucket[K, E] {
	in := bucket.Declare(buckets.Docs(), reflect.TypeFor[K](), bucket.Spec{
		Max: spec.Max, MaxBytes: spec.MaxBytes, ElementKey: spec.ElementKey, Totals: spec.Totals,
		Period: keytext.Period(spec.Period), At: spec.At, Location: spec.Location,
	})
	buckets.Docs().MakeKeyed()
	return &Bucket[K, E]{
		Parts: model.NewParts(in.ListIndexes, nil, in.ListChecks, in.ListFootprints).WithDocs(buckets.Docs()).
			WithKeys(model.KeyedDocs{Collection: buckets.Name()}).WithoutReactions("Bucket.Append"),
		inside:  core.NewInner(bucket.Inside[*model.Collection[Doc[K, E], string]]{Buckets: in, Collection: buckets}),
		buckets: buckets, in: in,
	}
}

// Append returns the change that adds an element at the end of the key's sequence.
//
// With Spec.ElementKey, a retry adds nothing: see [model.Result.Already]. Without
// Spec.ElementKey, look for the element before a retry.
//
// Cost: two commands, one document, by _id. In a transaction, Spec.ElementKey adds
// one command. A bucket without room (MaxBytes) adds one command and one document.
func (b *Bucket[K, E]) Append(key K, element E) model.Change {
	return b.in.AppendElement(key, element)
}

// AppendTo returns the write that adds an element to the key's bucket with number seq.
// The write creates a missing bucket. Pass Doc.Seq of the newest bucket. Check
// errors in this order:
//
//   - model.ErrFull: the bucket is full or closed. Pass the next number.
//   - model.ErrStale: another writer has just created the bucket. Run the write again.
//
// If this bucket has an element with the same id (Spec.ElementKey), the write adds
// nothing. The write doesn't search other buckets.
//
// Cost: one command, one document, by _id.
func (b *Bucket[K, E]) AppendTo(key K, seq int64, element E) model.Write {
	return b.in.AppendTo(key, seq, element)
}

// Page returns the query of a key's bucket with the number seq. The first number is 0.
// For a missing bucket, Find.One returns model.ErrNotFound. With Spec.Period, the
// query gives a [*model.ValueError]: use [Bucket.Between].
//
// Cost: one command, one document by _id.
func (b *Bucket[K, E]) Page(key K, seq int64) *model.Find[Doc[K, E]] {
	id, err := b.in.MakePageID(key, seq)
	return commands.ServeFind(b.buckets.ByID(id), model.IDIndex, err)
}

// Oldest returns the query of a key's buckets, oldest first. Limit their number with
// [model.Find.Limited]. To continue, pass the last bucket's ID to [model.Find.After].
//
// Cost: one command, by _id. It reads one document for each bucket.
func (b *Bucket[K, E]) Oldest(key K) *model.Find[Doc[K, E]] { return b.pages(key, 1) }

// Newest returns the query of a key's buckets, newest first. For limits and pages, see
// [Bucket.Oldest]. The items in a bucket are still in the order of appending.
func (b *Bucket[K, E]) Newest(key K) *model.Find[Doc[K, E]] { return b.pages(key, -1) }

func (b *Bucket[K, E]) pages(key K, direction int) *model.Find[Doc[K, E]] {
	filter, err := b.in.MatchKey(key)
	return b.find(filter, direction, err)
}

// find returns the query of a range of _id.
func (b *Bucket[K, E]) find(filter bson.D, direction int, err error) *model.Find[Doc[K, E]] {
	f := b.buckets.Find(filter)
	f.Sort = bson.D{{Key: "_id", Value: direction}}
	return commands.ServeFind(f, model.IDIndex, err)
}

// Between returns the query of a key's buckets for the time [start, end), oldest first.
// The query finds the buckets of whole days or months. The first and last buckets can
// contain elements outside this time. Without Spec.Period the query gives a
// [*model.ValueError].
//
// Cost: one command, by _id. It reads one document for each bucket.
func (b *Bucket[K, E]) Between(key K, start, end time.Time) *model.Find[Doc[K, E]] {
	filter, err := b.in.MatchBetween(key, start, end)
	return b.find(filter, 1, err)
}

// Elements returns the pipeline that reads all elements of a key's sequence, in the order
// of the buckets.
//
// Cost: one command, by _id, and one for each further batch.
func (b *Bucket[K, E]) Elements(key K) *model.Aggregate[E] {
	pipeline, err := b.in.FindElements(key)
	return commands.ServeAggregate(model.AggregateAs[E](b.buckets, pipeline), model.IDIndex, err)
}

// Holding returns the query of the key's bucket that holds an element. The parameter
// element is the element's id: see Spec.ElementKey. Without Spec.ElementKey,
// the query gives a [*model.ValueError].
//
// Cost: one command, served by [Bucket].Indexes.
func (b *Bucket[K, E]) Holding(key K, element any) *model.Find[Doc[K, E]] {
	filter, err := b.in.MatchHolding(key, element)
	return commands.ServeFind(b.buckets.Find(filter), b.in.MakeKeyIndex().Name, err)
}

// Totals returns the pipeline that adds up the counts, bytes and totals stored in a key's
// buckets. For a key without buckets, [model.Aggregate.One] returns model.ErrNotFound.
//
// Cost: one command, by _id; it reads every bucket of the key.
func (b *Bucket[K, E]) Totals(key K) *model.Aggregate[Totals] {
	pipeline, err := b.in.SumBuckets(key)
	return commands.ServeAggregate(model.AggregateAs[Totals](b.buckets, pipeline), model.IDIndex, err)
}

// Validation returns the validation that refuses invalid buckets. A bucket is invalid if
// it has more than Spec.Max elements, or lacks a field that [Bucket.Append] always
// writes. Some servers don't enforce the validation
// (https://www.mongodb.com/docs/manual/core/schema-validation/specify-json-schema/).
func (b *Bucket[K, E]) Validation() model.Validation { return b.in.MakeValidation() }
