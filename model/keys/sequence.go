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
	// 18. It can't be increased later.
	Digits int

	// Days is the collection of day buckets, for [Sequence.Days].
	Days *model.Collection[DayBucket, string]

	// Location decides where a day begins; nil means UTC. Don't change it later.
	Location *time.Location
}

// A SequenceCounter is the stored counter of an owner.
type SequenceCounter[K any] struct {
	ID   K     `bson:"_id"`  // the owner
	Last int64 `bson:"last"` // the greatest number given out
}

// A SequenceGap is an owner with fewer documents than numbers.
type SequenceGap[K any] struct {
	Owner  K     `bson:"owner"`
	N      int64 `bson:"n"`      // number of documents
	Newest int64 `bson:"newest"` // greatest number of a document
}

// Sequence gives documents enumerable keys: the _id is the owner's id and a number from
// the owner's counter, alice_0…042. The index on _id pages an owner's documents in both
// directions, with [model.Find]'s Limited and After(doc.ID).
//
// "_" and "%" in the owner are written %5F and %25. The collection must not have a
// collation.
//
// Three ways to get numbers can be mixed:
//
//   - [Sequence.Take], then [Sequence.Insert]: two commands. A crash in between leaves a
//     gap. A later number can be stored first, so a reader can see 8 before 7.
//   - [Sequence.Allocator]: Take in blocks, one command for each block. The numbers of
//     several processes don't show the order in time.
//   - [Sequence.Append]: counter and document in one transaction, without gaps, and a
//     reader never sees 8 before 7. The writers of one owner wait for each other.
//
// To retry an action that takes a number, give the action a token (an id), and store the
// token in the document, under a unique index. Before Take, look for the token.
//
// Source: "Enumerable Keys", "NoSQL Data Modeling Techniques", §5;
// https://www.mongodb.com/docs/manual/reference/operator/update/inc/.
//
// Indexes returns the index that finds a key's day bucket, if SequenceSpec.Days is set.
//
// Checks returns:
//
//   - counters behind: an owner's counter is missing, damaged, or less than the owner's
//     newest number. The repair raises the counter, and is safe beside writers.
//   - damaged counters: a counter isn't a whole number, is negative, or has too many
//     digits. For an owner without documents, repair it by [Sequence.Raise].
//   - foreign keys: the _id of a document isn't a key of the sequence. This check has no
//     repair.
//
// Cost: the first check reads every key, not the documents, and each owner's counter by
// _id; the second every counter; the third every key. Repairs write one counter for each
// owner.
type Sequence[D, K any] struct {
	model.Parts

	docs     *model.Collection[D, string]
	counters *model.Collection[SequenceCounter[K], K]
	days     *model.Collection[DayBucket, string]
	in       *sequence.Sequence
}

// NewSequence declares that the documents of docs have enumerable keys with numbers from
// counters. K is the owner's id: a string or integer type, or bson.ObjectID. It panics
// with a [*model.DeclarationError] for another K or an invalid spec, and if two of the
// collections have the same name.
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
// "alice_000000000000000042". It returns a [*model.ValueError] if the owner is empty or
// isn't UTF-8, and if the number is negative or has too many digits. Counters begin at 1.
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
// counter, whose Last is the last number taken. Run returns model.ErrNotFound if the
// owner has no counter (run [Sequence.Open]), if the counter is damaged, or if fewer than
// n numbers are left.
//
// Cost: one command, one document by _id.
func (s *Sequence[D, K]) Take(owner K, n int64) *model.Modify[SequenceCounter[K]] {
	filter, update, err := s.in.Take(owner, n)
	m := s.counters.Modify(filter, update)
	m.After, m.Index, m.Err = true, model.IDIndex, cmp.Or(err, m.Err)
	return m
}

// Insert returns the write that stores a document under an owner's number, and ignores
// the document's own _id. The write can be run again. Running it returns [model.ErrTaken]
// if another document has the number. In a transaction of the caller, it returns the
// server's duplicate key error instead.
//
// Cost: one command, one document. If the number is taken, one or two more commands.
func (s *Sequence[D, K]) Insert(owner K, n int64, doc D) model.Write {
	return s.in.Insert(owner, n, doc)
}

// Append returns the change that stores a document under the owner's next number, without
// a gap, in one transaction. Its Run returns the number. If another writer was first, Run
// tries again, up to 100 times. Inside a transaction of the caller, it tries once. After
// an unknown commit result, look for the document before another Run, which would store
// it again.
//
// If you know the next number, you can pass it to the change's Decide, and run the
// returned plan by RunTx. RunTx returns [model.ErrStale] if the counter isn't one below
// that number. This also happens if the plan was committed and only the answer was lost:
// look for the document by [Sequence.At]. If two plans create the counter, one gets the
// server's error.
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
// Find.One returns the next document. Pass 0 to get all documents. Unless all writers use
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

// Raise returns the write that raises an owner's counter to number, unless the
// counter is at least that number. It creates a missing counter and sets a damaged one.
// The write can be run again, and beside writers.
//
// Cost: one command, one document by _id.
func (s *Sequence[D, K]) Raise(owner K, number int64) model.Write { return s.in.Raise(owner, number) }

// Gaps returns the owners whose newest number is greater than the count of their
// documents from number 1 on. The missing numbers were lost, are in flight, or belong to
// deleted documents.
//
// Cost: one command that reads every key, not the documents.
func (s *Sequence[D, K]) Gaps() *model.Aggregate[SequenceGap[K]] {
	return model.AggregateAs[SequenceGap[K]](s.docs, s.in.Gaps())
}

// find returns a query in the order of _id.
func (s *Sequence[D, K]) find(filter bson.D, direction int, err error) *model.Find[D] {
	return inKeyOrder(s.docs.Find(filter), direction, err)
}
