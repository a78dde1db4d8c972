package denorm

import (
	"reflect"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/bucket"
	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Period is the time span of a bucket ([Bucket]), a count ([UniqueCount]) or a bin
// ([Rollup]).
type Period uint8

const (
	NoPeriod Period = iota // no time span
	Daily                  // a day
	Monthly                // a month
	Hourly                 // an hour, for a [Rollup] only
)

// BucketSpec says how elements are put into buckets. Max is required.
type BucketSpec struct {
	Max int // the most elements in a bucket; at least 1

	// MaxBytes is the most BSON bytes of a bucket's elements; 0 means no bound. Array
	// overhead doesn't count. MaxBytes can be up to 15 MiB. A larger element gives a
	// [*model.ValueError]. If an element doesn't fit into the newest bucket,
	// [Bucket.Append] closes this bucket and opens the next one.
	MaxBytes int64

	// ElementKey is a path within an element. The value there identifies the element among all
	// elements with one BucketDoc.ElementKey. If ElementKey is set, a repeated [Bucket.Append] adds
	// nothing.
	ElementKey string

	// Totals are paths, within an element, of numbers. BucketDoc.Totals contains the sum,
	// minimum and maximum for each path, written with "/" for each dot. Missing values
	// don't count.
	Totals []string

	// With Period and At, every day (Daily) or month (Monthly) has its own buckets, for
	// the elements whose time at the path At is in it. Give Period and At or neither.
	Period   Period
	At       string         // path, within an element, of its time
	Location *time.Location // time zone of days and months; nil means UTC
}

// BucketDoc is the document of a bucket: consecutive elements from the sequence of one
// key. The key's type K is a string type, an integer type or bson.ObjectID. An element's
// type E is stored as a document.
type BucketDoc[K, E any] struct {
	ID     string           `bson:"_id"`              // Key, Period and Seq; sorts a key's buckets
	Key    K                `bson:"key"`              // key of the sequence
	Period string           `bson:"period,omitempty"` // "2014-03-28" or "2014-03"; "" without a Period
	Seq    int64            `bson:"seq"`              // number among buckets of this Key and Period, 0 to 9999999999
	N      int              `bson:"n"`                // number of elements
	Bytes  int64            `bson:"bytes"`            // BSON size of the elements
	Closed bool             `bson:"closed,omitempty"` // the bucket takes no more elements
	Totals map[string]Total `bson:"totals,omitempty"` // by the paths of BucketSpec.Totals, with "/" for a dot
	Items  []E              `bson:"items,omitempty"`  // in the order of appending
}

// A Total summarizes one number of a bucket's elements. The server stores totals of
// integers exactly. These float64 fields round them above 2^53.
type Total struct {
	Sum float64 `bson:"sum"`
	Min float64 `bson:"min"`
	Max float64 `bson:"max"`
}

// BucketTotals summarizes all buckets of a key.
type BucketTotals struct {
	Buckets int              `bson:"buckets"`
	N       int64            `bson:"n"`      // elements
	Bytes   int64            `bson:"bytes"`  // of elements, in BSON
	Totals  map[string]Total `bson:"totals"` // named as in [BucketDoc]; zero if no element has a number at the path
}

// Bucket stores a sequence of elements for each key, such as the mail of a mailbox. A
// document (bucket) holds at most BucketSpec.Max elements. Only append elements: don't
// change or remove them. The collection must not have a collation.
//
// Source: "NoSQL Data Modeling Techniques", §5;
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/group-data/bucket-pattern/.
//
// If BucketSpec.ElementKey is set, Indexes returns the index that finds an element.
//
// Checks returns:
//   - Buckets with a wrong count, bytes or totals. The repair computes these numbers
//     again.
//   - Buckets over Max or MaxBytes. No write repairs them.
type Bucket[K, E any] struct {
	model.Parts

	buckets *model.Collection[BucketDoc[K, E], string]
	in      *bucket.Buckets
}

// NewBucket declares that a collection holds buckets. It panics with a
// [*model.DeclarationError] if K can't be written into an _id, E isn't stored as a
// document, or a field of spec is invalid.
func NewBucket[K, E any](buckets *model.Collection[BucketDoc[K, E], string], spec BucketSpec) *Bucket[K, E] {
	out := &Bucket[K, E]{model.Parts{}, buckets, bucket.Declare(buckets.Docs(), reflect.TypeFor[K](), bucket.Spec{
		Max: spec.Max, MaxBytes: spec.MaxBytes, ElementKey: spec.ElementKey, Totals: spec.Totals,
		Period: keytext.Period(spec.Period), At: spec.At, Location: spec.Location,
	})}
	out.Parts = model.NewParts(out.in.Indexes, nil, out.in.Checks, out.in.Footprints)
	return out
}

// Append returns the change that adds an element at the end of the key's sequence.
//
// A retry doesn't add an element whose BucketSpec.ElementKey is stored. The retry's result has
// no step, or a step with status model.Already. Without Key, look for the element before
// a retry.
//
// Cost: two commands, one document, by _id. In a transaction, BucketSpec.ElementKey adds one
// command. Closing a bucket for MaxBytes adds one command and one document.
func (b *Bucket[K, E]) Append(key K, element E) model.Change[any] {
	return b.in.Append(key, element)
}

// AppendTo returns the write that adds an element to bucket number seq of the key. A
// missing bucket is created. Pass BucketDoc.Seq of the newest bucket. If that bucket is
// full or closed, pass the next number. With BucketSpec.Period, each day or month has its
// own numbers.
//
// The write gives
//   - model.ErrFull if the bucket is full or closed
//   - model.ErrStale if another writer has just created the bucket: run the write again
//
// With BucketSpec.ElementKey, an element of this bucket isn't added again. Other buckets aren't
// searched.
//
// Cost: one command, one document, by _id.
func (b *Bucket[K, E]) AppendTo(key K, seq int64, element E) model.Write {
	return b.in.AppendTo(key, seq, element)
}

// Page returns the query of a key's bucket by its number seq, from 0. For a missing
// bucket, One returns model.ErrNotFound. With BucketSpec.Period, every Page gives a
// [*model.ValueError]: use [Bucket.Between].
//
// Cost: one command, one document by _id.
func (b *Bucket[K, E]) Page(key K, seq int64) *model.Find[BucketDoc[K, E]] {
	id, err := b.in.PageID(key, seq)
	return commands.Served(b.buckets.ByID(id), model.IDIndex, err)
}

// Oldest returns the query of a key's buckets, oldest first. Limit their number with
// [model.Find.Limited]. To continue, pass the last bucket's ID to [model.Find.After].
//
// Cost: one command, by _id; it reads one document for each bucket.
func (b *Bucket[K, E]) Oldest(key K) *model.Find[BucketDoc[K, E]] { return b.pages(key, 1) }

// Newest returns the query of a key's buckets, newest first. To limit and continue it,
// see [Bucket.Oldest]. The items of each bucket are still in the order of appending.
func (b *Bucket[K, E]) Newest(key K) *model.Find[BucketDoc[K, E]] { return b.pages(key, -1) }

func (b *Bucket[K, E]) pages(key K, direction int) *model.Find[BucketDoc[K, E]] {
	filter, err := b.in.OfKey(key)
	return b.find(filter, direction, err)
}

// find returns the query of a range of _id.
func (b *Bucket[K, E]) find(filter bson.D, direction int, err error) *model.Find[BucketDoc[K, E]] {
	f := b.buckets.Find(filter)
	f.Sort = bson.D{{Key: "_id", Value: direction}}
	return commands.Served(f, model.IDIndex, err)
}

// Between returns the query of a key's buckets, oldest first. It finds buckets whose day
// or month overlaps the time from start to end, without end itself. The first and last
// buckets can contain elements of other times. Without BucketSpec.Period the query gives
// a [*model.ValueError].
//
// Cost: one command, by _id, which reads one document for each bucket.
func (b *Bucket[K, E]) Between(key K, start, end time.Time) *model.Find[BucketDoc[K, E]] {
	filter, err := b.in.Between(key, start, end)
	return b.find(filter, 1, err)
}

// Elements returns the pipeline that reads all elements of a key's sequence, in the order
// of the buckets.
//
// Cost: one command, by _id, and one for each further batch.
func (b *Bucket[K, E]) Elements(key K) *model.Aggregate[E] {
	pipeline, err := b.in.Elements(key)
	return commands.Indexed(model.AggregateAs[E](b.buckets, pipeline), model.IDIndex, err)
}

// Holding returns the query of the key's bucket that holds an element. Pass as
// element only the element's value at the path BucketSpec.ElementKey. Without
// BucketSpec.ElementKey the query gives a [*model.ValueError].
//
// Cost: one command, served by [Bucket.Indexes].
func (b *Bucket[K, E]) Holding(key K, element any) *model.Find[BucketDoc[K, E]] {
	filter, err := b.in.Holding(key, element)
	return commands.Served(b.buckets.Find(filter), b.in.KeyIndex().Name, err)
}

// Totals returns the pipeline that adds up the counts, bytes and totals stored in a key's
// buckets. For a key without buckets, One returns model.ErrNotFound.
//
// Cost: one command, by _id; it reads every bucket of the key.
func (b *Bucket[K, E]) Totals(key K) *model.Aggregate[BucketTotals] {
	pipeline, err := b.in.Total(key)
	return commands.Indexed(model.AggregateAs[BucketTotals](b.buckets, pipeline), model.IDIndex, err)
}

// Validation returns the validation by which the server refuses a bucket with more than
// Max elements, or without the fields that every [Bucket.Append] writes
// (https://www.mongodb.com/docs/manual/core/schema-validation/specify-json-schema/). Not
// every server enforces it.
func (b *Bucket[K, E]) Validation() model.Validation { return b.in.Validation() }
