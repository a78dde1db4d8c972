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

// A Period says whether the elements of different days or months are kept in different buckets, and how long the bins of a
// [Rollup] are.
type Period uint8

const (
	NoPeriod Period = iota // buckets are filled one after the other, whatever the elements' times
	Daily                  // each day has buckets of its own
	Monthly                // each month has buckets of its own
	Hourly                 // each hour has a bin of its own: for a [Rollup] alone
)

// BucketSpec says how elements are put into buckets. Max is required.
type BucketSpec struct {
	Max int // how many elements a bucket holds at most; at least 1

	// MaxBytes is how many bytes of elements a bucket holds at most, each counted as the BSON document that it is; array
	// overhead and the bucket's own fields come on top. From 1 to 15 MiB; 0 means no bound other than Max and MongoDB's 16 MiB.
	// A larger element is refused. A bucket that an element doesn't fit into is closed: smaller ones that come later
	// follow it into the next, so that the order holds.
	MaxBytes int64

	// Key is the path, within an element, of what identifies it. With it an append that is run again adds nothing, whichever
	// bucket of the key holds the element by then; there is an index on it ([Bucket.Indexes]). "" means none: then an append
	// whose answer was lost can't be told from one that never arrived.
	Key string

	// Totals are paths, within an element, of numbers whose sum, smallest and greatest are kept in each bucket, under the
	// path with "/" for each dot. An element without a value there doesn't count. By default none.
	Totals []string

	// Period, with At, keeps each day or month in buckets of its own. By default there is none. Elements may come late: each
	// goes to the buckets of its own period.
	Period   Period
	At       string         // the path, within an element, of its time; required with a Period
	Location *time.Location // where a day begins; nil means UTC
}

// BucketDoc is a bucket: some consecutive elements E of the sequence that belongs to a key K. K is a kind of string or
// integer, or a bson.ObjectID; E is stored as a document.
type BucketDoc[K, E any] struct {
	ID     string           `bson:"_id"`              // the key, the period and the number, in the order of pages
	Key    K                `bson:"key"`              // whose sequence it is
	Period string           `bson:"period,omitempty"` // "2014-03-28" or "2014-03"; "" without a Period
	Seq    int64            `bson:"seq"`              // its number in its key and period, from 0
	N      int              `bson:"n"`                // how many items
	Bytes  int64            `bson:"bytes"`            // the items' sizes in BSON, added up
	Closed bool             `bson:"closed,omitempty"` // takes no more, though N may be below Max
	Totals map[string]Total `bson:"totals,omitempty"` // by the paths of BucketSpec.Totals, with "/" for a dot
	Items  []E              `bson:"items,omitempty"`  // in the order of appending
}

// A Total is what is kept of one number of a bucket's elements. It is stored as exactly as the numbers are; beyond 2^53 the
// float64 here is near it.
type Total struct {
	Sum float64 `bson:"sum"`
	Min float64 `bson:"min"`
	Max float64 `bson:"max"`
}

// BucketTotals is what a key's buckets hold together.
type BucketTotals struct {
	Buckets int              `bson:"buckets"`
	N       int64            `bson:"n"`      // elements
	Bytes   int64            `bson:"bytes"`  // of elements, in BSON
	Totals  map[string]Total `bson:"totals"` // by the paths of BucketSpec.Totals, with "/" for a dot; 0 where no element has a value
}

// Bucket is a sequence of elements for each key, kept in documents of at most n elements each: the comments of a post by the
// hundred, the mail of a mailbox by day. A page is one document, and an append is one upsert, whoever else appends. Make it
// with [NewBucket].
//
// The number of a bucket is part of its _id, and that makes the append safe: of two writers who open the same bucket, one
// inserts it, the other meets a duplicate key and looks again. Once a bucket exists, those before it in its key and period
// take no element more; so the order of pages is the order of appending. Elements are not meant to be changed or removed; if
// other code did, [Bucket.Checks] finds what no longer adds up. Pages are ranges of _id, bytewise: the collection must not
// have a collation.
//
// Source: the comments of a post stored by the hundred (seed 000), a mailbox's messages by day (seed 002 §5);
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/group-data/bucket-pattern/.
//
// Indexes returns the index that finds an element by its key, if the spec has a Key; all else is served by _id.
//
// Checks returns two checks of all buckets.
//
// The first finds the buckets whose count, bytes or totals differ from their items: changed by other code, or stored before a
// total was declared. Mending counts them anew on the server, in one atomic update of each, so that an append comes whole
// before or after it. A bucket that was full by its count stays closed. Items are not touched.
//
// The second finds the buckets with more items than Max, or more bytes by their own count than MaxBytes: filled under another
// spec, or by other code. They are read like others, and take no more items. No write mends them.
//
// Cost: see [model.Check]; mending writes one document each, by _id.
type Bucket[K, E any] struct {
	model.Parts

	buckets *model.Collection[BucketDoc[K, E], string]
	in      *bucket.Buckets
}

// NewBucket declares that a collection holds buckets. It panics with a [*model.DeclarationError] when Max is below 1, MaxBytes
// is out of its range, K can't be written into an _id, E is not stored as a document, when Period, At and Location don't go
// together, or when Key, Totals or At name a field that the elements don't have, have several times, or have with a type
// that doesn't fit.
func NewBucket[K, E any](buckets *model.Collection[BucketDoc[K, E], string], spec BucketSpec) *Bucket[K, E] {
	out := &Bucket[K, E]{model.Parts{}, buckets, bucket.Declare(buckets.Docs(), reflect.TypeFor[K](), bucket.Spec{
		Max: spec.Max, MaxBytes: spec.MaxBytes, Key: spec.Key, Totals: spec.Totals,
		Period: keytext.Period(spec.Period), At: spec.At, Location: spec.Location,
	})}
	out.Parts = model.NewParts(out.in.Indexes, nil, out.in.Checks, out.in.Footprints)
	return out
}

// Append returns the change that adds an element at the end of the key's sequence: in the newest bucket, or in a new one
// when that is full. It reads, decides and writes, and again when another writer came first, up to 100 times; set Attempts for
// another bound. What its Read returns, only its Decide understands. With a Key, an element that is there already
// adds nothing: the result has no step, or one of status Already.
//
// Cost: two commands, the newest bucket's counts by _id and the upsert of one document; with a Key one more, that looks for the
// element by index. An element that is there is read twice, the second time safe from rollbacks. Where MaxBytes
// closes a bucket, one command and one document more. Each time that another writer was first, the same and up to three more.
//
// Consistency: the upsert is atomic. Closing a bucket and opening the next are two writes: between them the sequence is
// whole, and the next append opens the next bucket. Reads ask the primary. A cut is mended by running the same change
// again, with a Key; without one, look first whether the element is there. In a transaction, two that open the same bucket
// end in the server's error for one of them, and nothing is tried again: run that transaction anew.
func (b *Bucket[K, E]) Append(key K, element E) model.Change[any] {
	return b.in.Append(key, element)
}

// AppendTo returns the write that adds an element to the bucket of a number, for one who knows it: [Bucket.Append] decides
// from what it reads. The period is the element's. The bucket is created if there is none of that number: give that of
// the newest, or the next when that is full or closed. A higher number, or the next while there is room, breaks the order:
// other writers may still fill what comes before. Running it gives model.ErrFull when the bucket doesn't take the element,
// and model.ErrStale when another writer has just created it: run it again. With a Key, an element that the bucket holds is
// recognized, whether it is full or not; an element in another bucket is not.
//
// Cost: one command, one document, found by _id. When the bucket doesn't take the element, one to three more that ask why.
func (b *Bucket[K, E]) AppendTo(key K, seq int64, element E) model.Write {
	return b.in.AppendTo(key, seq, element)
}

// Page returns the query of one bucket of a key by its number, without a Period. With a Period it is refused: use
// [Bucket.Between].
//
// Cost: one command, one document by _id; none of that number is model.ErrNotFound.
func (b *Bucket[K, E]) Page(key K, seq int64) *model.Find[BucketDoc[K, E]] {
	id, err := b.in.PageID(key, seq)
	return commands.Served(b.buckets.ByID(id), model.IDIndex, err)
}

// Oldest returns the query of a key's buckets, the oldest first. Limit it with Limited, and go on after a page with
// After(page.ID).
//
// Cost: one command, served by _id; one document for each page.
func (b *Bucket[K, E]) Oldest(key K) *model.Find[BucketDoc[K, E]] { return b.pages(key, 1) }

// Newest returns the query of a key's buckets, the newest first; the items of each are in the order of appending all
// the same. It is limited and paged as [Bucket.Oldest] is, at the same cost.
func (b *Bucket[K, E]) Newest(key K) *model.Find[BucketDoc[K, E]] { return b.pages(key, -1) }

func (b *Bucket[K, E]) pages(key K, direction int) *model.Find[BucketDoc[K, E]] {
	filter, err := b.in.OfKey(key)
	return b.find(filter, direction, err)
}

// find is a query by a range of _id.
func (b *Bucket[K, E]) find(filter bson.D, direction int, err error) *model.Find[BucketDoc[K, E]] {
	f := b.buckets.Find(filter)
	f.Sort = bson.D{{Key: "_id", Value: direction}}
	return commands.Served(f, model.IDIndex, err)
}

// Between returns the query of a key's buckets of the periods that the times from ≤ t < to fall into, the oldest first. Periods
// come whole: the first and the last page may hold elements outside the times. It needs a Period.
//
// Cost: one command, served by _id; one document for each page.
func (b *Bucket[K, E]) Between(key K, from, to time.Time) *model.Find[BucketDoc[K, E]] {
	filter, err := b.in.Between(key, from, to)
	return b.find(filter, 1, err)
}

// Elements returns the pipeline of all elements of a key in the order of pages, each by itself.
//
// Cost: one command, served by _id, and one more for each further batch of elements.
func (b *Bucket[K, E]) Elements(key K) *model.Aggregate[E] {
	pipeline, err := b.in.Elements(key)
	return commands.Indexed(model.AggregateAs[E](b.buckets, pipeline), model.IDIndex, err)
}

// Holding returns the query of the buckets of a key that hold an element by its own key: none or one, unless an
// element was appended twice by other means. It needs a spec with a Key.
//
// Cost: one command, served by the index of [Bucket.Indexes].
func (b *Bucket[K, E]) Holding(key K, element any) *model.Find[BucketDoc[K, E]] {
	filter, err := b.in.Holding(key, element)
	return commands.Served(b.buckets.Find(filter), b.in.KeyIndex().Name, err)
}

// Totals returns the pipeline that adds up a key's buckets: how many there are, elements, bytes, and each of the spec's
// totals. It reads what is kept in each bucket, not the elements; so it is as true as [Bucket.Checks] says. A key without
// buckets gives no result, so that One returns model.ErrNotFound.
//
// Cost: one command, served by _id; it reads every bucket of the key.
func (b *Bucket[K, E]) Totals(key K) *model.Aggregate[BucketTotals] {
	pipeline, err := b.in.Total(key)
	return commands.Indexed(model.AggregateAs[BucketTotals](b.buckets, pipeline), model.IDIndex, err)
}

// Validation returns the validation by which the server refuses a bucket with more than Max items, or without the fields that every
// append writes (https://www.mongodb.com/docs/manual/core/schema-validation/specify-json-schema/). Not every server enforces it.
func (b *Bucket[K, E]) Validation() model.Validation { return b.in.Validation() }
