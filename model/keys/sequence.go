package keys

import (
	"cmp"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/sequence"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// SequenceSpec contains the options of a [Sequence].
type SequenceSpec struct {
	// Digits is the number of digits in keys, with leading zeros, from 1 to 18; 0 means
	// 18. Don't change it later.
	Digits int

	// Days is the collection of day buckets, for [Sequence.Days].
	Days *model.Collection[DayBucket, string]

	// Location is the days' time zone; nil means UTC. Don't change it later.
	Location *time.Location
}

// A SequenceCounter is the stored counter of an owner.
type SequenceCounter[K any] struct {
	ID   K     `bson:"_id"`  // the owner
	Last int64 `bson:"last"` // the greatest number given out
}

// A SequenceGap is an owner with missing numbers: see [Sequence.Gaps].
type SequenceGap[K any] struct {
	Owner  K     `bson:"owner"`
	N      int64 `bson:"n"`      // count of documents
	Newest int64 `bson:"newest"` // greatest number of a document
}

// Sequence gives documents enumerable keys: the _id is the owner's id and a number from
// the owner's counter, alice_0…042. The collection must not have a collation.
//
// You can mix three ways to get numbers:
//
//   - [Sequence.Take], then [Sequence.Insert]: a crash can leave a gap. A reader can see
//     number 8 before 7.
//   - [Sequence.Allocator]: as Take, with one command for each block of numbers.
//   - [Sequence.Append]: a transaction, without gaps. A reader never sees 8 before 7. The
//     writers of one owner wait for each other.
//
// To retry safely, store a token (an id of the action) in the document, under a unique
// index. Look for the token before you take a number. If another technique inserts the
// document, give it the _id of [Sequence.Key].
//
// Source: "Enumerable Keys", "NoSQL Data Modeling Techniques", §5;
// https://www.mongodb.com/docs/manual/reference/operator/update/inc/.
//
// If SequenceSpec.Days is set, Indexes returns the index that finds a key's [DayBucket].
//
// Checks returns:
//
//   - for owners with documents: counters that are missing, damaged, or less than the
//     newest number. The repair raises the counter.
//   - damaged counters of all owners. No repair: for an owner without documents, use
//     [Sequence.Raise].
//   - _ids that aren't keys of the sequence. No repair.
//
// Cost: the checks read every counter and every key, but not the documents.
type Sequence[D, K any] struct {
	model.Parts

	docs     *model.Collection[D, string]
	counters *model.Collection[SequenceCounter[K], K]
	days     *model.Collection[DayBucket, string]
	in       *sequence.Sequence
}

// NewSequence declares that each _id in docs contains an owner's id and a number from the
// owner's counter. counters stores the counters. K is the type of owners' ids: a string,
// signed integer or bson.ObjectID. NewSequence panics with a [*model.DeclarationError] if
// K or spec is invalid. It also panics if two of docs, counters and SequenceSpec.Days
// have the same name.
func NewSequence[D, K any](
	docs *model.Collection[D, string], counters *model.Collection[SequenceCounter[K], K], spec SequenceSpec,
) *Sequence[D, K] {
	var owner K
	in := sequence.Spec{Digits: spec.Digits, Location: spec.Location}
	if spec.Days != nil {
		in.Days = spec.Days.Name()
	}
	s := &Sequence[D, K]{docs: docs, counters: counters, days: spec.Days, in: sequence.Declare(docs.Docs(), counters.Docs(), owner, in)}
	s.Parts = model.NewParts(s.in.Indexes, nil, func() []model.Check {
		return s.in.Checks(func(key string) (any, int64, error) { return s.Parse(key) })
	}, s.in.Footprints, model.Need{Feature: "transactions", Why: "Append to " + docs.Name()})
	return s
}

// Key returns the _id of an owner's document with the number n:
// "alice_000000000000000042". In the owner, "_" becomes %5F, and "%" becomes %25. It
// returns a [*model.ValueError] for an owner that is empty or isn't UTF-8, or a number
// that is negative or has too many digits. The first number from a counter is 1.
func (s *Sequence[D, K]) Key(owner K, n int64) (string, error) { return s.in.Key(owner, n) }

// Parse returns the owner and the number of a key, or a [*model.ValueError] if the string
// isn't a key of the sequence.
func (s *Sequence[D, K]) Parse(key string) (owner K, n int64, err error) {
	n, err = s.in.Parse(key, &owner)
	return owner, n, err
}

// Open returns the write that creates an owner's counter, unless it exists. Run it once
// before [Sequence.Take]. The write can be run again.
//
// Cost: one command, one document by _id for a new owner.
func (s *Sequence[D, K]) Open(owner K) model.Write { return s.in.Open(owner) }

// Take returns the command that takes the owner's next n numbers. Its Run returns the
// counter. The counter's Last is the last number taken. Run returns model.ErrNotFound if
//   - the owner has no counter: run [Sequence.Open]
//   - the counter is damaged
//   - fewer than n numbers are left
//
// Cost: one command, one document by _id.
func (s *Sequence[D, K]) Take(owner K, n int64) *model.Modify[SequenceCounter[K]] {
	filter, update, err := s.in.Take(owner, n)
	m := s.counters.Modify(filter, update)
	m.After, m.Index, m.Err = true, model.IDIndex, cmp.Or(err, m.Err)
	return m
}

// Insert returns the write that stores doc under the owner's number n. It ignores doc's
// own _id. A retry is safe. If another document has the number, the write gives
// [model.ErrTaken]. In a transaction of the caller, it gives the driver's error.
//
// Cost: one command, one document.
func (s *Sequence[D, K]) Insert(owner K, n int64, doc D) model.Write {
	return s.in.Insert(owner, n, doc)
}

// Append returns the change that stores a document under the owner's next number, without
// a gap, in one transaction. Its Run returns the number. If the commit's result is
// unknown, first look for the document: a retry can store the document twice.
//
// Cost: three commands (two since MongoDB 8.0), two documents, the commit, and the hello
// of [model.InTx].
func (s *Sequence[D, K]) Append(owner K, doc D) model.Change[int64] {
	return s.in.Append(owner, doc)
}

// At returns the query of an owner's document by its number.
//
// Cost: one command, one document by _id.
func (s *Sequence[D, K]) At(owner K, n int64) *model.Find[D] {
	key, err := s.in.Key(owner, n)
	return commands.Served(s.docs.ByID(key), model.IDIndex, err)
}

// Previous returns the query of an owner's documents before the number n, newest first.
// Find.One returns the previous document, Limited(10) the ten before.
//
// Cost: one command, and one for each further batch; served by _id.
func (s *Sequence[D, K]) Previous(owner K, n int64) *model.Find[D] {
	filter, err := s.in.Before(owner, n)
	return s.find(filter, -1, err)
}

// Following returns the query of an owner's documents after the number n, oldest first.
// Find.One returns the next document. Pass 0 to begin at number 1. Unless all writers use
// [Sequence.Append], a smaller number than the last one read can still appear.
//
// Cost: as [Sequence.Previous].
func (s *Sequence[D, K]) Following(owner K, n int64) *model.Find[D] {
	filter, err := s.in.After(owner, n)
	return s.find(filter, 1, err)
}

// Range returns the query of an owner's documents with numbers from first to last, both
// included, oldest first.
//
// Cost: as [Sequence.Previous].
func (s *Sequence[D, K]) Range(owner K, first, last int64) *model.Find[D] {
	filter, err := s.in.Between(owner, first, last)
	return s.find(filter, 1, err)
}

// Newest returns the query of all documents of an owner, newest first.
//
// Cost: as [Sequence.Previous].
func (s *Sequence[D, K]) Newest(owner K) *model.Find[D] {
	filter, err := s.in.Between(owner, 0, s.in.Max)
	return s.find(filter, -1, err)
}

// Raise returns the write that raises an owner's counter to number. A higher counter
// stays. The write creates a missing counter and sets a damaged counter. It is safe to
// retry, and to run while others take or insert numbers.
//
// Cost: one command, one document by _id.
func (s *Sequence[D, K]) Raise(owner K, number int64) model.Write { return s.in.Raise(owner, number) }

// Gaps returns the pipeline that finds owners with missing numbers: no document has the
// number, but a document has a greater number. A missing number was lost, is in flight,
// or belongs to a deleted document.
//
// Cost: one command that reads every key, not the documents.
func (s *Sequence[D, K]) Gaps() *model.Aggregate[SequenceGap[K]] {
	return model.AggregateAs[SequenceGap[K]](s.docs, s.in.Gaps())
}

// find returns a query in the order of _id.
func (s *Sequence[D, K]) find(filter bson.D, direction int, err error) *model.Find[D] {
	return inKeyOrder(s.docs.Find(filter), direction, err)
}
